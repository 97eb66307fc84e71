"""The verbs anonymize, which writes a release, and estimate, which says what a run will cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from graphveil import io
from graphveil.claims.ledger import Ledger
from graphveil.claims.manifest import MANIFEST, read_manifest
from graphveil.claims.record import private_folder, read_record
from graphveil.core.errors import InputError, UsageError
from graphveil.core.hints import Hint, option
from graphveil.core.parameters import flat_parameters
from graphveil.core.progress import stage
from graphveil.core.stated_parameters import concealed_parameters
from graphveil.core.storage import Address, Place, located, place_of
from graphveil.core.text import printable
from graphveil.data.kinds import KINDS, as_released, kind_of, released_kind
from graphveil.io.formats import from_record, options_of, recorded
from graphveil.io.reading_report import ReadingReport, warn_of_dropped
from graphveil.io.text.guessed_kind import columns_of
from graphveil.methods.base import Anonymizer
from graphveil.methods.registry import method_named
from graphveil.methods.roles import TableRoles
from graphveil.release import Release, digest_of, digests_of_origins, nesting_of, read_release
from graphveil.release.claiming import Method
from graphveil.release.files import check_names, format_that_came_in, release_format
from graphveil.release.options import RunOptions
from graphveil.release.pipeline import Made, Read, Source, released
from graphveil.release.publishing import check_place, local_folder

if TYPE_CHECKING:
    from graphveil.engines import LocalEngine
    from graphveil.scale.estimate import Estimate
    from graphveil.scale.run import RowsOfFrame

SMALL_BYTES = 1_000_000
"""Up to this size of the input one process runs all chunks, unless others are asked for."""


def anonymize(
    data: Any,
    method: str,
    *,
    seed: int | None = None,
    ledger: Ledger | None = None,
    **parameters: Any,
) -> Release[Any]:
    """Return a release of the data by this method with these parameters.

    Parameters
    ----------
    data
        A container that the method accepts, or an object of another library that holds it
        (NetworkX, igraph, SciPy, pandas, polars, DuckDB, Arrow).
    method
        A name of `METHODS`, as on the command line.
    seed
        None draws from the operating system's entropy. A seed is a secret of the owner.
    ledger
        Where epsilon is entered before anything is drawn, of a method under differential privacy.
    parameters
        As the method's class takes them, or as the command line does.

    Returns
    -------
    Release
        The data under new ids in a new order, with its guarantee.

    Raises
    ------
    ParameterError
        Where there is no such method, or a parameter is unknown, missing or out of range.
    UsageError
        Where the data is of another kind.
    InfeasibleError
        Where the data has too few rows.

    Warns
    -----
    GraphveilWarning
        What the owner should know before publishing.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> gv.anonymize(graph, "k-degree", k=2).guarantee.sentence
    'Every node of the release has the same degree as at least 1 other.'
    """
    return (
        method_named(method).from_parameters(parameters).anonymize(data, seed=seed, ledger=ledger)
    )


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What was chosen for a release, to be used again for another file, such as next year's.

    Parameters
    ----------
    method, parameters
        The method, and its parameters that are not the default ones.
    options
        How the file was read.
    columns
        The columns that a table had; empty for other data.
    source
        What holds these choices.
    ledger
        The file in which the release was entered, and its repetition will be; None without one.

    Examples
    --------
    >>> chosen = Choices(
    ...     method="k-degree",
    ...     parameters={"k": 2},
    ...     options=io.GraphOptions(),
    ...     columns=(),
    ...     source="friends-k2",
    ... )
    >>> chosen.flags["--k"], chosen.flags["--kind"]
    (['--k', '2'], ['--kind', 'graph'])
    """

    method: str
    parameters: Mapping[str, Any]
    options: io.AnyOptions
    columns: tuple[str, ...]
    source: str
    ledger: Path | None = None

    @property
    def reading(self) -> dict[str, Any]:
        """The options of the reader that are not the default ones."""
        plain = vars(type(self.options)())
        return {name: said for name, said in vars(self.options).items() if said != plain[name]}

    @property
    def flags(self) -> dict[str, list[str]]:
        """The words of the command line that make the same choices, by flag."""
        kind, read = io.kind_read(self.options), self.reading
        read.pop("exact", None)  # what a method reads exactly it reads so by itself
        read["input_format"] = read.pop("format", None)
        said = {"kind": kind.name, **self.parameters, **read, "ledger": self.ledger}
        return {
            f"--{name.replace('_', '-')}": _words_of(name, value)
            for name, value in said.items()
            if value is not None
        }

    @property
    def shown(self) -> dict[str, list[str]]:
        """The flags as a terminal may show them: no values that are the owner's secret."""
        method = method_named(self.method).from_parameters(self.parameters)
        concealed = concealed_parameters(method)
        instead = {f"--{name}": _words_of(name, said) for name, said in concealed.items()}
        return {flag: instead.get(flag, words) for flag, words in self.flags.items()}

    @property
    def notes(self) -> list[str]:
        """Where files are looked for that the choices name by a relative path."""
        rules = self.parameters.get("levels") or ""
        rules = rules.values() if isinstance(rules, Mapping) else str(rules).split(";")
        listed = [str(rule).rpartition("=")[2] for rule in rules]
        named: list[tuple[str, Any]] = [("levels", one) for one in listed if one.endswith(".csv")]
        named += [(name, self.parameters.get(name)) for name in ("key", "people")]
        return [
            f"{name} {printable(file)}: read from {printable(Path(file).resolve())}"
            for name, file in named
            if file and not Path(file).is_absolute() and Path(file).is_file()
        ]

    def check_ledger(self) -> None:
        """Refuse to begin anew a ledger that is gone: what was spent before still counts.

        Raises `UsageError` where its file is not there.

        Examples
        --------
        >>> kept = Choices(
        ...     method="top-m-filter",
        ...     parameters={"epsilon": 1.0},
        ...     options=io.GraphOptions(),
        ...     columns=(),
        ...     source="friends-e1",
        ...     ledger=Path("no such file"),
        ... )
        >>> kept.check_ledger()
        Traceback (most recent call last):
            ...
        graphveil.core.errors.UsageError: friends-e1 was entered in the ledger no such file, ...
        """
        if self.ledger is not None and not self.ledger.is_file():
            raise UsageError(
                f"{self.source} was entered in the ledger {self.ledger}, which is not there. "
                f"Restore it, or use another one ({option('ledger', 'FILE')})."
            )

    def for_file(self, path: str | Path, said: Collection[str] = ()) -> Choices:
        r"""Return the choices for another file; a table with columns that are new is refused.

        Parameters
        ----------
        path
            The file.
        said
            Columns that further options name.

        Returns
        -------
        Choices
            The same, without dropped columns that the file no longer has.

        Raises
        ------
        UsageError
            Where there is a new column.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> chosen = Choices(
        ...     method="generalize",
        ...     parameters={"k": 2},
        ...     options=io.TableOptions(drop=("name", "phone")),
        ...     columns=("age", "name", "phone"),
        ...     source="people-k2",
        ... )
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "people-2027.csv")
        ...     _ = file.write_text("age,name\n31,ann\n47,bob\n")
        ...     chosen.for_file(file).options.drop
        ('name',)
        """
        options = self.options
        if not self.columns or not isinstance(options, io.TableOptions) or options.header == "no":
            return self
        names = columns_of(
            Path(path),
            options.format,
            header="yes",
            delimiter=options.delimiter,
            encoding=options.encoding,
        ).names
        new = [one for one in names if one not in self.columns and one not in said]
        if new:
            raise UsageError(
                f"{Path(path).name} has columns that {self.source} did not have: "
                f"{printable(', '.join(new))}. Set their role ({option('known')}, "
                f"{option('attach')}) or drop them ({option('drop')}); these options replace the "
                "earlier ones."
            )
        drop = tuple(name for name in _dropped(options.drop) if name in names)
        return replace(self, options=replace(options, drop=drop))

    def anonymize(self, path: str | Path, *, seed: int | None = None) -> Release[Any]:
        r"""Return a release of another file by the same choices, entered in the same ledger.

        Parameters
        ----------
        path
            The other file.
        seed
            As `graphveil.anonymize` takes it.

        Returns
        -------
        Release
            Its release.

        Raises
        ------
        UsageError
            Where the file has columns that these choices do not cover, or the ledger is gone.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> chosen = Choices(
        ...     method="k-degree",
        ...     parameters={"k": 2},
        ...     options=io.GraphOptions(),
        ...     columns=(),
        ...     source="friends-k2",
        ... )
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "friends-2027.csv")
        ...     _ = file.write_text("source,target\nann,bob\nbob,cyd\ncyd,dan\n")
        ...     chosen.anonymize(file).guarantee.k
        2
        """
        options = self.for_file(path).options
        self.check_ledger()
        method = method_named(self.method).from_parameters(self.parameters)
        if isinstance(options, io.TableOptions) and method.reads_exactly:
            options = replace(options, exact=True)
        ledger = None if self.ledger is None else Ledger(self.ledger)
        return method.anonymize(io.load(Path(path), options).data, seed=seed, ledger=ledger)


