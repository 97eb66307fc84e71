"""The verb sweep: methods over a grid of parameters, a trial release and its figures a point."""

from __future__ import annotations

import dataclasses
import math
import pickle
import secrets
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from graphveil import io
from graphveil.attacks.registry import ATTACKS
from graphveil.claims import guarantees
from graphveil.core.bounds import FALSE, KEPT, RISK
from graphveil.core.errors import (
    GraphveilError,
    GraphveilWarning,
    InfeasibleError,
    ParameterError,
    ResourceError,
    UsageError,
)
from graphveil.core.hints import Message, one_of, option
from graphveil.core.parameters import separate_names
from graphveil.core.progress import shown, stage
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row
from graphveil.core.text import counted
from graphveil.data import Bipartite, Data, Table
from graphveil.data.kinds import (
    CONTAINERS,
    Container,
    as_container,
    compared_kind,
    kind_of,
    released_kind,
)
from graphveil.engines.processes import available_cores
from graphveil.evaluate.measuring import SYNONYMS, spelled_out
from graphveil.evaluate.metrics.registry import METRICS
from graphveil.io.formats import recorded
from graphveil.io.reading_report import ReadingReport, warn_of_dropped
from graphveil.methods.base import Anonymizer
from graphveil.release import Release, digest_of
from graphveil.release.files import format_that_came_in
from graphveil.release.options import RunOptions
from graphveil.verbs.advise.trials import class_of, shares_of
from graphveil.verbs.attack import attack_release
from graphveil.verbs.evaluate import evaluate_release
from graphveil.verbs.sweep.folder import (
    TABLE,
    begun,
    clear,
    keep_result,
    locked,
    prepare,
    read_plan,
    release_folder,
    results_of,
)
from graphveil.verbs.sweep.grid import (
    SEED_BITS,
    Grid,
    Plan,
    Point,
    Result,
    Status,
    methods_of,
    points_of,
)
from graphveil.verbs.sweep.points import write_table
from graphveil.verbs.sweep.results import Sweep
from graphveil.verbs.sweep.running import TaskResult, as_trial, over_processes

STRENGTH, COST = "strength", "cost"
"""The questions of the rows that come from the method itself."""

NOT_NAMED = "not run by default: it takes long"
"""Why an attack was omitted, without a time that differs from run to run."""

NOT_FINITE = "it is not finite"


class Task(NamedTuple):
    """A point with the method that runs it."""

    point: Point
    method: Anonymizer[Any]


@dataclass(frozen=True, kw_only=True)
class PointRun:
    """Runs points of one plan on one input; it can be pickled."""

    folder: Path
    plan: Plan
    data: Data

    def __call__(self, task: Task) -> Result:
        """Run a point, write its release and then its result, and return the result."""
        clear(self.folder, task.point)
        started, used = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphveilWarning)
            result = self._result(task)
        result = msgspec.structs.replace(
            result, seconds=time.perf_counter() - started, cpu_seconds=time.process_time() - used
        )
        keep_result(self.folder, task.point, result)
        return result

    def _result(self, task: Task) -> Result:
        point, method = task
        try:
            method.check(self.data)
            release = as_trial(method.anonymize(self.data, seed=point.seed))
        except InfeasibleError as error:
            return _without_a_release(point, "infeasible", error)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  one point that fails ends no sweep
            return _without_a_release(point, "failed", error)
        folder = release_folder(self.folder, point)
        form, reading = self.plan.format, self.plan.reading
        release.published(RunOptions(out=folder, format=form), reading, trial=True)
        try:
            rows = [*_own_rows(folder.name, method, release), *self._measured(folder, method)]
        except (MemoryError, OSError):
            raise
        except Exception as error:  # noqa: BLE001  as above
            clear(self.folder, point)
            return _without_a_release(point, "failed", error)
        return Result(
            number=point.number,
            status="finished",
            promise=release.guarantee.sentence,
            rows=[_steady(row).as_dict() for row in rows],
        )

    def _measured(self, folder: Path, method: Anonymizer[Any]) -> Iterator[Row]:
        """Yield what `evaluate` and `attack` say of the release folder, at the sweep's seed."""
        released = released_kind(type(self.data), method.accepts[0])
        plan = self.plan
        metrics = fitting(plan.metrics, metrics_of(released))
        attacks = fitting(plan.attacks, attacks_of(released))
        if metrics is None or metrics:
            kept = evaluate_release(folder, self.data, metrics=metrics, seed=plan.measuring_seed)
            yield from (*kept, *kept.missing)
        if attacks is None or attacks:
            found = attack_release(folder, self.data, attacks=attacks, seed=plan.measuring_seed)
            yield from (*found, *found.missing)


def fitting(asked: Sequence[str] | None, known: Sequence[str]) -> list[str] | None:
    """Return which of the names that were asked for fit; None where none was named.

    >>> fitting(["a", "b"], ["b", "c"]), fitting(None, ["b"]), fitting([], ["b"])
    (['b'], None, [])
    """
    return None if asked is None else [name for name in asked if name in known]


