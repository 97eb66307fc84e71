"""Releases of rows on disk or on a cluster: their sources, and the stages of a run on any engine.

A run learns what is known of the rows, cuts chunks, gives ids, and writes files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import pyarrow as pa

from graphveil.claims.facts import EntryChanges, cost_of, digests_of_files
from graphveil.claims.record import private_folder
from graphveil.core.errors import ResourceError
from graphveil.core.hints import option
from graphveil.core.progress import stage, timed
from graphveil.core.randomness import Randomness
from graphveil.core.storage import Address, Place
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import PEOPLE_AS_ITEMS, DroppedWarning, ids_as_things
from graphveil.engines.processes import Engine, Rows, Tables
from graphveil.engines.spark import SparkEngine, check_executors, tell_of_spills
from graphveil.io import BipartiteOptions, Format
from graphveil.io.formats import recorded
from graphveil.methods.equivalence_classes.rule import EntryCounts, advice_on
from graphveil.methods.registry import methods_from
from graphveil.methods.smooth_k.options import Chunks
from graphveil.methods.smooth_k.row_orders import MinHash
from graphveil.methods.smooth_k.smooth_k import Clustered
from graphveil.release.claiming import Method, claim
from graphveil.release.files import DELIMITED, check_items, format_that_came_in, release_format
from graphveil.release.options import RunOptions
from graphveil.release.pipeline import Made, Read
from graphveil.release.publishing import Publication, check_apart
from graphveil.scale import columns
from graphveil.scale.chunks import ByNames, ByWords, InChunks, Released, RowKeys, Sampling, keyed
from graphveil.scale.frame_source import FrameSource
from graphveil.scale.intake import ROWS, Facts, check_readable, intake, items_of
from graphveil.scale.parts import Numbered, check_parts, comes_in_parts, n_buckets_of, packed
from graphveil.scale.working import WorkingFolder, going_on, unfinished_beside
from graphveil.scale.writing import DataFiles

CHUNK_ROWS = 20_000
"""The rows of a chunk if the method says nothing: larger chunks keep more entries and cost more
time and memory."""


def in_chunks(method: Any) -> Clustered:
    """Return a method that takes rows in chunks with those of a run on the disk: a fixed size."""
    chunks = method.chunks or Chunks(rows=max(CHUNK_ROWS, 2 * method.k))
    return cast("Clustered", replace(method, chunks=chunks))


def order_of_rows(
    method: Clustered,
    user_is_integer: bool,  # noqa: FBT001  a fact of the rows
    randomness: Randomness,
) -> RowKeys:
    """Return the order of rows that chunks are cut from."""
    if cast("Chunks", method.chunks).order != "none":
        return ByWords(MinHash.sampled(randomness.stream("order of rows")))
    return ByWords(None) if user_is_integer else ByNames()


class Tally(NamedTuple):
    """What clusters keep: published entries of the original, created ones, their number."""

    shared: int
    created: int
    clusters: int
    empty: int
    of_buckets: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Stages:
    """The stages of one run; none of them knows on which engine it runs."""

    method: Clustered
    run: RunOptions
    form: Format
    origins: tuple[str, ...]
    working: WorkingFolder
    tables: Tables
    memory_mib: int
    seconds: dict[str, float] = field(default_factory=dict)

    def facts(self, take: Callable[[Tables, Path], Facts]) -> Facts:
        """Return what is known of the rows, once they are kept, counted and digested."""
        facts = self.working.finished("facts", Facts)
        if facts is None:
            with self._timed("read"):
                facts = take(self.tables, self.working.stage("raw"))
            self.working.finish("facts", facts)
        if facts.said:
            warn("; ".join(facts.said), DroppedWarning)
        self.method.check_size(facts.n_rows)
        if self.form.name in DELIMITED and not (facts.people or facts.item_is_integer):
            check_items(items_of(self._rows(), self.tables), self.form)
        return facts

    def drawn(self, facts: Facts) -> Made:
        """Return what is made of the rows."""
        released = self.released(facts)
        tally = self.tally(released, facts)
        adds = self.method.rule.theta < 1
        advice = advice_on(self.counts(tally, released, facts), k=self.method.k, adds=adds)
        as_things = ids_as_things(facts.ids_as_items, facts.n_items)
        advice = (*advice, *((PEOPLE_AS_ITEMS,) if facts.people else as_things))
        numbered, in_values = self.numbered(released, facts, tally)
        target, private = self.run.out, self.run.private
        linked = private if self.run.linkage and isinstance(private, Address) else None
        files = DataFiles(
            numbered=numbered,
            packed=in_values,
            released=released,
            tables=self.tables,
            facts=facts,
            scratch=self.working.stage("publish"),
            memory_mib=self.memory_mib,
            form=self.form,
            parts=comes_in_parts(self.run.parts, self.form, facts.n_rows, target),
            linked=linked,
        )
        return Made(lambda public: self.publication(files, public, tally, advice))

    def _rows(self) -> Rows:
        return self.tables.kept_as(ROWS)

    def released(self, facts: Facts) -> Rows:
        """Return the released rows of every chunk, with what its clusters keep."""
        # Step 1: cut the order of rows into chunks of nearly equal size, from a sample.
        sampling = Sampling.of(facts.n_rows, cast("Chunks", self.method.chunks).rows, self.method.k)
        order, cuts = self._cuts(facts, sampling)
        types = facts.types
        # Step 2: what a worker does with a chunk, as a value without data.
        work = Released(
            method=self.method,
            order=order,
            n_buckets=n_buckets_of(facts.n_rows, facts.n_entries),
            by_columns=facts.values and self.method.columns_of(["column=value"]) is not None,
            randomness=self.working.randomness,
        )
        # Step 3: each row to its chunk, each chunk clustered, and the results kept.
        chunks = self.tables.map(self._rows(), InChunks(order, cuts), columns.in_chunks(*types))
        released = self.tables.grouped(
            chunks, "chunk", sampling.n_chunks, work, columns.released(*types)
        )
        with self._timed("cluster"):
            return self.tables.kept(released, "released", "clustering chunks")

    def _cuts(self, facts: Facts, sampling: Sampling) -> tuple[RowKeys, Any]:
        """Return the order that chunks are cut from, and the keys where they begin."""
        order = order_of_rows(self.method, facts.user_is_integer, self.working.randomness)
        with self._timed("sample"), stage("sampling rows"):
            # Sample more rows until every chunk is sure to have k of them.
            while True:
                rows = self._rows()
                if not sampling.is_enough:
                    rows = self.tables.select(columns.sampled(sampling.below), rows=rows)
                keys = self.tables.map(rows, partial(keyed, order), order.schema)
                sample = pa.Table.from_batches(self.tables.batches(keys, None), order.schema)
                if sampling.is_enough or sample.num_rows >= sampling.least:
                    return order, order.cuts(sample, sampling.n_chunks)
                sampling = sampling.doubled()

    def tally(self, released: Rows, facts: Facts) -> Tally:
        """Return what the clusters keep, once no row is lost: an id without one is nobody's."""
        with self._timed("count"), stage("counting released rows"):
            rows = [
                tuple(map(int, row)) for row in self.tables.ask(columns.TALLY, released=released)
            ]
        n, empty, shared, created, clusters = (sum(row[at] for row in rows) for at in range(1, 6))
        if n != facts.n_rows:
            where, all_of_it = self.working.folders
            raise ResourceError(
                f"rows that the run kept in {where} are lost: {facts.n_rows} were counted, but "
                f"{n} are left. Delete {all_of_it}, and start again."
            )
        return Tally(shared, created, clusters, empty, tuple((row[0], row[1]) for row in rows))

    def counts(self, tally: Tally, released: Rows, facts: Facts) -> EntryCounts:
        """Return what the advice to the owner depends on."""
        with self._timed("count"), stage("counting what is certain"):
            [(certain,)] = self.tables.ask(columns.CERTAIN, released=released, again=released)
        return EntryCounts(
            rows=facts.n_rows,
            empty=tally.empty,
            certain=int(certain),
            kept=EntryChanges(facts.n_entries, tally.shared, tally.created),
        )

    def numbered(self, released: Rows, facts: Facts, tally: Tally) -> tuple[Rows, Rows]:
        """Return the released rows under their new ids, in the order of random keys; and packed."""
        # The first id of every bucket, from the sizes of the buckets before it.
        n_buckets = n_buckets_of(facts.n_rows, facts.n_entries)
        sizes = np.zeros(n_buckets + 1, dtype=np.int64)
        for bucket, n in tally.of_buckets:
            sizes[bucket + 1] = n
        starts = tuple(np.cumsum(sizes)[:-1].tolist())
        # Rows in the order of their random keys get consecutive ids.
        work = Numbered(starts)
        ordered = self.tables.select(columns.ORDERED, rows=released)

        def of_buckets(work: Callable[[int, pa.Table], pa.Table], schema: pa.Schema) -> Rows:
            return self.tables.grouped(ordered, "bucket", n_buckets, work, schema)

        return (
            of_buckets(work, columns.numbered(*facts.types)),
            of_buckets(packed(work), columns.PACKED),
        )

    def publication(
        self, files: DataFiles, public: Place, tally: Tally, advice: tuple[str, ...]
    ) -> Publication:
        """Write the data files and return what is said of them; refuse a class below k."""
        # The classes are counted in the written files, and no class below k is ever published.
        with self._timed("write"):
            written = files.write(public)
        kept = EntryChanges(files.facts.n_entries, tally.shared, tally.created)
        if written.smallest_class < self.method.k:
            raise RuntimeError(
                f"about to publish a class of {written.smallest_class} rows with k={self.method.k}"
            )
        return Publication(
            described=written.described,
            advice=written.advice,
            linkage=files.linkage() if files.linked is None else None,
            linkage_sha256=written.linkage_sha256,
            **claim(
                self.method,
                self.working.randomness,
                people=files.facts.people,
                left_out=files.facts.left_out,
                warnings=advice,
                input_sha256=files.facts.input_sha256,
                origins_sha256=self.origins,
                cost=cost_of(kept, {"clusters": tally.clusters, "classes": written.n_classes}),
                seconds=self.seconds,
            )._asdict(),
        )

    def _timed(self, name: str) -> AbstractContextManager[None]:
        return timed(self.seconds, name)


