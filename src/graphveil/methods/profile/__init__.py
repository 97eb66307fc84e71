"""Profile anonymity: out-degrees and in-degrees that at least k nodes share."""

from graphveil.methods.profile.profile import Profile

__all__ = ["Profile"]
