"""The engine of a cluster: rows are DataFrames of a session of the user's, classic or Connect.

Nothing here configures, starts or stops a session. Executors run graphveil itself, by name, and
values: no file of the driver, no RDD. Rows are kept in a folder that is closed to others, or at an
address, where there are no modes and policies decide who may read it.
"""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import pyarrow as pa

from graphveil.core.atomic import ELSEWHERE, OWNER_ONLY, kept_elsewhere, whole_file
from graphveil.core.errors import GraphveilError, ReleaseError, ResourceError, UsageError
from graphveil.core.hints import option
from graphveil.core.progress import stage
from graphveil.core.storage import Address, Place, place_of
from graphveil.core.version import __version__
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import DiskSpillWarning, StaleFilesWarning
from graphveil.engines.processes import MOST_ANSWERS, Answer, Dialect, Query, gone

_PYTHON_ERROR = re.compile(
    r"^\s*(?!(?:com|java|javax|org|py4j|scala|sun)\.)"
    r"((?:\w+\.)*\w*(?:Error|Exception|Interrupt)\b: .*)$",
    re.MULTILINE,
)
"""The last line of a traceback of Python, among those of the JVM, whose classes have other names.

A session may show them, as `spark.sql.pyspark.jvmStacktrace.enabled` says.
"""

_CALLING = re.compile(r"^An error occurred while calling .*\n: (?:[\w.$]+: )?")
_CAUSED = re.compile(r"^\s*Caused by: (?:(?:\w+\.)+[\w$]+: )*(.*\S)", re.MULTILINE)
"""What the JVM says of what lies behind an error, without the names of its classes."""

_OURS = re.compile(r"graphveil\.core\.errors\.(UsageError|ResourceError): (.*)")
_OF_RESOURCES = ("MemoryError", "OSError", "IOError")


@contextmanager
def translated_errors(doing: str) -> Iterator[None]:
    """Say in a line what Spark gave up.

    Raises `UsageError` where executors lack graphveil, or a place refuses them. `ResourceError`
    where Spark gave up for want of something, or a place is not reached. `RuntimeError` where our
    own code failed on an executor.
    """
    try:
        yield
    except Exception as error:
        if not is_of_spark(error):
            raise
        text = str(error)
        if "No module named 'graphveil" in text:
            raise UsageError(
                "graphveil is not installed on the executors. Install it there, in the version "
                "of this process."
            ) from error
        # Our own errors, raised on an executor, are raised here as what they are.
        failed = _PYTHON_ERROR.findall(text)
        ours = _OURS.fullmatch(failed[-1]) if failed else None
        if ours is not None:
            kind = UsageError if ours[1] == UsageError.__name__ else ResourceError
            raise kind(f"executors: {ours[2]}") from None
        # An error of Python that is not one of resources is a fault of our code.
        if failed and not failed[-1].startswith(_OF_RESOURCES):
            raise RuntimeError(f"{doing}: {failed[-1]}") from None
        raise ResourceError(
            f"Spark failed while {doing}: {failed[-1] if failed else _reason(error)}. Fix the "
            "cause and run the same command again; it continues from there."
        ) from error


def is_of_spark(error: Exception) -> bool:
    """Whether Spark raised an error, or what this process reaches it by."""
    return type(error).__module__.startswith(("pyspark", "py4j"))


def first_line(error: Exception) -> str:
    r"""Return what an error of Spark says first, without the names of the JVM.

    >>> first_line(Exception("An error occurred while calling o1.load.\n: a.b.Some: No file.\nat"))
    'No file'
    """
    line = _CALLING.sub("", str(error)).strip().partition("\n")[0]
    return line.rstrip(".;")


def _reason(error: Exception) -> str:
    """Return what an error of Spark says first, and what lies behind it."""
    first, causes = first_line(error), _CAUSED.findall(str(error))
    return first if not causes or causes[-1] in first else f"{first}; {causes[-1]}"


_PRIVATE = 0o700
_OTHERS = 0o077