def metrics_of(kind: Container) -> list[str]:
    """Return the names of the metrics that read a kind of data."""
    return [metric.name for metric in METRICS.values() if metric.kind in _read_as(kind)]


def attacks_of(kind: Container) -> list[str]:
    """Return the names of the attacks that read a kind of data."""
    return [attack.name for attack in ATTACKS.values() if _read_as(kind) & {*attack.kinds}]


def _read_as(kind: Container) -> set[Container]:
    """Return what data is read as: tables also as their features, networks as their edges."""
    return {kind, compared_kind(kind), *([Bipartite] if kind is Table else [])}


def _without_a_release(point: Point, status: Status, error: Exception) -> Result:
    if isinstance(error, GraphveilError):
        reason = error.message.flags
    else:
        reason = f"this is a bug in graphveil: {type(error).__name__}: {error}"
    return Result(number=point.number, status=status, reason=" ".join(reason.split()))


def _steady(row: Row) -> Row:
    """Return a row that is the same in every run and in every file: JSON has no infinity."""
    if row.value is not None and not math.isfinite(row.value):
        return dataclasses.replace(row, value=None, low=None, high=None, reason=NOT_FINITE)
    if row.seconds is not None:
        return dataclasses.replace(row, reason=NOT_NAMED, seconds=None)
    return row


def _own_rows(name: str, method: Anonymizer[Any], release: Release[Any]) -> Iterator[Row]:
    """Yield strength, kept, false, risk and cost: what the run itself says."""
    kept, false = shares_of(release.cost)
    size = class_of(release.guarantee)
    strength = _strength(method.guarantee)
    own: list[tuple[str, str, float | None, str, str]] = [
        (STRENGTH, *strength, "higher is better" if strength[0] == "k" else "lower is better"),
        (KEPT, "", kept, "share", "higher is better"),
        (FALSE, "", false, "share", "lower is better"),
        (RISK, "", 1 / size if size else None, "share", "lower is better"),
    ]
    for part, value in release.cost.items():
        unit = "share" if part.endswith("share") else "count"
        own.append((COST, part.replace("_", " "), value, unit, "for comparison"))
    names = ("question", "part", "value", "unit", "direction")
    for values in own:
        row: dict[str, Any] = dict(zip(names, values, strict=True))
        if row["value"] is not None:
            yield Row(release=name, **row | {"value": float(row["value"])})


_OF_CLASSES = (
    guarantees.KAnonymity
    | guarantees.SmoothKAnonymity
    | guarantees.StructuralKAnonymity
    | guarantees.SuperNodeAnonymity
)


def _strength(promise: guarantees.AnyGuarantee) -> tuple[str, float | None, str]:
    """Return what a method guarantees in one number: a class size, a level or epsilon."""
    if isinstance(promise, guarantees.EdgeDP | guarantees.NodeDP):
        return "epsilon", promise.epsilon, "epsilon"
    if isinstance(promise, guarantees.AdaptiveAnonymity):
        return "k", promise.level, "people"
    if isinstance(promise, _OF_CLASSES):
        return "k", promise.k, "people"
    return "", None, ""


@dataclass(frozen=True, kw_only=True)
class Work:
    """The points of a sweep, and over how many processes those are run that are not finished."""

    run: PointRun
    methods: Sequence[Anonymizer[Any]]
    jobs: int
    inherited: int | None

    @cached_property
    def kept(self) -> dict[int, Result]:
        """What became of the points that were finished before."""
        prepare(self.run.folder)
        return results_of(self.run.folder, self.run.plan)

    @cached_property
    def tasks(self) -> list[Task]:
        """The points that are not finished."""
        return [
            Task(point, method)
            for point, method in zip(self.run.plan.points, self.methods, strict=True)
            if point.number not in self.kept
        ]


def every_result(work: Work) -> dict[int, Result]:
    """Return what became of every point, in the order of the plan, once all are finished.

    What a point left that is not finished is removed.
    """
    folder, plan = work.run.folder, work.run.plan
    results, lost = dict(work.kept), {}
    try:
        with stage("sweeping", total=len(plan.points)) as advance, closing(_ended(work)) as ends:
            advance(len(results))
            for ended in ends:
                point = work.tasks[ended.task].point
                if ended.how == "lost":
                    lost[point.number] = str(ended.answer)
                else:
                    results[point.number] = _result(work.run, point, ended)
                advance(1)
    finally:
        results |= results_of(folder, plan)
        for task in work.tasks:
            if task.point.number not in results:
                with suppress(OSError):
                    clear(folder, task.point)
    missing = [point for point in plan.points if point.number not in results]
    if missing:
        raise ResourceError(_lost_words(missing, len(plan.points), lost))
    return {point.number: results[point.number] for point in plan.points}


