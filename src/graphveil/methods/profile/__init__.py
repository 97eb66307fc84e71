"""Profile anonymity: numbers of edges out and in that at least k people share."""

from graphveil.methods.profile.profile import Profile

__all__ = ["Profile"]
