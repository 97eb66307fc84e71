"""Help to choose: how identifiable people are, and what a release with each method would be."""

from graphveil.advising.advising import advise
from graphveil.advising.answers import Advice, Choice, Risk, Trial

__all__ = ["Advice", "Choice", "Risk", "Trial", "advise"]