def _ended(work: Work) -> Generator[TaskResult]:
    """Yield how every task ended: in this process where one is enough, else over several."""
    run, seconds = work.run, work.run.plan.cpu_seconds
    if work.jobs > 1 or seconds is not None:
        _check_importable(work.tasks)
        yield from over_processes(
            run, work.tasks, jobs=work.jobs, cpu_seconds=seconds, inherited=work.inherited
        )
        return
    for number, task in enumerate(work.tasks):
        try:
            with shown(lambda _name, _total: nullcontext(lambda _: None)):  # the bar stays
                result = run(task)
            yield TaskResult(number, "done", result)
        except MemoryError:
            yield TaskResult(number, "lost", "it ran out of memory")
        except (GraphveilError, OSError) as error:
            yield TaskResult(number, "raised", error)


def _check_importable(tasks: Sequence[Task]) -> None:
    """Refuse methods that worker processes cannot import."""
    for method in (task.method for task in tasks):
        name, where = type(method).__name__, "the script itself, which worker processes do not run"
        if type(method).__module__ != "__main__":
            try:
                pickle.dumps(method)
                continue
            except (pickle.PicklingError, AttributeError, TypeError):
                where = "a function or a notebook, where worker processes do not find it"
        raise UsageError(
            f"{name} is defined in {where}. Move it to a module, or use {option('jobs', 1)}."
        )


def _result(run: PointRun, point: Point, ended: TaskResult) -> Result:
    """Return the result of a task that is finished or out of time."""
    if ended.how == "raised":
        if isinstance(ended.answer, ResourceError):
            kept = "Finished points are kept: run the same sweep again."
            raise ResourceError(f"{ended.answer} {kept}") from ended.answer
        raise ended.answer
    if ended.how == "done":
        result: Result = ended.answer
        return result
    clear(run.folder, point)
    reason = f"it used more than {run.plan.cpu_seconds:g} s of CPU time"
    late = Result(number=point.number, status="out of time", reason=reason)
    keep_result(run.folder, point, late)
    return late


def _lost_words(missing: Sequence[Point], number: int, lost: dict[int, str]) -> str:
    first = missing[0]
    why = lost.get(first.number, "its process did not respond")
    return Message(
        f"{len(missing)} of {counted(number, 'point')} did not finish; the first is {first.words}: "
        f"{why}. All others are kept: run the same sweep again, perhaps with {option('jobs', 1)}."
    ).text


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """How a sweep measures, draws and runs; only `jobs` changes no figure."""

    # metrics, attacks: names of `METRICS` and `ATTACKS`. None for all that fit and need not be
    # asked for by name; an empty list for none
    metrics: Sequence[str] | None = None
    attacks: Sequence[str] | None = None
    repeats: int = 1
    seed: int | None = None  # None draws releases from entropy. A seed is a secret of the owner
    # the most processes; None for one a processor. With one, and without `seconds`, none is started
    jobs: int | None = None
    seconds: float | None = None  # the CPU time after which a point is given up; None for no limit

    def __post_init__(self) -> None:
        """Check the numbers, and spell presets of metrics out."""
        names = separate_names(self.metrics, SYNONYMS)
        object.__setattr__(self, "metrics", spelled_out(names))
        object.__setattr__(self, "attacks", separate_names(self.attacks))
        Randomness(seed=self.seed)
        if self.seed is not None and self.seed >> SEED_BITS:
            raise ParameterError(
                f"seed={self.seed} has more than {SEED_BITS} bits. Use a smaller one."
            )
        if self.jobs is not None and self.jobs < 1:
            raise ParameterError(f"jobs={self.jobs} is below 1. Give a number of processes >= 1.")
        if self.seconds is not None and not self.seconds > 0:
            raise ParameterError(
                f"seconds={self.seconds} is not above 0. Give a positive number of seconds."
            )


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
    which at most one is published: none warns of the others, and one whose guarantee no file shows
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

    Returns
    -------
    Sweep
        Every point with its rows, or with the reason why there is no release.

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
        metrics=metrics, attacks=attacks, repeats=repeats, seed=seed, jobs=jobs, seconds=seconds
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
    """Return what every point of a grid keeps and shows, of the data in a file."""
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
            if work.tasks or not (out / TABLE).is_file():
                write_table(done.rows, out / TABLE)
            return done
    except OSError as error:
        raise ResourceError(
            f"cannot write {out}: {error.strerror or error}. Finished work is kept: free some "
            "space, and run the same sweep again."
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
    """Refuse what no point could do, before any is run."""
    kind_of(data).check(data)
    for method in methods:
        if method.parameters().get("on_interrupt") == "best":
            raise UsageError(
                "an interrupted sweep runs the point again, so it makes no release of the best "
                f"result so far. Remove {option('on_interrupt')}."
            )
        try:
            method.check(data)
        except InfeasibleError:
            continue  # which is what its point will say
    kinds = [released_kind(type(data), method.accepts[0]) for method in methods]
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

    Returns
    -------
    Sweep
        Its points with their results.

    Raises
    ------
    ReleaseError
        Where it is not a sweep, or it is damaged.
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
            f"{path}: {missing} of {counted(len(plan.points), 'point')} are not finished. Run the "
            "same sweep again: it resumes where it stopped."
        )
    return Sweep(plan=plan, results=results, folder=path)
