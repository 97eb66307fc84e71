"""What a run on disk or on a cluster will cost, from a sample of its rows: nothing is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from graphveil.claims.parts import PART_USERS
from graphveil.core.errors import UsageError
from graphveil.core.progress import stage
from graphveil.engines.local import PIECE_ROWS, LocalEngine
from graphveil.engines.processes import Engine
from graphveil.engines.spark import SparkEngine, SparkTables
from graphveil.io import BipartiteOptions
from graphveil.methods.base import Anonymizer
from graphveil.methods.smooth_k.smooth_k import Clustered
from graphveil.scale import columns
from graphveil.scale.frame_source import FrameSource
from graphveil.scale.intake import InputRows, check_readable
from graphveil.scale.run import in_chunks, refused_items, refused_methods
from graphveil.scale.trial_cost import Trial
from graphveil.scale.user_sample import UserSample, sample_of_file, sample_of_tables

Where = Literal["local", "spark"]

WITHIN = 1.5
"""Every figure is a range: from this factor below what is expected to this factor above."""


class Rates(NamedTuple):
    """What an engine adds to what is measured in this process, from runs of the benchmark.

    `started, process`: seconds of CPU; `handled`: all stages but clustering, as a multiple of
    ordering, digesting and keying rows; `clustered`: as a multiple of the cost in this process;
    `kept`: bytes in the folders of a run, as a multiple of its rows and released rows, packed;
    `piece_rows`: how many rows a process holds at most before they are clustered.
    """

    started: float
    process: float
    handled: float
    clustered: float
    kept: float
    piece_rows: int


RATES_OF: dict[Where, Rates] = {
    "local": Rates(0.3, process=1.3, handled=5.0, clustered=1.1, kept=2.0, piece_rows=PIECE_ROWS),
    "spark": Rates(10.0, process=0.0, handled=25.0, clustered=1.3, kept=1.2, piece_rows=10_000),
}

SHUFFLED = 1.2
"""The bytes that executors write for each other, as a multiple of the same."""

PAIRS_KEPT: dict[Where, float] = {"local": 1.4, "spark": 1.0}
PAIRS_SHUFFLED = 1.75
"""How many times that is where rows are given as pairs, which are put together first."""

KEPT_APART = 0.6
"""How many times the bytes in folders are that where works write parts: rows are not kept in order
once more. A linkage in a folder takes some of that back: it is within the range."""

WORKER_MIB, CHUNK_COPIES, PIECE_COPIES = 300, 13, 3
"""The memory of a process that clusters: without rows, and how often it holds those of a chunk and
those of a piece."""

PART_COPIES = 3
"""The same of a process that writes parts at an address: of the rows of one, which are taken to be
as large as those of the original, since a sample publishes fewer items than all rows do."""


class Range(NamedTuple):
    """The ends that a figure is expected between."""

    low: float
    high: float

    @classmethod
    def about(cls, expected: float) -> Range:
        """Return the range about what is expected."""
        return cls(expected / WITHIN, expected * WITHIN)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a run will cost.

    Parameters
    ----------
    engine
        Where it runs: ``local`` or ``spark``.
    rows, entries, chunks
        The users, about the entries, and the chunks of rows.
    cpu_seconds
        Seconds of CPU, of all processes together.
    working_bytes
        What is in the folders of the run before its release stands.
    shuffle_bytes
        What executors write for each other; None on one machine.
    worker_mib
        The memory of a process that clusters or writes parts, in MiB.
    assumed
        What these figures depend on.
    """

    engine: Where
    rows: int
    entries: int
    chunks: int
    cpu_seconds: Range
    working_bytes: Range
    shuffle_bytes: Range | None
    worker_mib: Range
    assumed: tuple[str, ...]

    @property
    def core_hours(self) -> Range:
        """The CPU in hours of one core."""
        return Range(*(seconds / 3600 for seconds in self.cpu_seconds))


def estimate_of_file(
    method: Anonymizer[Any], path: Path, options: BipartiteOptions, engine: Engine | None = None
) -> Estimate:
    """Return what `graphveil.anonymize_rows` of a file will cost."""
    clustered = _in_chunks(method)
    source = check_readable(path, options)
    engine = engine or LocalEngine()
    with stage(f"sampling users of {source.name}"):
        sample = sample_of_file(source, options, engine.memory_mib)
    jobs = getattr(engine, "jobs", None) or 1
    return estimated(sample, clustered, "local", processes=jobs if jobs > 1 else 0)


