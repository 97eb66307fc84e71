"""What a job is asked to do, as the page sends it to the process and keeps it with the findings.

Each task is decoded and validated where it is read: by the process, and from the file in which the
findings of an earlier server are kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec


class Roles(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parameters of a method that come from the columns, under the names of the method.

    `levels`: how known columns become coarser, by name, with absolute paths of files; `dates`: the
    forms of their dates; `may_narrow`: the share of hidden cells that attached columns may show.
    """

    known: list[str] = []
    attach: list[str] = []
    label: list[str] = []
    levels: dict[str, str] = {}
    dates: dict[str, str] = {}
    may_narrow: float | None = None


class StudySettings(msgspec.Struct, frozen=True, kw_only=True):
    """The choices for a file as a job needs them, and which state of its files they are of.

    `options`: those of the reader, as JSON can hold them; `want`: the column in which people say
    how many must be equal; `states`: when each file was changed, and its size.
    """

    kind: Literal["table", "network", "graph", "bipartite"]
    options: dict[str, Any]
    want: str = ""
    roles: Roles = Roles()
    states: list[tuple[int, int]] = []

    def reading(self, *, exact: bool = False) -> Any:
        """Return how the file is read; numbers of a table exactly."""
        from graphveil.data.kinds import KINDS  # noqa: PLC0415  heavy, and the server needs it not
        from graphveil.io.formats import from_record, options_of  # noqa: PLC0415  as above

        asked = self.options | ({"exact": True} if exact else {})
        asked |= {"nodes": Path(asked["nodes"])} if asked.get("nodes") else {}
        return from_record(options_of(KINDS[self.kind])(), asked)


class _Task(msgspec.Struct, frozen=True, kw_only=True, tag=str.lower):
    @property
    def verb(self) -> str:
        """What it does: the name of a function of `graphveil.app.work`."""
        return type(self).__name__.lower()


class OfFile(_Task, frozen=True, kw_only=True):
    """A task about a data file; `path` is absolute, like all paths here."""

    path: str
    study: StudySettings


class Explore(OfFile, frozen=True, kw_only=True):
    """Measure the risk, and try a method at every strength."""

    method: str


class Bounds(OfFile, frozen=True, kw_only=True):
    """Find the strengths that keep bounds."""

    until: list[str]


class Release(OfFile, frozen=True, kw_only=True):
    """Make a release in the folder `out`, verify it and attack it."""

    method: str
    strength: int | float
    out: str


class Check(_Task, frozen=True, kw_only=True):
    """Verify the release in a folder, and write a report of it to `page`."""

    folder: str
    page: str


Task: TypeAlias = Explore | Bounds | Release | Check
