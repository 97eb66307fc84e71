"""An original and a release, as what metrics and attacks read: of one kind, and of each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import PeopleAsItems
from graphveil.data import Data, Network
from graphveil.data.kinds import CONTAINERS, beside, kind_of
from graphveil.data.objects import as_original
from graphveil.errors import UsageError
from graphveil.evaluate.comparison import Comparison, NetworkComparison
from graphveil.lazy import resolve
from graphveil.randomness import Randomness
from graphveil.records.digest import is_digest_of
from graphveil.release import Release


def comparison_of(
    release: Release[Any], original: Any, randomness: Randomness, *, wanted_by: str
) -> Comparison[Any]:
    """Return an original beside its release, linked where the linkage is there.

    Parameters
    ----------
    release
        The release.
    original
        The data that it was made from, also as an object of another library.
    randomness
        For what is sampled.
    wanted_by
        Who compares, for messages.

    Raises
    ------
    UsageError
        Where they are of different kinds or sizes, or the owner's record is of another original.
    """
    released = release.data
    people = PeopleAsItems() in release.conditions
    original = as_original(original, type(released), wanted_by=wanted_by)
    original = beside(original, type(released), people=people)
    if type(original) is not type(released):
        raise UsageError(
            f"the release is a {type(released).__name__}, the original a "
            f"{type(original).__name__}. {wanted_by} reads two of one kind: "
            f"{', '.join(kind.__name__ for kind in CONTAINERS)}."
        )
    if original.size != released.size:
        what = kind_of(released).people
        raise UsageError(
            f"the original has {original.size} {what}, the release {released.size}. "
            "Give the file that the release was made from."
        )
    if release.private is not None and not is_digest_of(release.private.input_sha256, original):
        raise UsageError(
            "this is not the original: it has another digest than the owner's record beside the "
            "release. Give the file that the release was made from, and read it in the same way."
        )
    position = _positions(release, original)
    if isinstance(original, Network) and isinstance(released, Network):
        return NetworkComparison.of(original, released, position, randomness)
    comparison: type[Comparison[Any]] = resolve(kind_of(released).comparison)
    return comparison(
        original=original,
        released=released,
        position=position,
        randomness=randomness,
    )


def ties_of(data: Data) -> Data:
    """Return what metrics of graphs read: of a network its ties, in whatever direction.

    Raises
    ------
    DataError
        Where ties are of several kinds.
    """
    return data.undirected() if isinstance(data, Network) else data


def _positions(release: Release[Any], original: Data) -> NDArray[np.int64] | None:
    """Return the released position of every original one, or None without the linkage."""
    linkage = release.private.linkage if release.private else None
    if linkage is None:
        return None
    return linkage.positions_of(original.labels(), release.data.labels())
