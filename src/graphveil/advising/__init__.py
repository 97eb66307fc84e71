"""What advice is made of: the risk of the data as it stands, and trials of each method."""

from graphveil.advising.answers import Advice, Choice, Risk, Trial
from graphveil.advising.until import AdviceUntil, Reached

__all__ = ["Advice", "AdviceUntil", "Choice", "Reached", "Risk", "Trial"]
