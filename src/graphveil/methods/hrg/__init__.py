"""A hierarchical random graph drawn by a Markov chain: for comparison, and without a claim."""

from graphveil.methods.hrg.method import HrgMcmc

__all__ = ["HrgMcmc"]