def choices_of(source: str | Path) -> Choices:
    r"""Return what was chosen for a release, or in the browser, to repeat it on another file.

    Parameters
    ----------
    source
        A release folder, with its private folder next to it; or the file in which
        `graphveil serve` keeps the choices of a file, ``.graphveil/FILE.json``.

    Returns
    -------
    Choices
        The method, its parameters, and how the file was read.

    Raises
    ------
    UsageError
        Where it holds no choices, or not all of them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import graphveil as gv
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "friends.csv")
    ...     _ = file.write_text("source,target\nann,bob\nbob,cyd\ncyd,dan\n")
    ...     run = RunOptions(out=Path(folder, "friends-k2"))
    ...     made = anonymize_file(gv.KDegree(k=2), file, run, options=io.GraphOptions())
    ...     choices_of(made).anonymize(file).guarantee.k
    2
    """
    place = Path(source)
    held = _of_release(place) if (place / MANIFEST).is_file() else _of_answers(place)
    method = method_named(held["method"])
    defaults = {item.name: item.default for item in flat_parameters(method)}
    parameters = {
        name: value
        for name, value in held["parameters"].items()
        if value is not None and value != defaults.get(name)
    }
    reading = held["reading"]
    options = from_record(options_of(KINDS[reading["kind"]])(), reading)
    columns = tuple(held["columns"]) if reading["kind"] == "table" else ()
    return Choices(
        method=held["method"],
        parameters=parameters,
        options=options,
        columns=columns,
        source=printable(place.name),
        ledger=held.get("ledger"),
    )


