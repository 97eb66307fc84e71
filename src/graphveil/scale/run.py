"""Rows on the disk or on a cluster as sources of releases: chunks of a file or of a DataFrame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from graphveil.claims.digest import digests_of_files
from graphveil.claims.record import private_folder
from graphveil.core.errors import option
from graphveil.core.progress import stage
from graphveil.core.storage import Address, Place
from graphveil.io import BipartiteOptions, Format
from graphveil.io.options import recorded
from graphveil.methods.registry import methods_from
from graphveil.release.files import format_that_came_in, release_format
from graphveil.release.pipeline import Read, Run
from graphveil.release.publishing import Output
from graphveil.release.staging import check_apart
from graphveil.scale.engines.engine import Engine, Tables
from graphveil.scale.engines.spark import SparkEngine
from graphveil.scale.engines.spark_executors import check_executors, tell_of_spills
from graphveil.scale.frames import FrameSource
from graphveil.scale.intake import Facts, check_readable, intake
from graphveil.scale.parts import check_parts
from graphveil.scale.stages import Stages, in_chunks
from graphveil.scale.working import going_on, unfinished_beside


class _Given(NamedTuple):
    """Rows that can be read.

    Parameters
    ----------
    engine
        Where they lie and chunks run.
    form
        The format of the release.
    digest
        Of what they are.
    origins
        Digests of what they are read from.
    take
        Keeps them under the name `graphveil.scale.intake.ROWS` with the help of an empty folder,
        and returns what is known of them.
    """

    engine: Engine
    form: Format
    digest: str
    origins: tuple[str, ...]
    take: Callable[[Tables, Path], Facts]


@dataclass(frozen=True, kw_only=True)
class RowsOnDisk(ABC):
    """Rows that stay where they are: a `graphveil.release.pipeline.Source`.

    They are put into chunks of ``chunk_rows``, each clustered by itself, and published under new
    ids in a new order; then the classes are counted again in the published file.

    Parameters
    ----------
    options
        How the rows are read.
    """

    options: BipartiteOptions
    keeps: ClassVar[bool] = True

    @abstractmethod
    def given(self, output: Output) -> _Given:
        """Return the rows, once they are such that can be read."""

    def refusals(self, run: Run) -> Iterator[str]:
        """Yield what needs all rows in memory, and refuse places that lie in one another."""
        if run.nested_in is not None:
            yield f"--nested-in needs all data in memory. Remove {self.flag}."
        if run.ledger is not None:
            yield f"--ledger needs all data in memory. Remove {self.flag}."
        check_apart(self._places(run.output))
        yield from refused_methods(run.method)

    flag: ClassVar[str] = "--on-disk"
    """What asks for this source on the command line."""

    def _places(self, output: Output) -> dict[str, Place]:
        """Return all places that are written, by the options that name them."""
        target, private = output.folder, output.private
        places = {"out": target}
        if private is not None:
            places["private"] = private
        elif isinstance(target, Path):
            places["private"] = private_folder(target)
        if isinstance(private, Address):
            places["the unfinished run, in the current folder"] = unfinished_beside(private)
        return places

    @contextmanager
    def read(self, run: Run) -> Iterator[Read]:
        """Give the rows, kept by the engine, counted and digested."""
        output, reading = run.output, recorded(self.options)
        given = self.given(output)
        method = in_chunks(run.method)
        with (
            going_on(run._replace(method=method), given.digest, reading) as working,
            given.engine.at(working.folder, working.name) as tables,
        ):
            stages = Stages(
                method,
                output,
                given.form,
                given.origins,
                working,
                tables,
                given.engine.memory_mib,
            )
            facts = stages.facts(given.take)
            known_by = frozenset((facts.input_sha256, *given.origins))
            yield Read(known_by, lambda: stages.drawn(facts), reading)


def form_of(output: Output, came_in: str) -> Format:
    """Return the format of a release of rows: the one asked for, else the one that came in."""
    form = release_format(output.format or came_in, "bipartite")
    check_parts(output.parts, form, output.folder)
    return form


def refused_methods(method: Any) -> Iterator[str]:
    """Yield what a method, or its parameters, need all rows in memory for."""
    if "rows" not in method.sources:
        if "ties" in method.sources:
            yield f"{method.name} reads edges from disk, not rows. Use anonymize_ties."
        able = " or ".join(methods_from("rows"))
        yield f"{method.name} needs all data in memory. To run on disk, use {able}."
    elif method.chunks is not None:
        if method.chunks.order == "label-propagation":
            yield "order=label-propagation needs all data in memory. Use minhash."
        if method.chunks.rounds:
            yield f"rounds={method.chunks.rounds} needs all data in memory. Leave rounds at 0."


@dataclass(frozen=True, kw_only=True)
class RowsOfFile(RowsOnDisk):
    """The rows of a file on this machine.

    Parameters
    ----------
    path
        Two columns (csv, tsv, text, Parquet, Arrow), or Parquet or Arrow with a column of lists.
    engine
        Where rows lie and chunks run.
    """

    path: Path
    engine: Engine

    def given(self, output: Output) -> _Given:
        """Return the rows of the file."""
        source = check_readable(self.path, self.options)
        form = form_of(output, format_that_came_in(source.path, self.options.format))
        with stage(f"computing the digest of {source.name}"):
            digest, of_parts = digests_of_files(part.path for part in source.parts)

        def take(tables: Tables, folder: Path) -> Facts:
            return intake(source, self.options, folder, tables, self.engine.memory_mib)

        return _Given(self.engine, form, digest, of_parts, take)


@dataclass(frozen=True, kw_only=True)
class RowsOfFrame(RowsOnDisk):
    """Rows on a cluster; they come to this process some at a time, when the release is written.

    Parameters
    ----------
    rows
        A DataFrame, a file or folder of Parquet, or ``table:NAME`` of the session's catalog.
    place
        Where the engine keeps rows meanwhile.
    connect
        Returns the engine.
    """

    rows: Any
    place: Place
    connect: Callable[[], SparkEngine]
    flag: ClassVar[str] = "--engine"

    def refusals(self, run: Run) -> Iterator[str]:
        """Yield what needs all rows in memory, or one machine."""
        yield from super().refusals(run)
        yield from refused_items(self.options)

    def _places(self, output: Output) -> dict[str, Place]:
        return {**super()._places(output), "working": self.place}

    def given(self, output: Output) -> _Given:
        """Return the rows of the session."""
        form, engine = form_of(output, "parquet"), self.connect()
        source = FrameSource.of(self.rows, engine.spark)
        places = (output.folder, output.private)
        addresses = tuple(place for place in places if isinstance(place, Address))
        check_executors(engine.spark, engine.place, addresses)
        tell_of_spills(engine.spark)

        def take(tables: Tables, _: Path) -> Facts:
            return source.take(tables, self.options)

        return _Given(engine, form, source.digest, source.origins, take)


def refused_items(options: BipartiteOptions) -> Iterator[str]:
    """Yield what items a cluster does not take: people."""
    if options.items == "people":
        yield (
            "items that are people require a run on one machine, because every entry needs the "
            f"new id of its item. Use {option('engine', 'local')}."
        )
