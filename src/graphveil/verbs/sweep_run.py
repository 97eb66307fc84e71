"""The points of a sweep that are not finished: run in this process, or over several."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphveil.anonymizer import Anonymizer
from graphveil.errors import GraphveilError, Message, ResourceError, UsageError, option
from graphveil.progress import Advance, shown, stage
from graphveil.sweeping.folder import clear, keep_result, prepare, results_of
from graphveil.sweeping.points import Point, Result
from graphveil.sweeping.running import Ended, over_processes
from graphveil.verbs.sweep_point import PointRun, Task


@dataclass(frozen=True, kw_only=True)
class Work:
    """The points of a sweep, and over how many processes those are run that are not finished.

    Parameters
    ----------
    run
        Runs a point.
    methods
        The method of every point.
    jobs
        The most processes; with one, and without a limit of time, none is started.
    inherited
        A file that processes keep open as long as they live.
    """

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

    @property
    def is_new(self) -> bool:
        """Whether any point was not finished before."""
        return bool(self.tasks)


def every_result(work: Work) -> dict[int, Result]:
    """Return what became of every point, in the order of the plan, once all are finished.

    What a point left that is not finished is removed.

    Raises
    ------
    ResourceError
        Where the disk is full, or a process was ended from outside.
    """
    folder, plan = work.run.folder, work.run.plan
    results, lost = dict(work.kept), {}
    try:
        with (
            stage("sweeping", total=len(plan.points)) as advance,
            closing(_ended(work)) as ends,
        ):
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


def _ended(work: Work) -> Generator[Ended]:
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
            with shown(_silent):  # the sweep's own bar stays
                result = run(task)
            yield Ended(number, "done", result)
        except MemoryError:
            yield Ended(number, "lost", "it ran out of memory")
        except (GraphveilError, OSError) as error:
            yield Ended(number, "raised", error)


def _silent(name: str, total: int | None) -> AbstractContextManager[Advance]:
    """Show nothing of a stage."""
    del name, total
    return nullcontext(lambda _: None)


def _check_importable(tasks: Sequence[Task]) -> None:
    for task in tasks:
        if type(task.method).__module__ == "__main__":
            name = type(task.method).__name__
            raise UsageError(
                f"{name} is defined in the script itself, which processes do not run. Put it into "
                f"a module, or say {option('jobs', 1)}."
            )


def _result(run: PointRun, point: Point, ended: Ended) -> Result:
    """Return the result of a task that is finished or out of time.

    Raises
    ------
    GraphveilError, OSError
        What ended the task.
    """
    if ended.how == "raised":
        raise _with_a_way_out(ended.answer) from ended.answer
    if ended.how == "done":
        result: Result = ended.answer
        return result
    clear(run.folder, point)
    reason = f"it used more than {run.plan.cpu_seconds:g} s of CPU time"
    late = Result(number=point.number, status="out of time", reason=reason)
    keep_result(run.folder, point, late)
    return late


def _with_a_way_out(error: Exception) -> Exception:
    """Return an error of the machine with what to do about it."""
    if isinstance(error, ResourceError):
        what = error.message.text.partition(". Nothing was kept")[0].rstrip(".")
        return ResourceError(
            f"{what}. Finished points are kept: free space, and run the same sweep again."
        )
    return error


def _lost_words(missing: Sequence[Point], number: int, lost: dict[int, str]) -> str:
    first = missing[0]
    why = lost.get(first.number, "its process did not answer")
    return Message(
        f"{len(missing)} of {number} points did not end, the first {first.words}: {why}. All "
        f"others are kept: run the same sweep again, perhaps with {option('jobs', 1)}."
    ).text