def _of_release(folder: Path) -> dict[str, Any]:
    manifest, private = read_manifest(folder), read_record(folder)
    if private is None or "kind" not in private.reading:
        raise UsageError(
            f"{folder.name}: no private folder next to it says how a file was read. Use a release "
            "that you made from a file, next to its private folder."
        )
    if private.unrecorded:
        raise UsageError(
            f"{folder.name} was made with {', '.join(private.unrecorded)} that no file records. "
            "Give all options anew."
        )
    parameters, reading = {**manifest.method.parameters, **private.withheld}, private.reading
    used = [reading.get("ids"), reading.get("person"), parameters.get("levels")]
    data = next(one for one in manifest.data.files if one.role == "data")
    dropped = _dropped(reading.get("drop", ()))
    columns = [*data.columns, *dropped, *reading.get("one_hot", ()), *used]
    return {
        "method": manifest.method.name,
        "parameters": parameters,
        "reading": reading,
        "columns": [] if reading.get("one_hot") else [str(one) for one in columns if one],
        "ledger": None if private.ledger is None else Path(private.ledger.file),
    }


def _of_answers(file: Path) -> dict[str, Any]:
    try:
        held: dict[str, Any] = json.loads(file.read_bytes())["release"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{printable(file)} holds no choices that can be repeated. Give a release folder, or "
            "the file in .graphveil of an input whose questions are answered."
        ) from error
    return held