def working_place(given: str | Path | Address) -> Place:
    """Return the place under which runs keep rows.

    Raises `UsageError` where no such store is served, or the address has a password or options:
    what a run keeps there is noted, to be deleted, and no note has these.

    >>> str(working_place("s3a://owner/run"))
    's3a://owner/run'
    """
    place = place_of(given)
    if isinstance(place, Address) and place.has_secrets:
        raise UsageError(
            f"{place} contains a password or options, which are never stored, so the data there "
            "would not be deleted. Set them in the environment (AWS_ACCESS_KEY_ID, "
            "AWS_ENDPOINT_URL and the like)."
        )
    return place


def shared_place(place: Place, private: Path) -> Place:
    """Return the place of a run, a folder as an absolute path; it is made where it is not there.

    It is noted in the private folder before anything is in it, so that it is deleted with that.
    Raises `ReleaseError` where the run has kept its rows in another place, or others can write
    there.
    """
    place = place if isinstance(place, Address) else place.absolute()
    before = kept_elsewhere(private)
    if before not in (None, str(place)):
        raise ReleaseError(
            f"the unfinished run keeps its rows in {before}, not in {place}. Continue with "
            f"{option('working', str(place_of(before).parent))}, or delete both {before} and "
            f"{private}."
        )
    folder = place.mounted if isinstance(place, Address) else place
    try:
        if folder is not None:
            folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            _check_own(folder)
        with whole_file(private / ELSEWHERE, mode=OWNER_ONLY) as part:
            part.write_text(json.dumps({"folder": str(place)}))
    except OSError as error:
        raise ResourceError(
            f"cannot write {place} ({error.strerror}). Choose a different place."
        ) from error
    return place


def note(place: Place, name: str) -> bytes | None:
    """Return what a run noted in its place under a name; None where it noted nothing."""
    path = place / name
    return path.read_bytes() if path.is_file() else None


def write_note(place: Place, name: str, content: bytes) -> None:
    """Write a note into the place of a run: it is there whole, or not."""
    if isinstance(place, Address):
        place.put_bytes(name, content)
        return
    with whole_file(place / name, mode=OWNER_ONLY) as part:
        part.write_bytes(content)


def list_stale_runs(place: Place) -> None:
    """Tell the owner of places next to this one that other runs of the same release have left.

    Nothing of them is deleted: a run of that name into another place may be going on.
    """
    release, _, digits = place.name.rpartition("-")
    named = re.compile(rf"{re.escape(release)}-[0-9a-f]{{{len(digits)}}}")
    around = place.parent
    others = around.folders() if isinstance(around, Address) else sorted(around.iterdir())
    for other in others:
        if other.name != place.name and named.fullmatch(other.name):
            message = (
                f"{other} holds rows of people from a different run for a release of this name. "
                "Delete it, unless that run is still in progress"
            )
            warn(message, StaleFilesWarning)


def _check_own(folder: Path) -> None:
    """Refuse a folder that is not as its owner's run makes it, where the file system can tell.

    Whoever could write into it could put other people's rows into a release.
    """
    status = folder.lstat()
    if stat.S_ISDIR(status.st_mode) and (_is_own(status) or not _tells(folder)):
        return
    raise ReleaseError(
        f"{folder} is a link, belongs to another user (number {status.st_uid}), or is "
        f"accessible to others (mode {stat.S_IMODE(status.st_mode):o}; a run sets "
        f"{_PRIVATE:o}), so its contents are not used. Move it away."
    )


def _is_own(status: os.stat_result) -> bool:
    if sys.platform == "win32":
        return True
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & _OTHERS


def _tells(folder: Path) -> bool:
    """Whether a new private folder is this user's alone there: not every shared mount says so."""
    probe = Path(tempfile.mkdtemp(dir=folder))
    status = probe.lstat()
    probe.rmdir()
    return _is_own(status)


Frame: TypeAlias = Any
"""A DataFrame; pyspark is an extra, and a session brings it."""

Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)

MOST_REDUCERS = 4096
"""The most partitions that groups are distributed over: beyond it, neighboring groups share one,
since each partition costs the driver a task."""

OLDEST, NEXT = (4, 0), (5, 0)
NOTE = "done.json"
_NOTHING_THERE = "[PATH_NOT_FOUND]", "[UNABLE_TO_INFER_SCHEMA]"
"""What Spark says of a folder that is not there, or holds no file."""

