"""The method `degree-prior-response`: chances of edges follow from noisy degrees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from graphveil.methods.priors.response import PriorResponse


@dataclass(frozen=True, kw_only=True)
class DegreePriorResponse(PriorResponse):
    """No edge changes the probability of any release by a factor above e^epsilon.

    A part of epsilon buys a noisy degree of every node. From these, and from nothing else, follows
    how likely each pair of nodes is an edge, and from that, with which of two probabilities the
    pair is published. So what is false falls where edges are: degrees, hubs and what hangs on them
    are kept at epsilons at which hardly any single edge is.

    Parameters
    ----------
    epsilon
        From 0.0001 to 40: the whole of it.
    epsilon_count
        The part for the noisy number of edges; None stands for a fiftieth, at most 0.1.
    epsilon_degrees
        The part for the noisy degrees; None stands for 0.35 of it, at most 0.7.

    Raises
    ------
    ParameterError
        Where a parameter is out of range, or counts leave nothing for the cells.

    Notes
    -----
    An edge changes two degrees by one each: the noise of a degree has half of their part. Degrees
    are estimated from the noisy ones, nodes are put in at most 200 classes of like degree, and a
    soft configuration model gives the prior of every pair of classes. Each pair of nodes goes
    through the channel of its prior, as in `AsymmetricResponse`. All probabilities are whole
    numbers over 2^64, and all randomness is the operating system's. With a seed nothing is
    claimed. The number of nodes counts as public.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = DegreePriorResponse(epsilon=2.0).anonymize(path)
    >>> release.guarantee.check_word, release.data.n_nodes
    ('by construction', 4)
    """

    name: ClassVar[str] = "degree-prior-response"
    promise: ClassVar[str] = (
        "No edge changes the probability of any release by a factor above e^epsilon."
    )
    source: ClassVar[str] = (
        "asymmetric response under a soft configuration model of noisy degrees; after the Top-m "
        "Filter of Nguyen, Imine & Rusinowitch"
    )
    limits: ClassVar[str] = (
        "It hides one tie, not all of a person's: at epsilon 2, someone who has a copy of the "
        "network re-identified 94 % of the people on a dense network of 242 people. At epsilon "
        "7.11 it was 90 % on a network of 1,224 people (measured by us)."
    )
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 2.0}