def _dropped(said: Collection[str]) -> list[str]:
    """Return the names of dropped columns, of which each text may have several."""
    return [name for name in ",".join(said).split(",") if name]


def _words_of(name: str, value: Any) -> list[str]:
    """Return the words of an option on the command line."""
    if value is False:
        return [f"--no-{name.replace('_', '-')}"]
    if name in ("levels", "dates") and isinstance(value, str) and ";" in value:
        value = value.split(";")  # rules of several columns, as the record has them
    if isinstance(value, list | tuple):
        value = ",".join(value) if name in _JOINED else [*value]
    if isinstance(value, Mapping):
        value = dict(value)
    return [word for pair in Hint(name, value).pairs for word in pair]


_JOINED = (*TableRoles._fields, "drop", "kinds", "undirected")
"""Options whose values commas separate on the command line."""


def anonymize_file(
    method: Anonymizer[Any],
    path: Path,
    run: RunOptions,
    *,
    options: io.AnyOptions,
    report: Callable[[ReadingReport], None] = warn_of_dropped,
) -> Place:
    """Write the release of the data in a file, and return its folder or address.

    Nothing is written where anything fails, and what can be refused is refused before the work.
    """
    key_file = getattr(getattr(method, "key", None), "file", None)
    ledger = run.privacy_ledger
    _check_apart(run, key_file, None if ledger is None else ledger.path)
    known, attach, label = (getattr(method, role, None) for role in TableRoles._fields)
    if method.reads_exactly and isinstance(options, io.TableOptions):
        dropped = dict.fromkeys(_dropped(options.drop)) or None
        TableRoles.of(known, attach, label, dropped)  # refuses two roles
        options = replace(options, exact=True)
    return released(_source_of(path, options, run, report), method, run)


def _check_apart(run: RunOptions, *files: Path | None) -> None:
    """Refuse a key or a ledger that lies, or would lie, where the release is written."""
    private = run.private
    if private is None and isinstance(run.out, Path):
        private = private_folder(run.out)
    for file in filter(None, files):
        lies = located(file)
        for folder in (run.out, private):
            around = () if folder is None else located(folder)
            if around and lies[: len(around)] == around:
                raise UsageError(
                    f"{file} is in {folder}, which this run writes. Choose a different location "
                    "for it."
                )


def _source_of(
    path: Path, options: io.AnyOptions, run: RunOptions, report: Callable[[ReadingReport], None]
) -> Source:
    """Return the source that a file is, by where it shall stay."""
    if run.engine == "spark" or run.working is not None:
        return spark_rows(str(path), options, run)
    if not run.on_disk:
        return InMemory(path, options, run.jobs, report)
    if isinstance(options, io.GraphOptions):
        from graphveil.scale.ties.run import TiesOnDisk  # noqa: PLC0415  heavy, and few need it

        return TiesOnDisk(path, options)
    if isinstance(options, io.BipartiteOptions):
        return _rows_of(path, local_engine(path, run.jobs), options)
    raise UsageError(
        "--on-disk needs edges or user-item data, but this file was read as a table. Remove it, "
        "or set --kind."
    )