_SPELLED = {pa.int32(): "INT", pa.int64(): "BIGINT", pa.string(): "STRING", pa.binary(): "BINARY"}
_WIDE = "spark.sql.execution.arrow.useLargeVarTypes"
_NARROW = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
"""What sessions with wide offsets give, and the same with those that works take."""

_PATTERN = re.compile(r"([\\{}\[\]*?])")
"""What Spark takes for a pattern in the name of what is read."""

RUN_DIGITS = 32
"""So many hexadecimal digits tell the folder of a run from those of all others."""

READ_ROWS = 1 << 18
"""About how many rows come to the driver at a time."""


@dataclass(frozen=True, kw_only=True)
class SparkEngine:
    """Runs works on the executors of a Spark session.

    Parameters
    ----------
    spark
        The session, Spark 4: it is used as it is.
    working
        A folder that driver and executors can write, or an address that Spark and pyarrow reach
        under one name: rows of people are there while a run lasts, in a folder of this run alone.
    memory_mib
        The memory that counting in this process may take, in MiB.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> SparkEngine(spark=SimpleNamespace(version="3.5.1"), working="run")
    Traceback (most recent call last):
    ...
    graphveil.core.errors.UsageError: the session is Spark 3.5.1, which lacks ...
    """

    spark: Any
    working: str | Path | Address
    memory_mib: int = 1024

    def __post_init__(self) -> None:
        """Refuse a session of another version, and a place that cannot be one for rows.

        Raises `UsageError` where it is not Spark 4, or as of `working_place`.
        """
        working_place(self.working)
        release = tuple(int(part) for part in self.spark.version.split(".")[:2])
        if not OLDEST <= release < NEXT:
            raise UsageError(
                f"the session is Spark {self.spark.version}, which lacks features that a run "
                "needs. Use Spark 4."
            )

    @property
    def place(self) -> Place:
        """The place under which runs keep rows."""
        return working_place(self.working)

    @contextmanager
    def at(self, folder: Path, run: str) -> Iterator[SparkTables]:
        """Give the tables of one run, which are in a folder of its own under the working folder.

        Parameters
        ----------
        folder
            The private folder of the run in this process; the other folder is noted there.
        run
            What this run alone has.

        Returns
        -------
        ContextManager[SparkTables]
            The tables, for the length of the block.

        Raises
        ------
        ReleaseError
            Where the run has kept its rows in another place, or others can write into the folder.
        ResourceError
            Where the folder cannot be written.

        Warns
        -----
        StaleFilesWarning
            Where another run of this name has left its folder there.
        """
        name = f"{folder.name.lstrip('.')}-{run[:RUN_DIGITS]}"
        shared = shared_place(self.place / name, folder)
        list_stale_runs(shared)
        yield SparkTables(self.spark, shared, run)


def session() -> Any:
    """Return the Spark session of this process; one is started where there is none."""
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415  an extra
        from pyspark.sql import SparkSession  # noqa: PLC0415  an extra
    except ImportError as error:
        raise UsageError("pyspark is missing. Install graphveil[spark].") from error
    try:
        return SparkSession.builder.getOrCreate()
    except PySparkException as error:
        raise UsageError(
            f"Spark does not start: {first_line(error)}. Install Java 17 and set JAVA_HOME."
        ) from error


