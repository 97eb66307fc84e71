"""Structural k-anonymity of networks (de Jong, van der Loo & Takes)."""

from graphveil.methods.goals import Budget, Full, Goal, Partial
from graphveil.methods.structural.structural import StructuralAnonymity

__all__ = ["Budget", "Full", "Goal", "Partial", "StructuralAnonymity"]