@dataclass(frozen=True)
class InMemory:
    """A file that is read whole: a `graphveil.release.pipeline.Source`."""

    path: Path
    options: io.AnyOptions
    jobs: int | None
    report: Callable[[ReadingReport], None]
    keeps: ClassVar[bool] = False

    def refusals(self, _: Method, run: RunOptions) -> Iterator[str]:
        """Yield parts, and refuse an address: one file is written."""
        local_folder(run.out)
        if run.parts:
            yield (
                "--parts is for user-item data on disk; a run in memory writes one file. Remove it."
            )

    @contextmanager
    def read(self, method: Method, run: RunOptions) -> Iterator[Read]:
        """Give the data, as what the method anonymizes."""
        options = self.options
        container = io.kind_read(options).container
        kind = kind_of(released_kind(container, method.accepts[0])).name
        if run.format is not None:
            release_format(run.format, kind)
        with self._engine(method):
            with stage(f"reading {self.path.name}"), self._asking(method):
                data, dropped = io.load(self.path, options)
                method.check(data)
            self.report(dropped)
            form = run.format or format_that_came_in(self.path, options.format, kind)
            people = as_released(data, method.accepts[0])
            check_names(people, release_format(form, kind))
            first = None if run.nested_in is None else read_release(run.nested_in)
            more: dict[str, Any] = {} if first is None else {"nested_in": first}
            more |= {} if run.privacy_ledger is None else {"ledger": run.privacy_ledger}

            def draw() -> Made:
                with stage(f"anonymizing with {method.name}"):
                    release = method.anonymize(people, seed=run.seed, **more)
                return Made(partial(release.publication, form), release.for_owner().spent)

            yield Read(
                frozenset((digest_of(people), *digests_of_origins(people))),
                draw,
                {"kind": kind_of(container).name, **recorded(options)},
                nesting_of(first),
            )

    @contextmanager
    def _asking(self, method: Method) -> Iterator[None]:
        """Add to what is asked of a table that is generalized what would be asked next."""
        try:
            yield
        except InputError as error:
            from graphveil.methods.generalize.method import Generalize  # noqa: PLC0415  as below

            if not error.asked or not isinstance(method, Generalize):
                raise
            from graphveil.verbs.describe import all_questions  # noqa: PLC0415  few need it

            given = {"levels": dict(method.levels or ()), "dates": dict(method.dates or ())}
            problems = all_questions(self.path, cast("Any", self.options), given, method.roles)
            raise InputError.asking(
                problems or error.asked, {**vars(self.options), **given}, error.where
            ) from error

    def _engine(self, method: Method) -> AbstractContextManager[object]:
        """Return what runs the chunks or blocks of this method, where it has any."""
        if not {"rows", "blocks"} & set(method.sources):
            return nullcontext()
        from graphveil.engines import using  # noqa: PLC0415  heavy, and few need it

        return using(local_engine(self.path, self.jobs))


def local_engine(path: Path, jobs: int | None) -> LocalEngine:
    """Return the engine of this machine for a file.

    A small file takes no further process: its start would last longer than its work.
    """
    from graphveil.engines import LocalEngine  # noqa: PLC0415  heavy, as above

    if jobs is None and path.is_file() and path.stat().st_size <= SMALL_BYTES:
        jobs = 1
    return LocalEngine(jobs=jobs)


def spark_rows(source: str, options: io.AnyOptions, run: RunOptions) -> RowsOfFrame:
    """Return rows of the Spark session of this process, which begins when they are read."""
    from graphveil.engines.spark import SparkEngine, session  # noqa: PLC0415  heavy, as above
    from graphveil.scale.run import RowsOfFrame  # noqa: PLC0415  as above

    if run.engine != "spark":
        raise UsageError("--working sets the folder in which Spark keeps rows. Add --engine spark.")
    place = run.working
    if place is None:
        raise UsageError(
            "--engine spark requires --working FOLDER, a folder that the driver and the "
            "executors can write to. Add it."
        )
    here = "--on-disk" if run.on_disk else "--jobs" if run.jobs is not None else ""
    if here:
        raise UsageError(
            f"{here} only applies to runs on this machine. Remove it, or --engine spark."
        )
    if not isinstance(options, io.BipartiteOptions):
        raise UsageError("--engine spark supports user-item data only. Remove it.")
    return RowsOfFrame(
        rows=source,
        options=options,
        place=place_of(place),
        connect=lambda: SparkEngine(spark=session(), working=place),
    )


