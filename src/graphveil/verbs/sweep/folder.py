"""The folder of a sweep: its plan, its releases, what became of each point, and the table.

It belongs to its owner alone. A point is finished once its result is there, which is written last
and atomically. Whatever else an interrupted run left of a point is removed before it is run again.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from graphveil.claims.neighbors import check_outside
from graphveil.claims.record import private_folder
from graphveil.core.atomic import OWNER_ONLY, flush_names, whole_file, whole_folders
from graphveil.core.errors import ReleaseError, ResourceError, UsageError
from graphveil.core.hints import option
from graphveil.verbs.sweep.grid import SCHEMA, Plan, Point, Result

PLAN, TABLE, POINTS, RESULTS = "plan.json", "sweep.parquet", "points", "results"


def is_sweep(folder: Path) -> bool:
    """Whether a folder is that of a sweep.

    >>> is_sweep(Path("nowhere"))
    False
    """
    return (folder / PLAN).is_file()


if sys.platform != "win32":
    import fcntl

PATIENCE_SECONDS = 5.0
"""So long a sweep waits for workers of an earlier one to end."""

_COMPARED = {
    "kind": "data kind",
    "reading": "reading options",
    "format": "release format",
    "seed": "seed",
    "repeats": "repeats",
    "metrics": "metrics",
    "attacks": "attacks",
    "cpu_seconds": "CPU time per point",
}
"""What decides the figures of a sweep apart from its points, as messages call it."""


_DAMAGED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ELSEWHERE = "Use a different folder for the sweep."


def begun(folder: Path, plan: Plan) -> Plan:
    """Return the plan of a folder, which is made where there is none."""
    plan = msgspec.json.decode(msgspec.json.encode(plan), type=Plan)  # as it is read again
    if folder.name in {"", ".."}:
        raise ReleaseError(
            f"{folder} cannot be the name of a new folder. Choose one, such as sweep."
        )
    check_outside(folder, is_folder=True)
    if not os.path.lexists(folder):
        if not folder.resolve().parent.is_dir():
            raise ResourceError(f"{folder.resolve().parent} does not exist. Create it.")
        _make(folder, plan)
        return plan
    if not is_sweep(folder):
        raise ReleaseError(f"{folder} exists and is not a sweep. Choose a different name.")
    earlier = read_plan(folder)
    _check_same(folder, earlier, plan)
    return earlier


def _make(folder: Path, plan: Plan) -> None:
    try:
        with whole_folders({folder: 0o700}) as [part]:
            (part / PLAN).touch(mode=OWNER_ONLY)
            (part / PLAN).write_bytes(_encoded(plan))
    except FileExistsError as error:
        raise ReleaseError(
            f"{folder} was created in the meantime. Choose a different name."
        ) from error


def _encoded(value: Plan | Result) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def read_plan(folder: Path) -> Plan:
    """Return the plan of a sweep."""
    path = folder / PLAN
    try:
        plan = msgspec.json.decode(path.read_bytes(), type=Plan)
    except OSError as error:
        raise ReleaseError(
            f"{folder} is not a sweep: it has no {PLAN}. Give the folder of a sweep."
        ) from error
    except _DAMAGED as error:
        raise ReleaseError(f"{path} is damaged: {error}. {_ELSEWHERE}") from error
    if plan.schema != SCHEMA:
        written = f"{path} was written by a different version of graphveil"
        raise ReleaseError(f"{written}. {_ELSEWHERE}")
    return plan


def _check_same(folder: Path, earlier: Plan, plan: Plan) -> None:
    """Refuse to go on with other data or another plan: a table of two is of neither."""
    way_out = f"Choose a different {option('out')}, or use what it was started with"
    if earlier.input_sha256 != plan.input_sha256:
        raise UsageError(
            f"{folder} is a sweep of other data, or its input has changed since. {way_out}."
        )
    if earlier.tool != plan.tool:
        raise UsageError(
            f"{folder} was started by graphveil {earlier.tool}, but this is {plan.tool}. {way_out}."
        )
    for name, words in _COMPARED.items():
        before, now = getattr(earlier, name), getattr(plan, name)
        if before != now:
            was = "not given" if before is None else before
            raise UsageError(f"{folder} was started with {words} {was}, not {now}. {way_out}.")
    if earlier.points != plan.points:
        raise UsageError(
            f"{folder} is a sweep of {_difference(earlier, plan)}. {way_out}: no points can be "
            "added to a finished sweep."
        )


def _difference(earlier: Plan, plan: Plan) -> str:
    before, now = ([point.words for point in one.points] for one in (earlier, plan))
    missing = next((words for words in before if words not in now), None)
    if missing is not None:
        return f"{missing} as well, which is not requested now"
    more = next((words for words in now if words not in before), None)
    return (
        f"other points, which do not include {more}"
        if more is not None
        else ("the points in a different order")
    )


@contextmanager
def locked(folder: Path) -> Iterator[int | None]:
    """Hold a sweep for this run and the workers that inherit the number; of two, one is refused."""
    if sys.platform == "win32":
        yield None
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() >= until:
                    raise ResourceError(
                        f"another run is using {folder}. Try again when it has ended."
                    ) from error
                time.sleep(0.05)
            except OSError:  # file systems without locks
                break
        yield descriptor
    finally:
        os.close(descriptor)


def results_of(folder: Path, plan: Plan) -> dict[int, Result]:
    """Return what became of the points that are finished, by their numbers."""
    results = {}
    for point in plan.points:
        path = _result_file(folder, point)
        if not path.is_file():
            continue
        try:
            result = msgspec.json.decode(path.read_bytes(), type=Result)
        except _DAMAGED as error:
            say = "Delete it to run that point again."
            raise ReleaseError(f"{path} is damaged: {error}. {say}") from error
        results[point.number] = result
    return results


def keep_result(folder: Path, point: Point, result: Result) -> None:
    """Write what became of a point, whole and for its owner alone: now it is finished."""
    path = _result_file(folder, point)
    with whole_file(path, mode=OWNER_ONLY) as part, part.open("r+b") as file:
        file.write(_encoded(result))
        file.flush()
        os.fsync(file.fileno())
    flush_names(path.parent)


def prepare(folder: Path) -> None:
    """Make the folders for releases and results."""
    for name in (POINTS, RESULTS):
        (folder / name).mkdir(mode=0o700, exist_ok=True)


def release_folder(folder: Path, point: Point) -> Path:
    """Return where the release of a point lies."""
    return folder / POINTS / point.name


def clear(folder: Path, point: Point) -> None:
    """Remove what a run that ended early left of a point that is not finished."""
    public = release_folder(folder, point)
    own = {public.name, private_folder(public).name}
    for path in public.parent.iterdir():
        hidden = path.name.removeprefix(".").partition(".partial-")[0]
        if path.name in own or (path.name.startswith(".") and hidden in own):
            shutil.rmtree(path)


def _result_file(folder: Path, point: Point) -> Path:
    return folder / RESULTS / f"{point.number:04d}.json"
