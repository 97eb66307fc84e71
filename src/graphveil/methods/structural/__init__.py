"""Structural k-anonymity of networks (de Jong, van der Loo & Takes)."""

from graphveil.methods.structural.structural import StructuralAnonymity
from graphveil.methods.structural.task import Budget, Full, Goal, Partial

__all__ = ["Budget", "Full", "Goal", "Partial", "StructuralAnonymity"]
