"""Releases that an attacker makes of data like the original, in one process or in several."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import AttackInput
from graphveil.attacks.costs import run_again, seconds_of_one
from graphveil.errors import GraphveilError
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.progress import stage

T = TypeVar("T")
R = TypeVar("R")

SHADOWS = 24
"""How many releases an attacker makes, if not told otherwise."""

WORTH_PROCESSES = 10.0
"""What takes fewer seconds is done in the process that calls: others take as long to begin."""

SURELY_LONG = 20.0
"""A run of the method that took as many seconds is not timed again."""


class Half(NamedTuple):
    """A release to be made: which half of the targets it holds, and its seed."""

    inside: NDArray[np.bool_]
    seed: int


def halves_of(size: int, number: int, rng: np.random.Generator) -> list[Half]:
    """Return so many releases to be made, each of a random half of so many targets.

    Examples
    --------
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> [int(half.inside.sum()) for half in halves_of(5, 2, rng)]
    [2, 2]
    """
    halves = []
    for _ in range(number):
        inside = np.zeros(size, dtype=bool)
        inside[rng.permutation(size)[: size // 2]] = True
        halves.append(Half(inside, int(rng.integers(1 << 62))))
    return halves


def shadow_results(work: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
    """Return what the work gives for every task, in their order, whatever engine runs it.

    Parameters
    ----------
    work
        Makes a release and says what an attacker reads off it. The engine of the context runs it
        where it can be pickled and takes long.
    tasks
        What is different from one release to the next.

    Raises
    ------
    NotMeasuredError
        Where the method refuses the data.

    Examples
    --------
    >>> shadow_results(abs, [-1, 2])
    [1, 2]
    """
    results: list[R] = []
    try:
        with stage("running the method again", total=len(tasks)) as advance:
            for result in _results(work, tasks):
                results.append(result)
                advance(1)
    except NotMeasuredError:
        raise
    except GraphveilError as error:
        raise NotMeasuredError(str(error)) from error
    return results


def _results(work: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
    """Yield the results; those after the first, which may compile, say whether the rest is long."""
    spent = 0.0
    for number, task in enumerate(tasks):
        rest = tasks[number:]
        if number > 1 and spent * len(rest) > WORTH_PROCESSES and _portable(work):
            from graphveil.engines import current  # noqa: PLC0415  heavy, and few need it

            yield from current().map_chunks(work, rest)
            return
        started = time.process_time()
        yield work(task)
        spent = time.process_time() - started


def _portable(work: object) -> bool:
    try:
        pickle.dumps(work)
    except Exception:  # noqa: BLE001  pickling runs the code of what is pickled
        return False
    return True


def seconds_of_shadows(
    situation: AttackInput[Any], run: Callable[[], object], shadows: int, share: float
) -> float:
    """Return about how long it takes to make some releases.

    One is timed, but where the run that made the release took long: it is then taken for as long.

    Parameters
    ----------
    situation
        What the attack is computed from.
    run
        Makes one of them.
    shadows
        How many there are.
    share
        How long one takes, as a share of the run that made the release.
    """
    noted = run_again(situation)
    if situation.rerun is None or not noted:
        return 0.0
    return shadows * (noted * share if noted > SURELY_LONG else seconds_of_one(run))