class _Given(NamedTuple):
    """Rows that can be read.

    `digest`: of what they are; `origins`: digests of what they are read from; `take`: keeps them as
    `graphveil.scale.intake.ROWS` and returns what is known of them.
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
    ids in a new order; then the classes are recomputed in the published file.
    """

    options: BipartiteOptions
    keeps: ClassVar[bool] = True

    @abstractmethod
    def given(self, run: RunOptions) -> _Given:
        """Return the rows, once they are such that can be read."""

    def refusals(self, method: Method, run: RunOptions) -> Iterator[str]:
        """Yield what needs all rows in memory, and refuse places that are in one another."""
        if run.nested_in is not None:
            yield f"--nested-in needs all data in memory. Remove {self.flag}."
        if run.privacy_ledger is not None:
            yield f"--ledger needs all data in memory. Remove {self.flag}."
        check_apart(self._places(run))
        yield from refused_methods(method)

    flag: ClassVar[str] = "--on-disk"
    """What asks for this source on the command line."""

    def _places(self, run: RunOptions) -> dict[str, Place]:
        """Return all places that are written, by the options that name them."""
        target, private = run.out, run.private
        places = {"out": target}
        if private is not None:
            places["private"] = private
        elif isinstance(target, Path):
            places["private"] = private_folder(target)
        if isinstance(private, Address):
            places["the unfinished run, in the current folder"] = unfinished_beside(private)
        return places

    @contextmanager
    def read(self, method: Method, run: RunOptions) -> Iterator[Read]:
        """Give the rows, kept by the engine, counted and digested."""
        given, reading = self.given(run), recorded(self.options)
        chunked = in_chunks(method)
        with (
            going_on(chunked, run, given.digest, reading) as working,
            given.engine.at(working.folder, working.name) as tables,
        ):
            stages = Stages(
                chunked, run, given.form, given.origins, working, tables, given.engine.memory_mib
            )
            facts = stages.facts(given.take)
            known_by = frozenset((facts.input_sha256, *given.origins))
            yield Read(known_by, lambda: stages.drawn(facts), reading)


