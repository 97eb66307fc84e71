"""The stages of a run, on any engine: what is known, chunks, ids, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

from graphveil.claims.conditions import PeopleAsItems
from graphveil.core.errors import ResourceError, UsageError, warn
from graphveil.core.progress import stage, timed
from graphveil.core.randomness import Randomness
from graphveil.core.storage import Address, Place
from graphveil.core.version import __version__
from graphveil.core.warnings import PEOPLE_AS_ITEMS, DroppedWarning, ids_as_things, warn_owner
from graphveil.data.origin import left_out_words
from graphveil.io import Format
from graphveil.methods import METHODS
from graphveil.methods.base import Anonymizer
from graphveil.methods.equivalence_classes.assembly import EntryCounts, advice_on
from graphveil.methods.equivalence_classes.rule import Kept, cost_of
from graphveil.methods.smooth_k.chunks import MinHash
from graphveil.methods.smooth_k.clustered import Clustered
from graphveil.methods.smooth_k.options import Chunks
from graphveil.release import Private
from graphveil.release.addressed import forewarn_of_parts, publish_at
from graphveil.release.files import DELIMITED, check_items
from graphveil.release.publishing import (
    Publication,
    WriteOptions,
    forewarn,
    forewarn_of_others,
    publish,
)
from graphveil.scale import columns
from graphveil.scale import columns as queries
from graphveil.scale.chunks import ByNames, ByWords, InChunks, Keyed, Released, RowKeys, Sampling
from graphveil.scale.engines.engine import Engine, Rows, Tables
from graphveil.scale.intake import ROWS, Facts, items_of
from graphveil.scale.parts import Numbered, comes_in_parts, n_buckets_of, packed
from graphveil.scale.working import (
    Working,
    fingerprint_of,
    kept_where_interrupted,
    opened,
    unfinished_beside,
)
from graphveil.scale.writing import DataFiles

CHUNK_ROWS = 20_000
"""The rows of a chunk where nothing is said."""


def runs_on_disk(method: Anonymizer[Any]) -> Clustered:
    """Return the method, once it is one that can run on the disk with these parameters."""
    if method.ties_on_disk:
        raise UsageError(f"{method.name} takes ties from the disk, no rows. Use anonymize_ties.")
    if not method.runs_on_disk:
        able = " or ".join(name for name, other in METHODS.items() if other.runs_on_disk)
        raise UsageError(f"{method.name} needs all data in memory. Use {able} on the disk.")
    clustered = cast("Clustered", method)
    chunks = _chunks_of(clustered)
    if chunks.order == "label-propagation":
        raise UsageError("order=label-propagation needs all data in memory. Use minhash.")
    if chunks.rounds:
        raise UsageError(f"rounds={chunks.rounds} need all data in memory. Leave rounds at 0.")
    return replace(clustered, chunks=chunks)


def _chunks_of(method: Clustered) -> Chunks:
    """Return the chunks of a run on the disk: those asked for, else of a fixed size."""
    return method.chunks or Chunks(rows=max(CHUNK_ROWS, 2 * method.k))


def order_of_rows(
    method: Clustered,
    user_is_integer: bool,  # noqa: FBT001  a fact of the rows
    randomness: Randomness,
) -> RowKeys:
    """Return the order of rows that chunks are cut from."""
    if _chunks_of(method).order != "none":
        return ByWords(MinHash.drawn(randomness.stream("order of rows")))
    return ByWords(None) if user_is_integer else ByNames()


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a run is to make of its rows.

    Parameters
    ----------
    method
        The method, with its chunks.
    target
        The release: a folder, or an address.
    form
        The format of the data.
    source
        The digest of what the rows are: a run of others does not go on from this one.
    origins
        Digests of what the rows are read from: it is recognized by them, and by its content.
    seed, force, linkage, parts, private
        As of `graphveil.scale.anonymize_file`.
    reading
        How the rows are read, for the record.
    """

    method: Clustered
    target: Place
    form: Format
    source: str
    origins: tuple[str, ...]
    seed: int | None
    force: bool
    linkage: bool
    reading: Mapping[str, Any]
    parts: bool | None = None
    private: Place | None = None

    @property
    def fingerprint(self) -> str:
        """The digest of the input and of all that decides what is made of it."""
        decided_by = {
            "version": __version__,
            "method": self.method.name,
            "parameters": self.method.parameters(),
            "seed": Randomness(seed=self.seed).seed,
            "reading": self.reading,
        }
        return fingerprint_of(self.source, decided_by)