class SparkTables:
    """The tables of one run on Spark."""

    dialect: Dialect = "spark"
    apart = True

    def __init__(self, spark: Any, working: Place, run: str) -> None:
        self._spark = spark
        self._working = working
        self._run = run
        self._n_streams = 0

    def rows(self, source: Frame) -> Frame:
        """Return the rows of a DataFrame: they are read once, where they are kept first."""
        return source

    def select(self, query: Query, **rows: Frame) -> Frame:
        """Return what a query chooses."""
        if query.plain:
            return rows["rows"].select(*query.columns)
        return self._spark.sql(query.spelled(self.dialect), **rows)

    def ask(self, query: Query, **rows: Frame) -> Answer:
        """Return what a query answers."""
        with translated_errors("counting"):
            answer = self.select(query, **rows).limit(MOST_ANSWERS + 1).collect()
        if len(answer) > MOST_ANSWERS:
            raise RuntimeError(f"a query returned more than {MOST_ANSWERS} rows")
        return [tuple(row) for row in answer]

    def map(
        self, rows: Frame, work: Callable[[pa.RecordBatch], pa.RecordBatch], schema: pa.Schema
    ) -> Frame:
        """Return what a work makes of rows."""
        return rows.mapInArrow(_Batchwise(work), ddl(schema))

    def grouped(
        self,
        rows: Frame,
        by: str,
        n: int,
        work: Callable[[int, pa.Table], pa.Table],
        schema: pa.Schema,
    ) -> Frame:
        """Return what a work makes of groups of rows."""
        # Groups are numbered, so that a partition can hold some of them whole.
        together = -(-n // MOST_REDUCERS)
        # Older sessions: Spark hands over the groups itself, in the offsets that it expects.
        if not hasattr(rows, "repartitionById"):
            returned = wide if self._spark.conf.get(_WIDE, "false") == "true" else narrow
            worked = _in_group(by, work, returned)
            return rows.groupBy(by).applyInArrow(worked, ddl(schema))
        # Rows go to the partition of their group, and the work runs on every group of a partition.
        number = rows[by] if together == 1 else (rows[by] / together).cast("int")
        parted = rows.repartitionById(-(-n // together), number)
        return parted.mapInArrow(_Partitioned(by, work, schema), ddl(schema))

    def kept(self, rows: Frame, name: str, doing: str) -> Frame:
        """Return the same rows out of Parquet files; what a run that stopped has noted stays."""
        if not self._is_kept(name):
            with stage(doing), translated_errors(doing):
                rows.write.mode("overwrite").parquet(written_at(self._working / name))
            write_note(self._working, f"{name}.{NOTE}", self._note(name))
        return self.kept_as(name)

    def kept_as(self, name: str) -> Frame:
        """Return the rows that this run has kept under a name."""
        if not self._is_kept(name):
            raise gone(name, self._working)
        try:
            with translated_errors(f"reading {name}"):
                return self._spark.read.parquet(read_at(self._working / name))
        except ResourceError as error:
            if not any(said in str(error) for said in _NOTHING_THERE):
                raise
            raise gone(name, self._working) from error

    def _is_kept(self, name: str) -> bool:
        """Whether this run has kept rows under a name."""
        noted = note(self._working, f"{name}.{NOTE}")
        if noted is None:
            return False
        if noted != self._note(name):
            raise ReleaseError(
                f"{self._working} holds {name} of a different run, which are never published. "
                "Delete it, and start again."
            )
        return True

    def _note(self, name: str) -> bytes:
        return json.dumps({"of": name, "run": self._run}).encode()

    def batches(self, rows: Frame, by: str | None) -> Iterator[pa.RecordBatch]:
        """Yield rows to this process; in an order they are first written, and read in ranges."""
        # In no order: all rows come at once.
        if by is None:
            with translated_errors("reading rows"):
                table = narrow(rows.toArrow())
            yield from table.to_batches()
            return
        # In order: rows are stored first, and come in ranges of the column, sorted within each.
        self._n_streams += 1
        kept = self.kept(rows, f"stream-{self._n_streams:03d}", "writing rows in order")
        with translated_errors("counting"):
            [(n,)] = kept.selectExpr(f"coalesce(max({by}) + 1, 0)").collect()
        for start in range(0, n, READ_ROWS):
            within = kept.where((kept[by] >= start) & (kept[by] < start + READ_ROWS))
            with translated_errors("reading rows"):
                table = narrow(within.toArrow())
            yield from table.sort_by(by).combine_chunks().to_batches()


def ddl(schema: pa.Schema) -> str:
    """Return a schema as Spark spells it.

    >>> ddl(pa.schema([("user", pa.string()), ("items", pa.list_(pa.int64()))]))
    '`user` STRING, `items` ARRAY<BIGINT>'
    """
    return ", ".join(f"`{field.name}` {_spelled(field.type)}" for field in schema)


def _spelled(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"ARRAY<{_spelled(kind.value_type)}>"
    return _SPELLED[kind]


def written_at(path: Place) -> str:
    """Return a folder or an address as Spark takes it to write there, whatever its name.

    Nothing is escaped: what looks so is a name of its own to Spark, in another place.

    >>> written_at(Path("/mnt/our run"))
    'file:///mnt/our run'
    """
    if isinstance(path, Address):
        return str(path)
    return f"file:///{path.absolute().as_posix().lstrip('/')}"


def read_at(path: Place) -> str:
    r"""Return a file, folder or address as Spark takes it to read, whatever its name.

    >>> print(read_at(Path("/mnt/run [2]")))
    file:///mnt/run \[2\]
    """
    return _PATTERN.sub(r"\\\1", written_at(path))


def narrow(rows: Rows) -> Rows:
    """Return rows whose text and bytes have offsets of 32 bits: some sessions give wider ones.

    >>> narrow(pa.table({"user": pa.array(["ann"], pa.large_string())}))["user"].type
    DataType(string)
    """
    return _cast(rows, _NARROW)


def wide(rows: Rows) -> Rows:
    """Return rows as a session gives and expects them whose offsets have 64 bits."""
    return _cast(rows, {small: large for large, small in _NARROW.items()})


def _cast(rows: Rows, types: dict[pa.DataType, pa.DataType]) -> Rows:
    def kind_of(kind: pa.DataType) -> pa.DataType:
        if pa.types.is_list(kind):
            return pa.list_(kind_of(kind.value_type))
        return types.get(kind, kind)

    schema = pa.schema([(field.name, kind_of(field.type)) for field in rows.schema])
    return rows if schema.types == rows.schema.types else rows.cast(schema)


@dataclass(frozen=True)
class _Batchwise:
    """A work on every batch of a partition."""

    work: Callable[[pa.RecordBatch], pa.RecordBatch]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield what the work makes of every batch that has rows."""
        for batch in batches:
            if batch.num_rows:
                yield self.work(narrow(batch))


def _in_group(
    by: str, work: Callable[[int, pa.Table], pa.Table], returned: Callable[[pa.Table], pa.Table]
) -> Callable[[pa.Table], pa.Table]:
    """Return a work on a group as Spark takes it: a function of one argument, with its types.

    What it makes must have the offsets that the session expects.
    """

    def worked(rows: pa.Table) -> pa.Table:
        whole = narrow(rows).combine_chunks()
        return returned(work(int(whole[by][0].as_py()), whole))

    return worked


@dataclass(frozen=True)
class _Partitioned:
    """A work on every group of a partition that holds groups whole."""

    by: str
    work: Callable[[int, pa.Table], pa.Table]
    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield what the work makes of every group, in their order."""
        # All rows of the partition, in this executor's memory.
        given = [narrow(batch) for batch in batches if batch.num_rows]
        if not given:
            return
        rows = pa.Table.from_batches(given).combine_chunks()
        del given
        numbers = rows[self.by].to_numpy()
        groups = sorted(set(numbers.tolist()))
        # The usual case of one group: the work gets the only reference, and can free rows early.
        if len(groups) == 1:
            handed = [rows]
            del rows, numbers  # the work alone holds them, and may let go of them
            yield from self.work(groups[0], handed.pop()).combine_chunks().to_batches()
            return
        # Several groups: one after the other.
        for group in groups:
            chosen = rows.filter(pa.array(numbers == group)).combine_chunks()
            yield from self.work(group, chosen).combine_chunks().to_batches()


PROBES = 8
"""How many tasks look at the executors: more tasks reach more of them, none is sure to reach
all."""

_PROBE, _FAILED = ".graphveil-probe-", "failed: "
_ON_DISKS = "spark.io.encryption.enabled"
_BETWEEN = "spark.network.crypto.enabled", "spark.ssl.rpc.enabled"
"""The settings of Spark that encrypt what it spills, and, one or the other, what it sends."""


def check_executors(
    spark: Any, working: Place | None = None, addresses: tuple[Address, ...] = ()
) -> None:
    """Refuse executors that would not do what this process would do."""
    here = equipment()
    if isinstance(working, Address):
        _check_writer(spark, working)
        addresses, working = (*addresses, working), None
    with ExitStack() as stack:
        probe = stack.enter_context(_probed(working))
        seen = tuple((one, stack.enter_context(one.probed())) for one in addresses)
        stack.enter_context(translated_errors("checking executors"))
        work = _Equipped(probe, seen)
        probes = spark.range(PROBES, numPartitions=PROBES).mapInArrow(work, "has STRING")
        answers = {row[0] for row in probes.distinct().collect()}
    failed = sorted(text for text in answers if text.startswith(_FAILED))
    if failed:
        raise ResourceError(
            f"executors {failed[0].removeprefix(_FAILED)}. Name a place that this process and "
            "the executors can write under the same name."
        )
    others = answers - {here}
    if others:
        raise UsageError(
            f"executors have {'; '.join(sorted(others))}, but this process has {here}. Install "
            "the same on both."
        )


def tell_of_spills(spark: Any) -> None:
    """Tell the owner where Spark keeps or sends rows of people without encryption.

    Nothing is said of settings that the session does not show.
    """
    try:
        alone = spark.conf.get("spark.master", "").startswith("local")
        on_disks, *between = (spark.conf.get(one, "false") for one in (_ON_DISKS, *_BETWEEN))
    except Exception as error:
        if not is_of_spark(error):
            raise
        return
    off = [] if on_disks == "true" else [(_ON_DISKS, "what Spark spills to its disks")]
    if not alone and "true" not in between:
        off.append((_BETWEEN[0], "what it sends between machines"))
    if off:
        settings, what = (" and ".join(words) for words in zip(*off, strict=True))
        warn(
            f"{what} contains rows of people, not encrypted by Spark. Start the session with "
            f"{settings}, unless nobody else can access these machines or their disks are "
            "encrypted",
            DiskSpillWarning,
        )


def _check_writer(spark: Any, working: Address) -> None:
    """Refuse an address that Spark's own writer does not reach, or where it is another one."""
    probe = working / f"{_PROBE}{secrets.token_hex(6)}"
    with translated_errors(f"writing to {working}"):
        spark.range(1).write.parquet(written_at(probe))
    try:
        if not probe.is_dir():
            raise ResourceError(
                f"this process cannot see what Spark writes to {working}. Name a place that "
                "both can access under the same name."
            )
    finally:
        with suppress(GraphveilError):
            probe.delete_all()


def equipment() -> str:
    """Return what decides on the bytes that a work makes: versions, and the architecture."""
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    libraries = ", ".join(f"{name} {version(name)}" for name in ("pyarrow", "numpy", "numba"))
    return f"graphveil {__version__}, {python}, {libraries}, {platform.machine()}"


@contextmanager
def _probed(working: Path | None) -> Iterator[str | None]:
    """Give a folder under a working folder, as a run makes it, for executors to write."""
    if working is None:
        yield None
        return
    try:
        working.mkdir(parents=True, exist_ok=True)
        name = tempfile.mkdtemp(prefix=_PROBE, dir=working.absolute())
    except OSError as error:
        raise ResourceError(
            f"this process cannot write {working} ({error.strerror}). Choose a different place."
        ) from error
    try:
        yield name
    finally:
        shutil.rmtree(name, ignore_errors=True)


@dataclass(frozen=True)
class _Equipped:
    """Says what an executor has, or why it does not share the places of the driver's."""

    probe: str | None = None
    seen: tuple[tuple[Address, str], ...] = ()

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one row for a partition."""
        for _ in batches:
            pass
        failed = None if self.probe is None else _not_shared(Path(self.probe))
        for address, name in self.seen:
            failed = failed or _not_shared_at(address, name)
        yield pa.RecordBatch.from_arrays([[failed or equipment()]], names=["has"])


def _not_shared_at(address: Address, name: str) -> str | None:
    """Return why this process does not share an address; None where it does."""
    try:
        if not (address / name).is_file():
            return f"{_FAILED}cannot see what this process writes to {address}"
        address.probe()
    except GraphveilError as error:
        return f"{_FAILED}have no shared place: {str(error).partition('. ')[0]}"
    return None


def _not_shared(probe: Path) -> str | None:
    """Return why this process does not share a folder; None where it does."""
    if not probe.is_dir():
        return f"{_FAILED}cannot see what this process writes to {probe.parent}"
    try:
        tempfile.mkdtemp(dir=probe)
    except OSError as error:
        return (
            f"{_FAILED}cannot write to what this process creates in {probe.parent} "
            f"({error.strerror})"
        )
    return None