def estimate_of_frame(
    method: Anonymizer[Any],
    rows: Any,
    options: BipartiteOptions,
    engine: SparkEngine,
    *,
    at_address: bool = False,
) -> Estimate:
    """Return what `graphveil.anonymize_rows` of a DataFrame will cost."""
    clustered = _in_chunks(method, refused_items(options))
    source = FrameSource.of(rows, engine.spark)
    tables = SparkTables(engine.spark, engine.place, "")  # nothing is kept
    with stage(f"sampling users of {source.name}"):
        given = source.given(tables, options)
        if options.items is None:
            _refuse_people(given, tables)
        sample = sample_of_tables(given, tables)
    return estimated(sample, clustered, "spark", parts_apart=at_address)


def _in_chunks(method: Anonymizer[Any], refusals: Iterable[str] = ()) -> Clustered:
    """Return a method with its chunks, once nothing is refused."""
    for text in (*refused_methods(method), *refusals):
        raise UsageError(text)
    return in_chunks(method)


def _refuse_people(given: InputRows, tables: SparkTables) -> None:
    """Refuse items that may be people, as the run does."""
    rows = given.rows if given.lists else given.rows.selectExpr("user", "array(item) AS items")
    numbers = given.user_is_integer and given.item_is_integer
    shared = columns.shared_ids(rows, tables, numbers=numbers)
    if shared.refusal:
        given.refuse(shared.refusal)


def estimated(
    sample: UserSample,
    method: Clustered,
    engine: Where,
    *,
    processes: int = 0,
    parts_apart: bool = False,
) -> Estimate:
    """Return what a run of a method on the rows of a sample will cost."""
    method.check_size(sample.n_rows)
    rates, n = RATES_OF[engine], sample.n_rows
    # Measure on the sample: what a row costs before it is clustered, and what chunks cost.
    trial = Trial.of(sample, method)
    handled = trial.handled()
    with stage("clustering some chunks"):
        clustered = trial.clustered()
    # CPU: starting, per process, per row, and per chunk, with the factors of the engine.
    seconds = (
        rates.started
        + rates.process * processes
        + rates.handled * handled.seconds * n
        + rates.clustered * clustered.price(*trial.cells()).sum()
    )
    moved = n * (handled.packed + clustered.packed)
    # Memory: the copies of a chunk and of a piece that a process holds.
    chunk = CHUNK_COPIES * trial.n_chunk_rows + PIECE_COPIES * min(rates.piece_rows, n)
    part = PART_COPIES * min(PART_USERS, n)
    held = handled.bytes * (max(chunk, part) if parts_apart else chunk)
    # Bytes on disk, and what executors exchange.
    kept = rates.kept * (PAIRS_KEPT[engine] if sample.pairs else 1.0)
    kept *= KEPT_APART if parts_apart else 1.0
    shuffled = SHUFFLED * (PAIRS_SHUFFLED if sample.pairs else 1.0) * moved
    shuffled += n * clustered.in_a_part if parts_apart else 0
    return Estimate(
        engine=engine,
        rows=n,
        entries=sample.n_entries,
        chunks=trial.n_chunks,
        cpu_seconds=Range.about(float(seconds)),
        working_bytes=Range.about(kept * moved),
        shuffle_bytes=None if engine == "local" else Range.about(shuffled),
        worker_mib=Range.about(WORKER_MIB + held / (1 << 20)),
        assumed=_assumed(sample, clustered.n, engine),
    )


def _assumed(sample: UserSample, n_clustered: int, engine: Where) -> tuple[str, ...]:
    n_users = sample.rows.num_rows
    texts = [
        f"{n_users:,} users were sampled; chunks of them clustered in this process: {n_clustered}",
        "all other costs are as in the benchmark, whose rows have 8 items each",
        "processors are like this one, and are not shared with other work",
        (
            "kernels are already compiled (graphveil warm METHOD); otherwise, each machine adds "
            "some seconds"
        ),
    ]
    if sample.share < 1:
        texts.append("chunks of all users are denser than those of the sample; this is computed")
    if sample.pairs and sample.share < 1:
        texts.append("users are pairs: their number is known from the sample")
    if engine == "spark":
        texts.append("no time is spent waiting for a network or a store, and shuffles do not spill")
    return tuple(texts)