def _rows_of(source: Any, engine: Any, reading: io.BipartiteOptions | None) -> Source:
    """Return rows as a source, which an engine of Spark or one of this machine reads."""
    from graphveil.engines import LocalEngine  # noqa: PLC0415  heavy, as above
    from graphveil.engines.spark import SparkEngine  # noqa: PLC0415  as above
    from graphveil.scale.run import RowsOfFile, RowsOfFrame  # noqa: PLC0415  as above

    options = reading or io.BipartiteOptions()
    if isinstance(engine, SparkEngine):
        return RowsOfFrame(rows=source, options=options, place=engine.place, connect=lambda: engine)
    if not isinstance(source, str | Path):
        raise no_file_here(source)
    return RowsOfFile(path=Path(source), options=options, engine=engine or LocalEngine())


def anonymize_rows(  # noqa: PLR0913  one argument for each flag of the command line
    method: Anonymizer[Any],
    source: Any,
    out: str | Path | Address,
    *,
    engine: Any = None,
    seed: int | None = None,
    format: str | None = None,  # noqa: A002  the word users know from the command line
    force: bool = False,
    linkage: bool = True,
    reading: io.BipartiteOptions | None = None,
    parts: bool | None = None,
    private: str | Path | Address | None = None,
) -> Place:
    r"""Write the release of rows on the disk or on a cluster; return its folder or address.

    The release is the same on every engine: with a seed, byte for byte.

    Parameters
    ----------
    method
        One that runs in chunks: `SmoothK` or `SuppressK`.
    source
        A file of users and items; with Spark a DataFrame, a file or folder of Parquet, or
        ``table:NAME`` of the session's catalog.
    out
        The release folder, on this machine; its private sibling is ``out.private``, unless
        `private` is given. Or an address, such as ``s3a://bucket/lists-k8``, of ``s3a``, ``gs``,
        ``abfss``, ``hdfs``, ``file`` or ``dbfs:/Volumes``: there it comes in parts, which
        executors of Spark write, and needs `private`.
    engine
        `graphveil.engines.LocalEngine` or `graphveil.engines.SparkEngine`; this machine
        without it.
    seed
        None draws from the operating system's entropy. A seed is a secret of the owner.
    format
        The format of the released data; without it the one that came in, with Spark Parquet.
    force, linkage
        As in `Release.write`.
    reading
        How the rows are read.
    parts
        Whether Parquet comes in parts of 1,048,576 users; without it where there are more.
    private
        The folder of the private record and the linkage, where they shall not be next to the
        release; the unfinished run, with the root of its randomness, is kept next to it. Where the
        release has an address, this may be one, too, and the unfinished run is kept in the current
        folder.

    Returns
    -------
    Path or Address
        The release folder, or its address.

    Raises
    ------
    UsageError
        Where the method, its parameters or the options need all data in memory, or folders are in
        one another.
    InputError
        Where the rows cannot be read.
    InfeasibleError
        Where there are fewer than k.
    ReleaseError
        Where the folder exists, or something is at the address, and is not replaced.
    ResourceError
        Where memory, disk, processes or executors fail: the same call goes on from there.

    Warns
    -----
    GraphveilWarning
        What the owner should know before publishing.

    Examples
    --------
    >>> import warnings
    >>> from tempfile import TemporaryDirectory
    >>> from graphveil.engines import LocalEngine
    >>> from graphveil.methods import SuppressK
    >>> from graphveil.release import read_release
    >>> with TemporaryDirectory() as folder, warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     path = Path(folder, "likes.csv")
    ...     _ = path.write_text("user,item\nann,tea\nbob,tea\ncyd,rye\ndan,rye\n")
    ...     out = anonymize_rows(
    ...         SuppressK(k=2), path, Path(folder, "out"), engine=LocalEngine(jobs=1)
    ...     )
    ...     read_release(out).data.n_entries
    4
    """
    run = RunOptions(
        out=place_of(out),
        format=format,
        force=force,
        linkage=linkage,
        seed=seed,
        parts=parts,
        private=None if private is None else place_of(private),
    )
    return released(_rows_of(source, engine, reading), method, run)


