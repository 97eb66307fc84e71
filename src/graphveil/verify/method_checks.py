"""What the conditions of every method are made of."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, NamedTuple

from graphveil.claims.guarantees import Guarantee
from graphveil.records.manifest import Manifest
from graphveil.records.record import Record
from graphveil.verify.database import Database
from graphveil.verify.parameters import Known
from graphveil.verify.verdict import Condition


class Compared(NamedTuple):
    """A release beside its original.

    `linked` says that tables hold the original under the published ids. Of a graph these are
    `placed(u, v)`, its edges, and `missing(source, target)`, those of them that the release has
    not, the smaller end first; of users by items `had(person, feature)`, its entries in the
    numbers of `features(feature, item)`.
    """

    db: Database
    manifest: Manifest
    original: Any
    record: Record | None
    linked: bool


class MethodCheck(NamedTuple):
    """The conditions of one method.

    Parameters
    ----------
    kinds
        The data that it makes.
    parameters
        What each of its parameters may be.
    words
        What stands in the manifest's `method` whatever the data: names, choices, the source.
    claim
        The problems of a guarantee that these parameters do not lead to; they are all in range.
    names
        The conditions of `against` for these parameters, for when they cannot be checked.
    against
        The conditions that need the original.
    """

    kinds: tuple[str, ...]
    parameters: Known
    words: Container[str]
    claim: Callable[[Guarantee, Mapping[str, Any]], list[str]]
    names: Callable[[Mapping[str, Any]], tuple[str, ...]]
    against: Callable[[Compared], list[Condition]]


class Words(Container[str]):
    """Fixed texts, and every text of one form."""

    def __init__(self, is_formed: Callable[[object], bool], *fixed: str) -> None:
        self._is_formed = is_formed
        self._fixed = frozenset(fixed)

    def __contains__(self, text: object) -> bool:
        """Whether a text is one of them."""
        return text in self._fixed or self._is_formed(text)
