"""The one way to a release: check the target, warn, read, check, draw, record, publish.

Data in memory, rows on the disk or on a cluster and ties on the disk are three sources of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from graphveil.claims.ledger import Ledger, Spent
from graphveil.core.errors import UsageError, each_once
from graphveil.core.randomness import Randomness
from graphveil.core.storage import Place
from graphveil.release.publishing import (
    Output,
    Publication,
    publish,
    warn_of_leftovers,
    warn_of_others,
)
from graphveil.release.staging import check_place


class Run(NamedTuple):
    """What is asked for, of whatever source.

    Parameters
    ----------
    method
        A method with its parameters: `graphveil.methods.base.Anonymizer`.
    output
        Where the release is written, and how.
    seed
        None draws from the operating system's entropy.
    nested_in
        The folder of an earlier release of the same people.
    ledger
        Where epsilon is entered before anything is drawn.
    """

    method: Any
    output: Output
    seed: int | None = None
    nested_in: Path | None = None
    ledger: Ledger | None = None


class Drawn(NamedTuple):
    """What a method made of data that was read.

    Parameters
    ----------
    write
        Writes the data files into a folder or at an address, and returns what is said of them.
    spent
        What was entered in a ledger.
    """

    write: Callable[[Any], Publication]
    spent: Spent | None = None


class Read(NamedTuple):
    """Data that was read and that the method takes.

    Parameters
    ----------
    known_by
        The digests of it, and of what it was read from: other releases have them in their records.
    draw
        Enters what is claimed in the ledger, and draws.
    reading
        How the data was read, for the private record.
    nested_in
        What tells the releases that this one is nested in.
    """

    known_by: frozenset[str]
    draw: Callable[[], Drawn]
    reading: Mapping[str, Any]
    nested_in: tuple[str, ...] = ()


class Source(Protocol):
    """Where data lies: what cannot be had of it there, and how it is read, drawn and written."""

    keeps: ClassVar[bool]
    """Whether what an interrupted run left beside its release is taken up by the next one."""

    def refusals(self, run: Run) -> Iterator[str]:
        """Yield what cannot be had of this source, or raise it; from the options alone."""

    def read(self, run: Run) -> AbstractContextManager[Read]:
        """Give the data; when the block is left, what the run kept meanwhile is gone."""


def released(source: Source, run: Run) -> Place:
    """Write the release of a source, and return its folder or address; or write nothing.

    Parameters
    ----------
    source
        The data.
    run
        What is asked for.

    Raises
    ------
    UsageError
        Where options do not go together, or with this source.
    InputError, InfeasibleError
        Where the data cannot be read, or has too few rows.
    ReleaseError
        Where the folder exists and is not replaced.
    ResourceError
        Where memory, disk or processes fail.

    Warns
    -----
    GraphveilWarning
        What the owner should know before publishing, each once.
    """
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
