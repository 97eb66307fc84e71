"""What advice is made of: the risk of the data as it stands, and trials of each method."""

from graphveil.advising.answers import Advice, Choice, Risk, Trial

__all__ = ["Advice", "Choice", "Risk", "Trial"]