def run_stages(
    job: Job,
    engine: Engine,
    take: Callable[[Tables, Path], Facts],
    *,
    warned: tuple[str, ...] = (),
) -> Place:
    """Run all stages on an engine, and return the release folder or its address.

    Parameters
    ----------
    job
        What to make.
    engine
        Where rows lie.
    take
        Keeps the rows under the name `ROWS`, and returns what is known of them.
    warned
        What the owner was told before: it is not said again.
    """
    target, method = job.target, job.method
    private = job.private
    warned += forewarn(target, warned=warned, on_disk=True, private=private)
    warned += forewarn_of_parts(target, private, warned)
    working = opened(
        unfinished_beside(private or target), job.fingerprint, seed=job.seed, force=job.force
    )
    with kept_where_interrupted(working), engine.at(working.folder, working.name) as tables:
        run = Stages(job, working, tables)
        facts = run.facts(take)
        if job.form.name in DELIMITED and not (facts.people or facts.item_is_integer):
            check_items(run.items(), job.form)
        known_by = frozenset((facts.input_sha256, *job.origins))
        warned += forewarn_of_others(target, known_by, warned=warned, private=private)
        released = run.released(facts)
        tally = run.tally(released, facts)
        advice = advice_on(run.counts(tally, released, facts), k=method.k)
        as_things = ids_as_things(facts.ids_as_items, facts.n_items)
        advice = (*advice, *((PEOPLE_AS_ITEMS,) if facts.people else as_things))
        advised = warn_owner(advice, seeded=working.randomness.seeded)
        numbered, in_values = run.numbered(released, facts, tally)
        files = DataFiles(
            numbered=numbered,
            packed=in_values,
            released=released,
            tables=tables,
            facts=facts,
            scratch=working.stage("publish"),
            memory_mib=engine.memory_mib,
            form=job.form,
            parts=comes_in_parts(job.parts, job.form, facts.n_rows, target),
            linked=private if job.linkage and isinstance(private, Address) else None,
        )

        def write_files(public: Place) -> Publication:
            return run.publication(files, public, tally, advised)

        writing = WriteOptions(
            force=job.force,
            linkage=job.linkage,
            reading=job.reading,
            warned=warned,
            private=private if isinstance(private, Path) else None,
        )
        if isinstance(target, Address):
            owners = cast("Place", private)  # an address has one, or is refused
            publish_at(target, owners, write_files, input_digests=known_by, options=writing)
        else:
            publish(target, write_files, input_digests=known_by, options=writing)
    working.remove()
    return target


