"""What attacks reached on releases of each method, as the documentation has it.

The ranges come from the raw rows of ``benchmarks/attacks``, and a test computes them again from
there. They say what to expect, and bound nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from graphveil.summaries.line import of_hundred


class Reached(NamedTuple):
    """What one attack reached on releases of one method.

    Parameters
    ----------
    low, high
        The smallest and the largest share of people who were re-identified.
    by
        The attack.
    at
        The strengths of the releases; empty where the method has none.
    """

    low: float
    high: float
    by: str
    at: str


SOMEONE = {
    "seeded-matching": (
        "someone who has a whole copy of the network, and knows at most 20 people",
        "networks of 242 to 1,226 people",
    ),
    "linkage": ("someone who knows 8 items of a person", "2,000 people"),
    "matching": ("someone who has the original and runs the method again", "187 people"),
}
"""What the adversary of each attack knows, and how many people the releases had."""

REACHED = {
    "asymmetric-response": (
        Reached(0.0, 1.0, "seeded-matching", "epsilon 2 to 7.11"),
        Reached(0.023, 0.963, "linkage", "epsilon 2 to 8"),
    ),
    "degree-prior-response": (Reached(0.337, 1.0, "seeded-matching", "epsilon 2 to 7.11"),),
    "degree-triangle-model": (Reached(0.0, 0.033, "seeded-matching", "epsilon 1 to 4"),),
    "density-explore-reconstruct": (Reached(0.0, 0.072, "seeded-matching", "epsilon 2 to 7.11"),),
    "dp-1k": (Reached(0.0, 0.033, "seeded-matching", "epsilon 2 to 7.11"),),
    "hrg-mcmc": (Reached(0.0, 0.025, "seeded-matching", "epsilon 2 to 7.11"),),
    "k-degree": (Reached(0.939, 1.0, "seeded-matching", "k=2 to 20"),),
    "mixing-prior-response": (Reached(0.29, 1.0, "seeded-matching", "epsilon 2 to 7.11"),),
    "randomized-response": (
        Reached(0.0, 1.0, "seeded-matching", "epsilon 2 to 7.11"),
        Reached(0.168, 0.977, "linkage", "epsilon 2 to 8"),
    ),
    "rename": (
        Reached(0.947, 1.0, "seeded-matching", ""),
        Reached(0.57, 0.977, "linkage", ""),
        Reached(0.914, 0.914, "matching", ""),
    ),
    "structural": (Reached(0.0, 1.0, "seeded-matching", "k=2 to 20"),),
    "top-m-filter": (Reached(0.013, 1.0, "seeded-matching", "epsilon 2 to 7.11"),),
    "mondrian": (Reached(0.007, 0.196, "linkage", "k=2 to 16"),),
    "smooth-k": (Reached(0.029, 0.498, "linkage", "k=2 to 16"),),
    "suppress-k": (Reached(0.024, 0.29, "linkage", "k=2 to 16"),),
    "adaptive": (Reached(0.447, 0.779, "matching", "levels 2 to 20"),),
    "cluster-k": (Reached(0.043, 0.472, "matching", "k=2 to 20"),),
}
"""What was reached, by the name of the method."""


def documented(method: str, attacks: set[str]) -> str:
    """Return what attacks of these reached on releases of a method; empty where nothing was run.

    Parameters
    ----------
    method
        Its name.
    attacks
        Those that read this kind of data.

    Examples
    --------
    >>> documented("k-degree", {"seeded-matching"})[:43]
    'Documented, of k-degree (k=2 to 20): someon'
    >>> documented("k-degree", {"linkage"})
    ''
    """
    fitting = [one for one in REACHED.get(method, ()) if one.by in attacks]
    if not fitting:
        return ""
    low, high, by, at = fitting[0]
    who, people = SOMEONE[by]
    ends = dict.fromkeys((of_hundred(low), of_hundred(high)))
    strength = f" ({at})" if at else ""
    share = " to ".join(ends)
    return f"Documented, of {method}{strength}: {who}, re-identified {share} of 100, on {people}."
