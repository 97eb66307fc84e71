"""The one way to a release: check the target, warn, read, check, draw, record, publish.

Data in memory, rows on the disk or on a cluster and edges on the disk are three sources of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from graphveil.claims.ledger import Ledger, LedgerReceipt
from graphveil.core.errors import UsageError
from graphveil.core.randomness import Randomness
from graphveil.core.storage import Place
from graphveil.core.warning_channel import each_once
from graphveil.release.claiming import Method
from graphveil.release.publishing import (
    Output,
    Publication,
    check_place,
    publish,
    warn_of_leftovers,
    warn_of_others,
)


class Run(NamedTuple):
    """What is asked for, of whatever source."""

    method: Method
    output: Output
    seed: int | None = None
    nested_in: Path | None = None
    ledger: Ledger | None = None


class Made(NamedTuple):
    """What a method made of data that was read."""

    write: Callable[[Any], Publication]
    spent: LedgerReceipt | None = None


class Read(NamedTuple):
    """Data that was read and that the method takes."""

    known_by: frozenset[str]
    draw: Callable[[], Made]
    reading: Mapping[str, Any]
    nested_in: tuple[str, ...] = ()


class Source(Protocol):
    """Where data lies: what cannot be had of it there, and how it is read, drawn and written."""

    keeps: ClassVar[bool]
    """Whether what an interrupted run left next to its release is taken up by the next one."""

    def refusals(self, run: Run) -> Iterator[str]:
        """Yield what cannot be had of this source, or raise it; from the options alone."""

    def read(self, run: Run) -> AbstractContextManager[Read]:
        """Give the data; when the block is left, what the run kept meanwhile is gone."""


def released(source: Source, run: Run) -> Place:
    """Write the release of a source, and return its folder or address; or write nothing."""
    out, private = run.output.folder, run.output.private
    with each_once():
        for text in source.refusals(run):
            raise UsageError(text)
        check_place(out, force=run.output.force, private=private)
        Randomness(seed=run.seed)  # refuses what is no seed before anything is read
        warn_of_leftovers(out, on_disk=source.keeps, private=private)
        with source.read(run) as read:
            known = frozenset[str]() if run.ledger is None else run.ledger.known()
            warn_of_others(
                out, read.known_by, nested_in=read.nested_in, known=known, private=private
            )
            made = read.draw()
            publish(
                run.output._replace(reading=read.reading),
                made.write,
                input_digests=read.known_by,
                nested_in=read.nested_in,
                spent=made.spent,
            )
    return out