class Tally(NamedTuple):
    """What clusters keep: published entries of the original, created ones, their number.

    Beside that the released rows of every bucket, and all of them that have no items.
    """

    shared: int
    created: int
    clusters: int
    empty: int
    of_buckets: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Stages:
    """The stages of one run; none of them knows on which engine it runs."""

    job: Job
    working: Working
    tables: Tables
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def method(self) -> Clustered:
        """The method."""
        return self.job.method

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
        return facts

    def items(self) -> pa.Array:
        """Return the names of all items."""
        return items_of(self._rows(), self.tables)

    def _rows(self) -> Rows:
        return self.tables.kept_as(ROWS)

    def released(self, facts: Facts) -> Rows:
        """Return the released rows of every chunk, with what its clusters keep."""
        sampling = Sampling.of(facts.n_rows, _chunks_of(self.method).rows, self.method.k)
        order, cuts = self._cuts(facts, sampling)
        types = facts.types
        work = Released(
            method=self.method,
            order=order,
            n_buckets=n_buckets_of(facts.n_rows, facts.n_entries),
            by_columns=facts.values and self.method.columns_of(["column=value"]) is not None,
            randomness=self.working.randomness,
        )
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
            while True:
                rows = self._rows()
                if not sampling.is_enough:
                    rows = self.tables.select(queries.sampled(sampling.below), rows=rows)
                keys = self.tables.map(rows, Keyed(order), order.schema)
                sample = pa.Table.from_batches(self.tables.batches(keys, None), order.schema)
                if sampling.is_enough or sample.num_rows >= sampling.least:
                    return order, order.cuts(sample, sampling.n_chunks)
                sampling = sampling.doubled()

    def tally(self, released: Rows, facts: Facts) -> Tally:
        """Return what the clusters keep, once no row is lost: an id without one is nobody's.

        Raises
        ------
        ResourceError
            Where the place of the run has lost some of them.
        """
        with self._timed("count"), stage("counting released rows"):
            rows = [
                tuple(map(int, row)) for row in self.tables.ask(queries.TALLY, released=released)
            ]
        n, empty, shared, created, clusters = (sum(row[at] for row in rows) for at in range(1, 6))
        if n != facts.n_rows:
            where, all_of_it = self.working.folders
            raise ResourceError(
                f"rows that the run kept in {where} are lost: {facts.n_rows} were counted, and {n} "
                f"are left. Delete {all_of_it}, and begin anew."
            )
        return Tally(shared, created, clusters, empty, tuple((row[0], row[1]) for row in rows))

    def counts(self, tally: Tally, released: Rows, facts: Facts) -> EntryCounts:
        """Return what the advice to the owner depends on."""
        with self._timed("count"), stage("counting what is certain"):
            [(certain,)] = self.tables.ask(queries.CERTAIN, released=released, again=released)
        return EntryCounts(
            rows=facts.n_rows,
            empty=tally.empty,
            certain=int(certain),
            kept=Kept(facts.n_entries, tally.shared, tally.created),
        )

    def numbered(self, released: Rows, facts: Facts, tally: Tally) -> tuple[Rows, Rows]:
        """Return the released rows under their new ids, in the order of random keys; and packed."""
        n_buckets = n_buckets_of(facts.n_rows, facts.n_entries)
        sizes = np.zeros(n_buckets + 1, dtype=np.int64)
        for bucket, n in tally.of_buckets:
            sizes[bucket + 1] = n
        starts = tuple(np.cumsum(sizes)[:-1].tolist())
        work = Numbered(starts)
        ordered = self.tables.select(queries.ORDERED, rows=released)

        def of_buckets(work: Callable[[int, pa.Table], pa.Table], schema: pa.Schema) -> Rows:
            return self.tables.grouped(ordered, "bucket", n_buckets, work, schema)

        return (
            of_buckets(work, columns.numbered(*facts.types)),
            of_buckets(packed(work), columns.PACKED),
        )

    def publication(
        self, files: DataFiles, public: Place, tally: Tally, advice: tuple[str, ...]
    ) -> Publication:
        """Write the data files, and return what is said of them; refuse a class that is too small.

        Raises
        ------
        RuntimeError
            Where a class is smaller than k, or rows stand in the order of the original.
        """
        with self._timed("write"):
            written = files.write(public)
        method = self.method
        kept = Kept(files.facts.n_entries, tally.shared, tally.created)
        if written.smallest_class < method.k:
            raise RuntimeError(
                f"a class of {written.smallest_class} rows was about to be published with "
                f"k={method.k}"
            )
        return Publication(
            described=written.described,
            guarantee=method.claimed(None, self.working.randomness),
            conditions=(*method.conditions, *((PeopleAsItems(),) if files.facts.people else ())),
            provenance=method.provenance,
            private=Private(
                input_sha256=files.facts.input_sha256,
                origins_sha256=self.job.origins,
                seed=self.working.randomness.seed,
                cost=cost_of(kept, clusters=tally.clusters, classes=written.n_classes),
                warnings=(*advice, *left_out_words(files.facts.left_out)),
                seconds=self.seconds,
                withheld=method.withheld(),
            ),
            advice=written.advice,
            linkage=files.linkage() if files.linked is None else None,
            linkage_sha256=written.linkage_sha256,
        )

    def _timed(self, name: str) -> AbstractContextManager[None]:
        return timed(self.seconds, name)
