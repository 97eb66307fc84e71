"""What advice is made of: the risk of the data as it stands, and trials of each method."""

from graphveil.verbs.advise.trials import Advice, Choice, Risk, Trial
from graphveil.verbs.advise.until import AdviceUntil, Reached

__all__ = ["Advice", "AdviceUntil", "Choice", "Reached", "Risk", "Trial"]
