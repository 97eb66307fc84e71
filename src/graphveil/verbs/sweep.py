"""The verb sweep: methods over a grid of parameters, a release and its figures a point."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphveil import io
from graphveil.anonymizer import Anonymizer
from graphveil.data import Data
from graphveil.data.kinds import CONTAINERS, encoded_kind, kind_of
from graphveil.data.objects import as_container
from graphveil.engines.processes import available_cores
from graphveil.errors import (
    InfeasibleError,
    ParameterError,
    ResourceError,
    UsageError,
    one_of,
    option,
)
from graphveil.io.options import recorded
from graphveil.io.report import ReadingReport, warn_of_dropped
from graphveil.progress import stage
from graphveil.randomness import Randomness
from graphveil.release import digest_of
from graphveil.release.files import format_that_came_in
from graphveil.sweeping.files import TABLE
from graphveil.sweeping.folder import (
    begun,
    locked,
    read_plan,
    results_of,
)
from graphveil.sweeping.grid import Grid, methods_of
from graphveil.sweeping.points import SEED_BITS, Plan, Point, points_of
from graphveil.sweeping.results import Sweep
from graphveil.sweeping.table import write_table
from graphveil.verbs.sweep_point import PointRun, attacks_of, metrics_of
from graphveil.verbs.sweep_run import Work, every_result


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """How a sweep measures, draws and runs; only `jobs` changes no figure.

    Parameters
    ----------
    metrics, attacks
        Names of `METRICS` and `ATTACKS`. None for all that fit and need not be asked for by name;
        an empty list for none.
    repeats
        How many releases each combination of parameters has.
    seed
        None draws releases from entropy. A seed is a secret of the owner.
    jobs
        The most processes; None for one a processor. With one, and without `seconds`, none is
        started.
    seconds
        The CPU time after which a point is given up; None for no limit.
    """

    metrics: Sequence[str] | None = None
    attacks: Sequence[str] | None = None
    repeats: int = 1
    seed: int | None = None
    jobs: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        Randomness(seed=self.seed)
        if self.seed is not None and self.seed >> SEED_BITS:
            raise ParameterError(f"seed={self.seed} has more than {SEED_BITS} bits. Give fewer.")
        if self.jobs is not None and self.jobs < 1:
            raise ParameterError(f"jobs={self.jobs} is below 1. Give a number of processes.")
        if self.seconds is not None and not self.seconds > 0:
            raise ParameterError(f"seconds={self.seconds} is not above 0. Give a number of them.")


def sweep(  # noqa: PLR0913  one call says all of a sweep
    methods: Sequence[Anonymizer[Any]] | Anonymizer[Any] | Grid,
    data: Any,
    *,
    metrics: Sequence[str] | None = None,
    attacks: Sequence[str] | None = None,
    repeats: int = 1,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
    seconds: float | None = None,
) -> Sweep:
    """Return what every point of a grid keeps and shows; each has figures, or its reason why not.

    A point is a release by one method with one combination of parameters. Releases are trials of
    which at most one is published: none warns of the others, and one whose promise no file shows
    (differential privacy) claims nothing. No ledger of epsilons is touched: make the release that
    is published anew, by its method and with your ledger.

    Parameters
    ----------
    methods
        Methods, or a grid such as ``{"k-degree": {"k": [2, 5, 10], "edits": ["add", "any"]}}``,
        where a list gives several values.
    data
        A `Graph`, `Bipartite` or `Table`, or an object of another library that holds one.
    metrics, attacks
        Names of `METRICS` and `ATTACKS`, each for the points whose data it reads. Where not given:
        all that need not be asked for by name. An empty list for none.
    repeats
        How many releases each combination has, each from a draw of its own.
    seed
        Makes the sweep repeatable; a secret of the owner. Without it, releases draw from entropy.
    jobs
        The most processes; as many as processors where not given. With one, and without `seconds`,
        no process is started.
    out
        A new folder, for its owner alone, which keeps every release; or that of a sweep of the same
        plan, which goes on where it ended. Where not given, releases are not kept.
    seconds
        The CPU time after which a point is given up (``out of time``).

    Raises
    ------
    ParameterError
        Where a method, parameter, metric or attack is unknown or out of range.
    UsageError
        Where a method takes other data, or the folder is a sweep of other data or another plan.
    ResourceError
        Where the disk is full, or a process was ended from outside. What is finished is kept.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> grid = {"k-degree": {"k": [2, 9]}}
    >>> done = sweep(grid, graph, metrics=["edge-jaccard"], attacks=[], jobs=1, seed=1)
    >>> done.counts
    {'finished': 1, 'infeasible': 1}
    """
    options = SweepOptions(
        metrics=metrics,
        attacks=attacks,
        repeats=repeats,
        seed=seed,
        jobs=jobs,
        seconds=seconds,
    )
    container: Data = as_container(data, CONTAINERS, wanted_by="sweep")
    chosen = methods_of(methods)
    source = _Source(data=container, reading={}, format="csv")
    if out is not None:
        return _swept(chosen, source, Path(out), options)
    with tempfile.TemporaryDirectory(prefix="graphveil-") as scratch:
        done = _swept(chosen, source, Path(scratch, "sweep"), options)
        return Sweep(plan=done.plan, results=done.results)


def sweep_file(
    methods: Sequence[Anonymizer[Any]] | Grid,
    path: Path,
    out: Path,
    *,
    options: io.AnyOptions,
    run: SweepOptions,
    report: Callable[[ReadingReport], None] = warn_of_dropped,
    words: Sequence[str] = (),
) -> Sweep:
    """Return what every point of a grid keeps and shows, of the data in a file.

    Parameters
    ----------
    methods, out
        As in `sweep`.
    path, options
        The file, and how it is read.
    run
        How the sweep measures, draws and runs.
    report
        Gets what was dropped when the file was read.
    words
        The words by which a command reads the file: its name, and flags.

    Raises
    ------
    GraphveilError
        As `sweep`, and where the file cannot be read.
    """
    chosen = methods_of(methods)
    with stage(f"reading {path.name}"):
        data, dropped = io.load(path, options)
    report(dropped)
    source = _Source(
        data=data,
        reading={"kind": kind_of(data).name, **recorded(options)},
        format=format_that_came_in(path, options.format, kind_of(data).name),
        original=tuple(words) or (path.name,),
    )
    return _swept(chosen, source, out, run)


@dataclass(frozen=True, kw_only=True)
class _Source:
    """The data of a sweep, how it was read, the format of its releases, and words that read it."""

    data: Data
    reading: dict[str, Any]
    format: str
    original: tuple[str, ...] = ()


def _swept(
    methods: Sequence[Anonymizer[Any]], source: _Source, out: Path, options: SweepOptions
) -> Sweep:
    """Run what is not finished in a folder, and return all of it."""
    _check(methods, source.data, options)
    points = points_of(methods, repeats=options.repeats, seed=options.seed)
    try:
        plan = begun(out, _plan(points.points, source, options))
        with locked(out) as descriptor:
            work = Work(
                run=PointRun(folder=out, plan=plan, data=source.data),
                methods=points.methods,
                jobs=available_cores() if options.jobs is None else options.jobs,
                inherited=descriptor,
            )
            results = every_result(work)
            done = Sweep(plan=plan, results=results, folder=out)
            if work.is_new or not (out / TABLE).is_file():
                write_table(done.rows, out / TABLE)
            return done
    except OSError as error:
        raise ResourceError(
            f"{error.strerror or error}: {out} could not be written. What is finished is kept: "
            "free space, and run the same sweep again."
        ) from error


def _plan(points: Sequence[Point], source: _Source, options: SweepOptions) -> Plan:
    seed = options.seed
    return Plan(
        points=list(points),
        input_sha256=digest_of(source.data),
        kind=kind_of(source.data).name,
        repeats=options.repeats,
        seed=seed,
        measuring_seed=secrets.randbits(SEED_BITS) if seed is None else seed,
        metrics=None if options.metrics is None else list(options.metrics),
        attacks=None if options.attacks is None else list(options.attacks),
        cpu_seconds=options.seconds,
        reading=source.reading,
        format=source.format,
        original=list(source.original),
    )


def _check(methods: Sequence[Anonymizer[Any]], data: Data, options: SweepOptions) -> None:
    """Refuse what no point could do, before any is run.

    Raises
    ------
    GraphveilError
        Where a method takes other data, or nothing reads what a metric or attack is asked of.
    """
    kind_of(data).check(data)
    for method in methods:
        if method.parameters().get("on_interrupt") == "best":
            raise UsageError(
                "a sweep that is interrupted runs the point again, so no release of the best so "
                f"far is made. Leave {option('on_interrupt')} out."
            )
        try:
            method.check(data)
        except InfeasibleError:
            continue  # which is what its point will say
    kinds = [encoded_kind(type(data), method.accepts) for method in methods]
    asked = ((options.metrics, metrics_of, "metric"), (options.attacks, attacks_of, "attack"))
    for names, known_of, what in asked:
        known = {name: None for kind in kinds for name in known_of(kind)}
        for name in names or ():
            if name not in known:
                raise ParameterError(f"no {what} {name!r} reads this data. {one_of(name, known)}")


def read_sweep(folder: str | Path) -> Sweep:
    """Return a finished sweep from its folder.

    Parameters
    ----------
    folder
        The folder that `sweep` or ``graphveil sweep`` wrote.

    Raises
    ------
    ReleaseError
        Where it is no sweep, or it is damaged.
    UsageError
        Where some of its points are not finished.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> with TemporaryDirectory() as scratch:
    ...     out = Path(scratch, "sweep")
    ...     _ = sweep([gv.KDegree(k=2)], graph, metrics=[], attacks=[], jobs=1, out=out)
    ...     read_sweep(out).counts
    {'finished': 1}
    """
    path = Path(folder)
    plan = read_plan(path)
    results = results_of(path, plan)
    missing = len(plan.points) - len(results)
    if missing:
        raise UsageError(
            f"{path}: {missing} of {len(plan.points)} points are not finished. Run the same sweep "
            "again: it goes on where it ended."
        )
    return Sweep(plan=plan, results=results, folder=path)
