"""Where a release comes from: what the public may know, and what its owner alone may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphveil._version import __version__
from graphveil.records.ledger import Spent
from graphveil.release.linkage import Linkage
from graphveil.release.matched_pairs import OwnersLevels, Witness

TOOL = "graphveil"


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a release comes from, as far as the public may know.

    Parameters
    ----------
    method, source, limits
        The method's name, where it was published, and what it does not protect against.
    parameters
        Those that may be public.
    """

    method: str
    source: str
    limits: str
    parameters: Mapping[str, Any]
    tool: str = TOOL
    version: str = __version__


@dataclass(frozen=True, kw_only=True)
class Private:
    """What only the owner may see: it goes into the private record.

    Its repr shows figures alone: no seed, no id, no digest.

    Parameters
    ----------
    input_sha256, seed, cost, warnings, seconds, unprotected, withheld, unrecorded, origins_sha256
        As in `graphveil.records.record.Record`.
    linkage
        Which released id stands for which original one, where it was kept.
    nested_in
        The digests of the linkages of the releases that this one is nested in.
    spent
        What was entered in a ledger of epsilons; None without one.
    levels
        The level of everyone, where not all have the one that is promised.
    witness
        Which persons each record was chosen to fit, where it was kept.
    """

    input_sha256: str = field(repr=False)
    seed: int | None = field(default=None, repr=False)
    cost: Mapping[str, float | int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    linkage: Linkage | None = field(default=None, repr=False)
    unprotected: tuple[int | str, ...] = field(default=(), repr=False)
    withheld: Mapping[str, Any] = field(default_factory=dict, repr=False)
    unrecorded: tuple[str, ...] = ()
    nested_in: tuple[str, ...] = ()
    spent: Spent | None = None
    levels: OwnersLevels | None = field(default=None, repr=False)
    witness: Witness | None = field(default=None, repr=False)
    origins_sha256: tuple[str, ...] = field(default=(), repr=False)

    @property
    def input_digests(self) -> frozenset[str]:
        """The digests by which another release of the input is recognized."""
        return frozenset((self.input_sha256, *self.origins_sha256))
