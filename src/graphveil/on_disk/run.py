"""A file larger than memory into a release folder, by chunks of rows on the disk."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

from graphveil._version import __version__
from graphveil.anonymizer import Anonymizer
from graphveil.claims.conditions import PeopleAsItems
from graphveil.data.left_out import left_out_words
from graphveil.engines.engine import Engine, Rows, Tables
from graphveil.engines.local import LocalEngine
from graphveil.errors import UsageError, warn
from graphveil.io import BipartiteOptions
from graphveil.io.options import recorded
from graphveil.io.source import Source
from graphveil.methods import METHODS
from graphveil.methods.equivalence_classes.rule import Kept, cost_of
from graphveil.methods.equivalence_classes.warned import EntryCounts, advice_on
from graphveil.methods.smooth_k.clustered import Clustered
from graphveil.methods.smooth_k.options import Chunks
from graphveil.methods.smooth_k.orders import MinHash
from graphveil.on_disk import columns, queries
from graphveil.on_disk.cuts import ByNames, ByWords, InChunks, Keyed, RowKeys, Sampling
from graphveil.on_disk.ids import Numbered, n_buckets_of
from graphveil.on_disk.intake import Facts, intake, items_of
from graphveil.on_disk.interrupted import kept_where_interrupted
from graphveil.on_disk.raw_rows import check_readable
from graphveil.on_disk.worker import Released
from graphveil.on_disk.working import Working, fingerprint_of, opened
from graphveil.on_disk.writing import DataFiles
from graphveil.owner_warnings import PEOPLE_AS_ITEMS, ids_as_things, warn_owner
from graphveil.progress import stage
from graphveil.randomness import Randomness
from graphveil.release import Private
from graphveil.release.files import DELIMITED, check_items, format_that_came_in, release_format
from graphveil.release.publishing import (
    Publication,
    WriteOptions,
    forewarn,
    forewarn_of_others,
    publish,
)
from graphveil.release.staging import check_target
from graphveil.warning_kinds import DroppedWarning

CHUNK_ROWS = 20_000
"""The rows of a chunk where nothing is said."""


def anonymize_file(  # noqa: PLR0913  one argument for each flag of the command line
    method: Anonymizer[Any],
    path: str | Path,
    out: str | Path,
    *,
    engine: Engine | None = None,
    seed: int | None = None,
    format: str | None = None,  # noqa: A002  the word users know from the command line
    force: bool = False,
    linkage: bool = True,
    reading: BipartiteOptions | None = None,
    warned: tuple[str, ...] = (),
) -> Path:
    r"""Anonymize a file that may be larger than memory, and return the release folder.

    The promise is that of the method in memory. Rows are put into chunks of ``chunk_rows``, each
    clustered by itself, and published under new ids in a new order; then the classes are counted
    again in the published file. Until it is done, a run keeps a private folder beside the release.
    After an interruption the same call goes on from there.

    Parameters
    ----------
    method
        One that runs on the disk: `SmoothK` or `SuppressK`. Without `chunks` these have 20,000
        rows each.
    path
        Two columns (csv, tsv, text, Parquet, Arrow), or Parquet or Arrow with a column of lists.
    out
        The release folder; its private sibling is ``out.private``.
    engine
        Where rows lie and chunks run; `LocalEngine` with a process a processor where not given.
        With processes, a script calls this under ``if __name__ == "__main__":``.
    seed
        None draws from the operating system's entropy. With a seed the same file gives the same
        release; a seed is a secret of the owner.
    format
        The format of the released data; the one that came in where not given.
    force, linkage
        As in `Release.write`. `force` also deletes what another unfinished run has left.
    reading
        How the file is read.
    warned
        What the owner was told before: it is not said again.

    Raises
    ------
    UsageError
        Where the method, its parameters or the options need all data in memory.
    InputError
        Where the file cannot be read.
    InfeasibleError
        Where it has fewer than k rows.
    ReleaseError
        Where the folder exists and `force` is off, or others can write into the folder of the
        unfinished run.
    ResourceError
        Where memory, disk or processes fail.

    Warns
    -----
    GraphveilWarning
        What the owner should know before publishing; where an unfinished run is kept.

    Examples
    --------
    >>> import warnings
    >>> from tempfile import TemporaryDirectory
    >>> from graphveil.errors import GraphveilWarning
    >>> from graphveil.methods.smooth_k import Chunks, SuppressK
    >>> from graphveil.release import read_release
    >>> method = SuppressK(k=2, chunks=Chunks(rows=4))
    >>> with TemporaryDirectory() as folder, warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", GraphveilWarning)
    ...     path = Path(folder, "likes.csv")
    ...     _ = path.write_text("user,item\nann,tea\nbob,tea\ncyd,rye\ndan,rye\n")
    ...     release = anonymize_file(method, path, Path(folder, "out"), engine=LocalEngine(jobs=1))
    ...     read_release(release).data.n_entries
    4
    """
    target, options = Path(out), reading or BipartiteOptions()
    check_target(target, force=force)
    clustered = _checked(method)
    source = check_readable(Path(path), options)
    form = release_format(format or format_that_came_in(source.path, options.format), "bipartite")
    with stage(f"digesting {source.name}"):
        file_sha256 = _digest_of(source)
    fingerprint = _fingerprint(file_sha256, clustered, seed, recorded(options))
    warned += forewarn(target, warned=warned, on_disk=True)
    working = opened(target, fingerprint, seed=seed, force=force)
    engine = engine or LocalEngine()
    with kept_where_interrupted(working), engine.at(working.folder) as tables:
        run = _Run(clustered, working, tables, file_sha256)
        facts = run.facts(source, options, engine.memory_mib)
        if form.name in DELIMITED and not (facts.people or facts.item_is_integer):
            check_items(run.items(), form)
        known_by = frozenset((facts.input_sha256, file_sha256))
        warned += forewarn_of_others(target, known_by, warned=warned)
        released = run.released(facts)
        tally = run.tally(released)
        advice = advice_on(run.counts(tally, released, facts), k=clustered.k)
        as_things = ids_as_things(facts.ids_as_items, facts.n_items)
        advice = (*advice, *((PEOPLE_AS_ITEMS,) if facts.people else as_things))
        advised = warn_owner(advice, seeded=working.randomness.seeded)
        files = DataFiles(
            numbered=run.numbered(released, facts),
            released=released,
            tables=tables,
            facts=facts,
            scratch=working.stage("publish"),
            memory_mib=engine.memory_mib,
            form=form,
        )

        def write_files(public: Path) -> Publication:
            return run.publication(files, public, tally, advised)

        writing = WriteOptions(
            force=force, linkage=linkage, reading=recorded(options), warned=warned
        )
        publish(target, write_files, input_digests=known_by, options=writing)
    working.remove()
    return target


def _digest_of(source: Source) -> str:
    """Return the SHA-256 of the bytes of a file."""
    with source.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fingerprint(
    file_sha256: str, method: Clustered, seed: int | None, reading: Mapping[str, Any]
) -> str:
    """Return the digest of the input and of all that decides what is made of it."""
    decided_by = {
        "version": __version__,
        "method": method.name,
        "parameters": method.parameters(),
        "seed": Randomness(seed=seed).seed,
        "reading": reading,
    }
    return fingerprint_of(file_sha256, decided_by)


def _checked(method: Anonymizer[Any]) -> Clustered:
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


class Tally(NamedTuple):
    """What clusters keep: published entries of the original, created ones, their number."""

    shared: int
    created: int
    clusters: int


@dataclass(frozen=True)
class _Run:
    """The stages of one run; none of them knows on which engine it runs."""

    method: Clustered
    working: Working
    tables: Tables
    file_sha256: str
    seconds: dict[str, float] = field(default_factory=dict)

    def facts(self, source: Source, options: BipartiteOptions, memory_mib: int) -> Facts:
        """Return what is known of the rows, once they are kept, counted and digested."""
        facts = self.working.finished("facts", Facts)
        if facts is None:
            with self._timed("read"):
                folder = self.working.stage("raw")
                _, facts = intake(source, options, folder, self.tables, memory_mib)
            self.working.finish("facts", facts)
        if facts.said:
            warn("; ".join(facts.said), DroppedWarning)
        self.method.check_size(facts.n_rows)
        return facts

    def items(self) -> pa.Array:
        """Return the names of all items."""
        return items_of(self._rows(), self.tables)

    def _rows(self) -> Rows:
        return self.tables.kept((), "rows", "")  # `facts` has kept them

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
        order: RowKeys
        if _chunks_of(self.method).order == "none":
            order = ByWords(None) if facts.user_is_integer else ByNames()
        else:
            order = ByWords(MinHash.drawn(self.working.randomness.stream("order of rows")))
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

    def tally(self, released: Rows) -> Tally:
        """Return what the clusters keep."""
        [sums] = self.tables.ask(queries.TALLY, released=released)
        return Tally(*map(int, sums))

    def counts(self, tally: Tally, released: Rows, facts: Facts) -> EntryCounts:
        """Return what the advice to the owner depends on."""
        with self._timed("count"), stage("counting what is certain"):
            [(empty,)] = self.tables.ask(queries.EMPTY, released=released)
            [(certain,)] = self.tables.ask(queries.CERTAIN, released=released, again=released)
        return EntryCounts(
            rows=facts.n_rows,
            empty=int(empty),
            certain=int(certain),
            kept=Kept(facts.n_entries, tally.shared, tally.created),
        )

    def numbered(self, released: Rows, facts: Facts) -> Rows:
        """Return the released rows under their new ids, in the order of random keys."""
        n_buckets = n_buckets_of(facts.n_rows, facts.n_entries)
        sizes = np.zeros(n_buckets + 1, dtype=np.int64)
        for bucket, n in self.tables.ask(queries.BUCKETS, released=released):
            sizes[bucket + 1] = n
        starts = tuple(np.cumsum(sizes)[:-1].tolist())
        ordered = self.tables.select(queries.ORDERED, rows=released)
        return self.tables.grouped(
            ordered, "bucket", n_buckets, Numbered(starts), columns.numbered(*facts.types)
        )

    def publication(
        self, files: DataFiles, public: Path, tally: Tally, advice: tuple[str, ...]
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
                origins_sha256=(self.file_sha256,),
                seed=self.working.randomness.seed,
                cost=cost_of(kept, clusters=tally.clusters, classes=written.n_classes),
                warnings=(*advice, *left_out_words(files.facts.left_out)),
                seconds=self.seconds,
                withheld=method.withheld(),
            ),
            advice=written.advice,
            linkage=files.linkage(),
        )

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started
