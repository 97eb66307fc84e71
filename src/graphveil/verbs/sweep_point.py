"""One point of a sweep: a release, written as a trial, with its figures."""

from __future__ import annotations

import dataclasses
import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from graphveil.advising.answers import shares_of
from graphveil.anonymizer import Anonymizer
from graphveil.attacks.costs import time_of
from graphveil.attacks.registry import ATTACKS
from graphveil.bounds import FALSE, KEPT, RISK
from graphveil.claims.guarantees import (
    AdaptiveAnonymity,
    AnyGuarantee,
    EdgeDP,
    KAnonymity,
    NodeDP,
    SmoothKAnonymity,
    StructuralKAnonymity,
)
from graphveil.data import Bipartite, Data, Table
from graphveil.data.kinds import Container, compared_kind, encoded_kind
from graphveil.errors import GraphveilError, GraphveilWarning, InfeasibleError
from graphveil.evaluate.metrics import METRICS
from graphveil.release import Release
from graphveil.release.publishing import WriteOptions
from graphveil.rows import Row
from graphveil.sweeping.folder import clear, keep_result, release_folder
from graphveil.sweeping.points import Plan, Point, Result, Status
from graphveil.sweeping.trials import as_trial
from graphveil.verbs.attack import attack_release
from graphveil.verbs.evaluate import evaluate_release

STRENGTH, COST = "strength", "cost"
"""The questions of the rows that come from the method itself."""

NOT_NAMED = "it takes long: it runs where it is asked for"
"""Why an attack was left out, without a time that differs from run to run."""

NOT_FINITE = "it is not finite"


class Task(NamedTuple):
    """A point with the method that runs it."""

    point: Point
    method: Anonymizer[Any]


@dataclass(frozen=True, kw_only=True)
class PointRun:
    """Runs points of one plan on one input; it can be pickled.

    Parameters
    ----------
    folder
        The sweep's.
    plan
        Its plan.
    data
        The input.
    """

    folder: Path
    plan: Plan
    data: Data

    def __call__(self, task: Task) -> Result:
        """Run a point, write its release and then its result, and return the result.

        Raises
        ------
        ResourceError, OSError
            Where the disk is full or cannot be written: the point is not finished then.
        """
        clear(self.folder, task.point)
        started, used = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphveilWarning)
            result = self._result(task)
        result = msgspec.structs.replace(
            result,
            seconds=time.perf_counter() - started,
            cpu_seconds=time.process_time() - used,
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
        options = WriteOptions(reading=self.plan.reading, trial=True)
        folder = release_folder(self.folder, point)
        release.published(folder, self.plan.format, options)
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
            rows=[dataclasses.asdict(_steady(row)) for row in rows],
        )

    def _measured(self, folder: Path, method: Anonymizer[Any]) -> Iterator[Row]:
        """Yield what `evaluate` and `attack` say of the release folder, at the sweep's seed."""
        released = encoded_kind(type(self.data), method.accepts)
        plan = self.plan
        metrics = fitting(plan.metrics, metrics_of(released))
        attacks = fitting(plan.attacks, attacks_of(released))
        for asked, verb in ((metrics, _evaluated), (attacks, _attacked)):
            if asked is None or asked:
                measured = verb(folder, self.data, asked, plan.measuring_seed)
                yield from (*measured, *measured.missing)


def _evaluated(folder: Path, data: Data, metrics: Sequence[str] | None, seed: int) -> Any:
    return evaluate_release(folder, data, metrics=metrics, seed=seed)


def _attacked(folder: Path, data: Data, attacks: Sequence[str] | None, seed: int) -> Any:
    return attack_release(folder, data, attacks=attacks, seed=seed)


def fitting(asked: Sequence[str] | None, known: Sequence[str]) -> list[str] | None:
    """Return which of the names that were asked for fit; None where none was named.

    Examples
    --------
    >>> fitting(["a", "b"], ["b", "c"]), fitting(None, ["b"]), fitting([], ["b"])
    (['b'], None, [])
    """
    return None if asked is None else [name for name in asked if name in known]


def metrics_of(kind: Container) -> list[str]:
    """Return the names of the metrics that read a kind of data: of networks their ties, too."""
    kinds = {kind, compared_kind(kind)}
    return [metric.name for metric in METRICS.values() if metric.kind in kinds]


def attacks_of(kind: Container) -> list[str]:
    """Return the names of the attacks that read a kind of data.

    Tables are read as their features, networks as their ties, too.
    """
    kinds = {kind, compared_kind(kind), *([Bipartite] if kind is Table else [])}
    return [attack.name for attack in ATTACKS.values() if kinds & {*attack.kinds}]


def _without_a_release(point: Point, status: Status, error: Exception) -> Result:
    if isinstance(error, GraphveilError):
        reason = error.message.flags
    else:
        reason = f"this is a bug of ours: {type(error).__name__}: {error}"
    return Result(number=point.number, status=status, reason=" ".join(reason.split()))


def _steady(row: Row) -> Row:
    """Return a row that is the same in every run and in every file: JSON has no infinity."""
    if row.value is not None and not math.isfinite(row.value):
        return dataclasses.replace(row, value=None, low=None, high=None, reason=NOT_FINITE)
    if row.reason is not None and time_of(row.reason) is not None:
        return dataclasses.replace(row, reason=NOT_NAMED)
    return row


def _own_rows(name: str, method: Anonymizer[Any], release: Release[Any]) -> Iterator[Row]:
    """Yield strength, kept, false, risk and cost: what the run itself says."""
    kept, false = shares_of(release.cost)
    size = class_of(release.guarantee)
    strength = _strength(method.guarantee)
    own = [
        (STRENGTH, *strength, "higher is better" if strength[0] == "k" else "lower is better"),
        (KEPT, "", kept, "share", "higher is better"),
        (FALSE, "", false, "share", "lower is better"),
        (RISK, "", 1 / size if size else None, "share", "lower is better"),
    ]
    for question, part, value, unit, direction in own:
        if value is not None:
            yield Row(
                release=name,
                question=question,
                part=part,
                value=float(value),
                unit=unit,
                direction=direction,
            )
    for part, value in release.cost.items():
        what = part.replace("_", " ")
        unit = "share" if part.endswith("share") else "count"
        yield Row(
            release=name,
            question=COST,
            part=what,
            value=float(value),
            unit=unit,
            direction="for comparison",
        )


def class_of(promise: AnyGuarantee) -> int | None:
    """Return the size of the smallest class that is promised to everybody; None without one.

    Examples
    --------
    >>> class_of(KAnonymity(k=5)), class_of(EdgeDP(epsilon=1.0))
    (5, None)
    """
    if isinstance(promise, StructuralKAnonymity) and promise.share < 1:
        return None
    if isinstance(promise, KAnonymity | SmoothKAnonymity | StructuralKAnonymity):
        return promise.k
    return None


def _strength(promise: AnyGuarantee) -> tuple[str, float | None, str]:
    """Return what a method promises in one number: a class size, a level or epsilon."""
    if isinstance(promise, EdgeDP | NodeDP):
        return "epsilon", promise.epsilon, "epsilon"
    if isinstance(promise, AdaptiveAnonymity):
        return "k", promise.level, "people"
    if isinstance(promise, KAnonymity | SmoothKAnonymity | StructuralKAnonymity):
        return "k", promise.k, "people"
    return "", None, ""
