"""Releases that an attacker makes of data like the original, in one process or in several.

Whose record is whose, for someone who runs the method several times on the original table.

The cells that each run hides of a person say how likely the published run hid them; records are
given to people, one each, so that all of it is as likely as can be.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import AttackInput
from graphveil.attacks.costs import run_again, seconds_of_one
from graphveil.core.errors import GraphveilError
from graphveil.core.progress import stage
from graphveil.data.codes import SUPPRESSED
from graphveil.data.measures.matchings import NodePairs
from graphveil.evaluate.metric import NotMeasuredError

PRIOR = 0.5
"""Runs that hid a cell, and runs that did not, before the first one is seen."""

MOST_PEOPLE = 3_000
"""Up to so many people: the assignment looks at all of them with all records."""

_BLOCK = 1 << 16


def log_chances(
    pairs: NodePairs, records: NDArray[np.int32], runs: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return how likely every record that fits a person is theirs, as a logarithm.

    Parameters
    ----------
    pairs
        Records and the people whom they fit.
    records
        int32, shape (n, columns): the published cells.
    runs
        bool, shape (runs, n, columns): which cells every run hid of every person.

    Examples
    --------
    >>> pairs = NodePairs(np.array([0, 2, 4]), np.array([0, 1, 0, 1]))
    >>> hidden = np.array([[[True], [False]]])
    >>> made = log_chances(pairs, np.array([[-1], [3]]), hidden)
    >>> bool(made[0] > made[1]), bool(made[3] > made[2])
    (True, True)
    """
    hiding = (runs.sum(axis=0) + PRIOR) / (len(runs) + 2 * PRIOR)
    odds, shown = np.log(hiding) - np.log1p(-hiding), np.log1p(-hiding).sum(axis=1)
    hidden, owners = records == SUPPRESSED, pairs.records
    made: NDArray[np.float64] = shown[pairs.indices]
    for start in range(0, owners.size, _BLOCK):
        some = slice(start, start + _BLOCK)
        made[some] += (hidden[owners[some]] * odds[pairs.indices[some]]).sum(axis=1)
    return made


def given_records(
    pairs: NodePairs, chances: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the record that everybody is given, one each.

    Parameters
    ----------
    pairs
        Records and the people whom they fit; some full assignment fits.
    chances
        As `log_chances` gives them.
    rng
        Draws among equally likely ones: who stands where does not count.

    Examples
    --------
    >>> pairs = NodePairs(np.array([0, 2, 4]), np.array([0, 1, 0, 1]))
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> given_records(pairs, np.log([0.9, 0.8, 0.8, 0.1]), rng).tolist()
    [1, 0]
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  heavy: not for help

    order, shuffled = rng.permutation(pairs.n), rng.permutation(pairs.n)
    gain = np.full((pairs.n, pairs.n), chances.min() - pairs.n * (np.ptp(chances) + 1))
    gain[order[pairs.indices], shuffled[pairs.records]] = chances
    people, records = linear_sum_assignment(gain, maximize=True)
    given = np.empty(pairs.n, dtype=np.int64)
    given[np.argsort(order)[people]] = np.argsort(shuffled)[records]
    return given


def hits_of(given: NDArray[np.int64], records: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return how often everybody has the own record, equal ones being shared.

    Parameters
    ----------
    given
        int64, shape (n,): whose record everybody is given; that of person i is record i.
    records
        int32, shape (n, columns): the published cells.

    Examples
    --------
    >>> hits_of(np.array([1, 0, 2]), np.array([[-1], [-1], [3]])).tolist()
    [0.5, 0.5, 1.0]
    """
    alike, sizes = np.unique(records, axis=0, return_inverse=True, return_counts=True)[1:]
    hits: NDArray[np.float64] = (alike[given] == alike) / sizes[alike]
    return hits


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
            from graphveil.scale.engines import current  # noqa: PLC0415  heavy, and few need it

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
