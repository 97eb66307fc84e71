"""What a release is that several others were tried beside: it may claim less than one alone."""

from __future__ import annotations

import dataclasses
from typing import Any

from graphveil.claims.guarantees import AnyGuarantee, unclaimed
from graphveil.release import Release

ONE_OF_SEVERAL = "it is one of several trials of a sweep: publish at most one of them"


def claimed_of_a_trial(guarantee: AnyGuarantee) -> AnyGuarantee:
    """Return what a trial claims: what files show again, and nothing else.

    That every row equals others can be counted in the release, however it was chosen. An epsilon
    is a statement on how a release was drawn, and covers no choice among several.

    Examples
    --------
    >>> from graphveil import EdgeDP, KAnonymity
    >>> claimed_of_a_trial(KAnonymity(k=5)).k, claimed_of_a_trial(EdgeDP(epsilon=1.0))
    (5, NotClaimed(reasons=('trial',)))
    """
    if guarantee.check_word == "recomputed":
        return guarantee
    return unclaimed(guarantee, "trial")


def as_trial(release: Release[Any]) -> Release[Any]:
    """Return a release as one of several: it claims what files show, and its record says so.

    Examples
    --------
    >>> import graphveil as gv
    >>> ring = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> as_trial(gv.RandomizedResponse(epsilon=2.0).anonymize(ring)).guarantee.reasons
    ('trial',)
    """
    private = release.for_owner()
    private = dataclasses.replace(private, warnings=(*private.warnings, ONE_OF_SEVERAL))
    claimed = claimed_of_a_trial(release.guarantee)
    return dataclasses.replace(release, guarantee=claimed, private=private)