def no_file_here(source: Any) -> UsageError:
    """Return the error of rows that are not a file of this machine."""
    return UsageError(
        f"rows of type {type(source).__name__} are not a file on this machine. Give the path of "
        f"a file, or use {option('engine', 'spark')}."
    )


def estimate_rows(
    method: Anonymizer[Any],
    source: Any,
    *,
    out: str | Path | Address | None = None,
    engine: Any = None,
    reading: io.BipartiteOptions | None = None,
) -> Estimate:
    r"""Return what `anonymize_rows` will cost; nothing is written, and nothing published.

    The rows are read once, up to some 500,000 users are drawn, and some of their chunks are
    clustered in this process: some seconds for a million rows.

    Parameters
    ----------
    method, source, engine, reading
        As of `anonymize_rows`.
    out
        Where the release is to lie, as of `anonymize_rows`: at an address executors of Spark write
        its parts, and each needs the memory of one. None for a folder.

    Returns
    -------
    Estimate
        Seconds of CPU, bytes in folders, bytes shuffled and memory, each as a range, and what they
        depend on.

    Raises
    ------
    UsageError, InputError, InfeasibleError
        As `anonymize_rows`, where that is seen without reading all rows twice.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from graphveil.engines import LocalEngine
    >>> from graphveil.methods import SuppressK
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "likes.csv")
    ...     _ = path.write_text("user,item\nann,tea\nbob,tea\ncyd,rye\ndan,rye\n")
    ...     cost = estimate_rows(SuppressK(k=2), path, engine=LocalEngine(jobs=1))
    >>> cost.rows, cost.chunks, cost.cpu_seconds.low < cost.cpu_seconds.high
    (4, 1, True)
    """
    from graphveil.engines.spark import SparkEngine  # noqa: PLC0415  heavy, and few need it
    from graphveil.scale.estimate import estimate_of_file, estimate_of_frame  # noqa: PLC0415

    options = reading or io.BipartiteOptions()
    at_address = out is not None and isinstance(place_of(out), Address)
    if isinstance(engine, SparkEngine):
        return estimate_of_frame(method, source, options, engine, at_address=at_address)
    if not isinstance(source, str | Path):
        raise no_file_here(source)
    return estimate_of_file(method, Path(source), options, engine)


def estimate_file(
    method: Anonymizer[Any], path: Path, run: RunOptions, *, options: io.AnyOptions
) -> Estimate:
    """Return what a run of the command line will cost."""
    check_place(run.out, force=run.force, private=run.private)
    if run.nested_in is not None:
        raise UsageError("--nested-in requires all of the data in memory. Remove it.")
    if run.engine == "spark" or run.working is not None:
        rows = spark_rows(str(path), options, run)
        engine = rows.connect()
        return estimate_rows(method, str(path), out=run.out, engine=engine, reading=rows.options)
    if not run.on_disk:
        raise UsageError(
            "--estimate applies to runs on disk or on a cluster. Add --on-disk, or --engine spark."
        )
    if not isinstance(options, io.BipartiteOptions):
        raise UsageError("--estimate supports user-item data only. Remove it.")
    return estimate_rows(method, path, engine=local_engine(path, run.jobs), reading=options)
