"""The one way to a release: check the target, warn, read, check, draw, record, publish.

Data in memory, rows on the disk or on a cluster and edges on the disk are three sources of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from graphveil.claims.guarantees import AnyGuarantee
from graphveil.claims.ledger import Ledger, LedgerReceipt
from graphveil.core.errors import UsageError, each_once
from graphveil.core.randomness import Randomness
from graphveil.core.storage import Place
from graphveil.data import Data, Graph
from graphveil.data.kinds import Container
from graphveil.release.publishing import (
    Output,
    Publication,
    check_place,
    publish,
    warn_of_leftovers,
    warn_of_others,
)

if TYPE_CHECKING:
    from graphveil.release.release import Release


class Method(Protocol):
    """A method with its parameters; `graphveil.methods.base.Anonymizer` says what members mean."""

    @property
    def name(self) -> str:
        """What the command line and manifests call it."""

    @property
    def accepts(self) -> tuple[Container, ...]:
        """Every kind of data that it takes."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Where its data may be."""

    def parameters(self) -> dict[str, Any]:
        """Return every parameter by name."""

    def check(self, data: Data) -> None:
        """Refuse data that it cannot anonymize."""

    def check_size(self, n: int, *, noun: str = "rows") -> None:
        """Refuse too few rows or nodes."""

    def anonymize(self, data: Any, *, seed: int | None = None) -> Release[Any]:
        """Return a release of data in memory."""

    def from_ties(self, graph: Graph, randomness: Randomness) -> Any:
        """Return what it makes of a graph on the disk."""

    def entered(self, data: Data, ledger: Ledger | None, seed: int | None) -> LedgerReceipt | None:
        """Enter what a run will claim in a ledger."""

    def promised(self, data: Data) -> AnyGuarantee:
        """Return what is guaranteed of this data."""

    def stated(self, randomness: Randomness, **said: Any) -> dict[str, Any]:
        """Return what a release and a publication both say, and warn the owner."""


class Run(NamedTuple):
    """What is asked for, of whatever source."""

    method: Method
    output: Output
    seed: int | None = None
    nested_in: Path | None = None
    ledger: Ledger | None = None


class Drawn(NamedTuple):
    """What a method made of data that was read."""

    write: Callable[[Any], Publication]
    spent: LedgerReceipt | None = None


class Read(NamedTuple):
    """Data that was read and that the method takes."""

    known_by: frozenset[str]
    draw: Callable[[], Drawn]
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
            drawn = read.draw()
            publish(
                run.output._replace(reading=read.reading),
                drawn.write,
                input_digests=read.known_by,
                nested_in=read.nested_in,
                spent=drawn.spent,
            )
    return out
