"""What a claim is checked with, and what becomes of a check that lacks some of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from graphveil.claims.conditions import KeyedIds
from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.records.manifest import DataFile, Manifest
from graphveil.records.record import Record
from graphveil.verify.database import Database
from graphveil.verify.verdict import LINKAGE, ORIGINAL, RECORD, Check, fails, not_checked

Need = Literal["data", "record", "original", "linkage"]

BESIDE: tuple[Need, ...] = ("data", "original")
LINKED: tuple[Need, ...] = ("data", "linkage")

UNREADABLE = "the released data cannot be read"


class Evidence(NamedTuple):
    """All that there is of a release.

    Parameters
    ----------
    manifest
        What is claimed.
    db
        The released data as tables; None where it could not be read.
    record
        The owner's record; None where it is not there.
    original
        The original, once it is of the right kind; None where none was given.
    linked
        Whether tables hold the original under the published ids. Of a graph these are
        `placed(u, v)`, its edges, and `missing(source, target)`, those of them that the release
        has not, the smaller end first; of users by items `had(person, feature)`, its entries in
        the numbers of `features(feature, item)`. Of a table `linkage` says whose row is whose.
    why_not
        Why there is no original to compare with, where one was given.
    key
        The key that ids are said to come from, where it was given.
    levels, witness
        The owner's files of levels and of chosen pairs; None where they are not there.
    """

    manifest: Manifest
    db: Database | None
    record: Record | None = None
    original: Data | None = None
    linked: bool = False
    why_not: str | None = None
    key: bytes | None = None
    levels: Path | None = None
    witness: Path | None = None

    @property
    def keyed(self) -> bool:
        """Whether the manifest says that ids come from a key."""
        return KeyedIds() in self.manifest.claim.conditions

    @property
    def data_file(self) -> DataFile:
        """The file of the released data, as the manifest describes it."""
        return next(file for file in self.manifest.data.files if file.role == "data")

    @property
    def tables(self) -> Database:
        """The released data, which a check with the need `data` has."""
        if self.db is None:
            raise TypeError("this check did not say that it needs the data")
        return self.db

    @property
    def graph(self) -> Graph:
        """The original, of a check of graphs with the need `original`."""
        if not isinstance(self.original, Graph):
            raise TypeError("this check did not say that it needs the original graph")
        return self.original

    @property
    def features(self) -> Bipartite:
        """The original, of a check of users by features with the need `original`."""
        if not isinstance(self.original, Bipartite):
            raise TypeError("this check did not say that it needs the original users by features")
        return self.original

    @property
    def table(self) -> Table:
        """The original, of a check of tables with the need `original`."""
        if not isinstance(self.original, Table):
            raise TypeError("this check did not say that it needs the original table")
        return self.original

    @property
    def columns(self) -> list[str]:
        """The names of the released columns, but for that of ids from a key."""
        columns = self.data_file.columns
        return columns[1:] if self.keyed else columns


class Part(NamedTuple):
    """One check of a claim.

    Parameters
    ----------
    name
        What is checked.
    needs
        What it cannot do without.
    question
        What stays open where it is not checked.
    recheck
        The check itself, from all that there is and the value of the claim.
    any_ids
        Whether it can be checked where ids come from a key, and not of ids 0, 1, 2 alone.
    """

    name: str
    needs: tuple[Need, ...]
    question: str
    recheck: Callable[[Evidence, Any], Check]
    any_ids: bool = False

    def run(self, evidence: Evidence, claim: object) -> Check:
        """Return the check's outcome; *not checked* where something is missing."""
        lacking = self._lacking(evidence)
        return lacking if lacking is not None else self.recheck(evidence, claim)

    def _lacking(self, evidence: Evidence) -> Check | None:
        if "record" in self.needs and evidence.record is None:
            return not_checked(self.name, self.question, needs=RECORD)
        if evidence.original is None and {"original", "linkage"} & set(self.needs):
            why = evidence.why_not or "no original was given"
            return not_checked(self.name, why, needs=None if evidence.why_not else ORIGINAL)
        if "data" in self.needs and evidence.db is None:
            return not_checked(self.name, UNREADABLE)
        if "data" in self.needs and evidence.keyed and not self.any_ids:
            return not_checked(self.name, "ids come from a key, and this needs ids 0, 1, 2")
        if "linkage" in self.needs and not evidence.linked:
            return not_checked(self.name, self.question, needs=LINKAGE)
        return None


class Recheck(NamedTuple):
    """How one type of claim is checked again.

    Parameters
    ----------
    kinds
        The kinds of data that it can be claimed of.
    parts
        Its checks.
    """

    kinds: tuple[str, ...]
    parts: tuple[Part, ...] = ()

    def run(self, evidence: Evidence, claim: object, parts: Sequence[Part]) -> list[Check]:
        """Return the outcome of some of the parts; all fail where the data is of another kind."""
        kind = evidence.manifest.data.kind
        if kind in self.kinds:
            return [part.run(evidence, claim) for part in parts]
        kinds = " or a ".join(self.kinds)
        why = f"{type(claim).__name__} can be claimed of a {kinds}, not of a {kind}"
        return [fails(part.name, why) for part in parts]