def form_of(run: RunOptions, came_in: str) -> Format:
    """Return the format of a release of rows: the one asked for, else the one that came in."""
    form = release_format(run.format or came_in, "bipartite")
    check_parts(run.parts, form, run.out)
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
    """The rows of a file on this machine."""

    path: Path
    engine: Engine

    def given(self, run: RunOptions) -> _Given:
        """Return the rows of the file."""
        source = check_readable(self.path, self.options)
        form = form_of(run, format_that_came_in(source.path, self.options.format))
        with stage(f"computing the digest of {source.name}"):
            digest, of_parts = digests_of_files(part.path for part in source.parts)

        def take(tables: Tables, folder: Path) -> Facts:
            return intake(source, self.options, folder, tables, self.engine.memory_mib)

        return _Given(self.engine, form, digest, of_parts, take)


@dataclass(frozen=True, kw_only=True)
class RowsOfFrame(RowsOnDisk):
    """Rows on a cluster; they come to this process some at a time, when the release is written."""

    rows: Any
    place: Place
    connect: Callable[[], SparkEngine]
    flag: ClassVar[str] = "--engine"

    def refusals(self, method: Method, run: RunOptions) -> Iterator[str]:
        """Yield what needs all rows in memory, or one machine."""
        yield from super().refusals(method, run)
        yield from refused_items(self.options)

    def _places(self, run: RunOptions) -> dict[str, Place]:
        return {**super()._places(run), "working": self.place}

    def given(self, run: RunOptions) -> _Given:
        """Return the rows of the session."""
        form, engine = form_of(run, "parquet"), self.connect()
        source = FrameSource.of(self.rows, engine.spark)
        places = (run.out, run.private)
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
