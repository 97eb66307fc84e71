"""The one way to a release: check the target, warn, read, check, draw, record, publish.

Data in memory, rows on the disk or on a cluster and edges on the disk are three sources of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar, NamedTuple, Protocol

from graphveil.claims.ledger import LedgerReceipt
from graphveil.core.errors import UsageError
from graphveil.core.randomness import Randomness
from graphveil.core.storage import Place
from graphveil.core.warning_channel import each_once
from graphveil.release.claiming import Method
from graphveil.release.options import RunOptions
from graphveil.release.publishing import (
    Publication,
    check_place,
    publish,
    warn_of_leftovers,
    warn_of_others,
)


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

    def refusals(self, method: Method, run: RunOptions, /) -> Iterator[str]:
        """Yield what cannot be had of this source, or raise it; from the options alone."""

    def read(self, method: Method, run: RunOptions, /) -> AbstractContextManager[Read]:
        """Give the data; when the block is left, what the run kept meanwhile is gone."""


def released(source: Source, method: Method, run: RunOptions) -> Place:
    """Write the release of a source, and return its folder or address; or write nothing."""
    out, private, ledger = run.out, run.private, run.privacy_ledger
    with each_once():
        for text in source.refusals(method, run):
            raise UsageError(text)
        check_place(out, force=run.force, private=private)
        Randomness(seed=run.seed)  # refuses what is no seed before anything is read
        warn_of_leftovers(out, on_disk=source.keeps, private=private)
        with source.read(method, run) as read:
            known = frozenset[str]() if ledger is None else ledger.known()
            warn_of_others(
                out, read.known_by, nested_in=read.nested_in, known=known, private=private
            )
            made = read.draw()
            publish(
                run,
                made.write,
                input_digests=read.known_by,
                nested_in=read.nested_in,
                spent=made.spent,
                reading=read.reading,
            )
    return out
