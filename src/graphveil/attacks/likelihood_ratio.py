"""Did a target take part? Likelihoods of scores, learned from releases with and without it.

After Carlini et al., *Membership inference attacks from first principles*, 2022: every target is in
a random half of the releases. In turn each release is the attacked one, and the others teach how
the target scores where it is in and where it is not.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from graphveil.attacks.attack import AttackFigure, AttackInput, run_again, seconds_of_one
from graphveil.attacks.roc_curve import Curve, Scored
from graphveil.core.errors import GraphveilError
from graphveil.core.progress import in_time, stage, worked
from graphveil.evaluate.comparison import Bools, Floats, Ints
from graphveil.evaluate.metric import NotMeasuredError, Sample

Columns = Sequence[int]

GUESS = 0.5
FALSE = (0.01, 0.001)
"""Shares of false alarms at which it is counted how many targets are found."""

FEWEST_RELEASES, PARTS = 8, 4
"""Releases, and parts of them: a part is attacked by the scores that tell most of the others."""

_SMALL, _LEAST_NOISE = 1e-9, 1e-6
"""What is taken for 0; and the least share of what varies that is taken for noise."""


T = TypeVar("T")
R = TypeVar("R")

SHADOWS = 24
"""How many releases an attacker makes by default."""

WORTH_PROCESSES = 10.0
"""What takes fewer seconds is done in the process that calls: others take as long to begin."""

SURELY_LONG = 20.0
"""A run of the method that took as many seconds is not timed again."""


class ShadowReleases(ABC):
    """Makes releases that hold a random half of some targets, and tells by them who takes part.

    A subclass says how targets are drawn and scored. Where it can be pickled, several processes
    make the releases.
    """

    choices: ClassVar[Sequence[Columns]]
    """Kinds of scores that can be used together."""
    words: ClassVar[tuple[str, str]]
    """What is asked, and what those who are found are a share of."""
    share_of_run: ClassVar[float] = 1.0
    """How long a release takes, as a share of the run that made the attacked one."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many there are of whom every release holds a half."""

    @abstractmethod
    def __call__(self, half: ShadowSplit) -> Floats:
        """Return the scores of a release, shape (targets, scores)."""

    def of_targets(self, inside: Bools) -> Bools:
        """Return which targets are in a half; all who can be in it are targets."""
        return inside

    def distinguished(
        self, number: int, rng: np.random.Generator
    ) -> tuple[list[AttackFigure], Floats]:
        """Return how well targets inside are distinguished from others, and the risk of each."""
        halves = halves_of(self.size, number, rng)
        scores = np.array(shadow_results(self, halves))
        shadows = ShadowScores(scores, np.array([self.of_targets(one.inside) for one in halves]))
        made = ratios(shadows, self.choices)
        figures = figures_of(shadows, made, self.words, rng)
        return figures, risks_of(made, shadows.inside)

    def seconds(self, situation: AttackInput[Any], number: int, rng: np.random.Generator) -> float:
        """Return about how long it takes to make so many releases."""
        half = halves_of(self.size, 1, rng)[0]
        noted = run_again(situation)
        if situation.rerun is None or not noted:
            return 0.0
        if noted > SURELY_LONG:
            return number * noted * self.share_of_run
        return number * seconds_of_one(lambda: self(half))


class ShadowSplit(NamedTuple):
    """A release to be made: which half of the targets it holds, and its seed."""

    inside: Bools
    seed: int


def halves_of(size: int, number: int, rng: np.random.Generator) -> list[ShadowSplit]:
    """Return so many releases to be made, each of a random half of so many targets.

    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> [int(half.inside.sum()) for half in halves_of(5, 2, rng)]
    [2, 2]
    """
    halves = []
    for _ in range(number):
        inside = np.zeros(size, dtype=bool)
        inside[rng.permutation(size)[: size // 2]] = True
        halves.append(ShadowSplit(inside, int(rng.integers(1 << 62))))
    return halves


def shadow_results(work: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
    """Return what the work gives for every task, in their order, whatever engine runs it."""
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
        started = worked()
        yield work(task)
        spent = worked() - started


def _portable(work: object) -> bool:
    try:
        pickle.dumps(work)
    except Exception:  # noqa: BLE001  pickling runs the code of what is pickled
        return False
    return True


class ShadowScores(NamedTuple):
    """What releases say of targets.

    `scores`: float64, shape (releases, targets, scores): several kinds of scores; `inside`: bool,
    shape (releases, targets): whether the target was in the data of the release.
    """

    scores: Floats
    inside: Bools


def ratios(shadows: ShadowScores, choices: Sequence[Columns]) -> Floats:
    """Return how likely every target is in every release, as a ratio's logarithm; NaN for no guess.

    Every fourth of the releases is attacked by those that tell most of the others.
    """
    made = np.full(shadows.inside.shape, np.nan)
    part = np.arange(len(made)) % PARTS
    for attacked in range(PARTS):
        others = part != attacked
        areas = [_area(shadows.scores[others][:, :, c], shadows.inside[others]) for c in choices]
        if not np.isfinite(areas).any():
            raise NotMeasuredError("too few releases contain some targets and lack others")
        best = choices[int(np.nanargmax(areas))]
        model = ShadowModel(shadows.scores[:, :, best], shadows.inside)
        for number in in_time(np.nonzero(~others)[0].tolist()):
            made[number] = model.ratio(number)
    return made


def _area(scores: Floats, inside: Bools) -> float:
    model = ShadowModel(scores, inside)
    made = np.array([model.ratio(number) for number in in_time(range(len(inside)))])
    scored = scored_of(made, inside)
    return Curve(scored).area() if np.unique(scored.positive).size > 1 else np.nan


class ShadowModel:
    """What releases teach of how targets score; of an attacked one it is not known whom it holds.

    A target's scores are normal where it is in, and where it is not, with one covariance for all
    targets. How much taking part adds is the mean of all targets where the target's own releases
    say little: the best linear estimate from the two (James and Stein, 1961).

    >>> inside = np.array([[True], [False], [True], [False], [True]])
    >>> scores = np.array([[[3.0]], [[0.0]], [[3.1]], [[0.1]], [[2.9]]])
    >>> model = ShadowModel(scores, inside)
    >>> [bool(model.ratio(one)[0] > 0) for one in range(5)]
    [True, False, True, False, True]
    """

    def __init__(self, scores: Floats, inside: Bools) -> None:
        """Add up what all releases say."""
        self._scores = scores - scores.mean(axis=0)
        self._inside = inside
        self._numbers = np.array([inside.sum(axis=0), (~inside).sum(axis=0)])
        self._sums = np.array(
            [np.einsum("rt,rtk->tk", some, self._scores) for some in (inside, ~inside)]
        )
        self._squares = np.einsum("rtk,rtl->tkl", self._scores, self._scores)
        self._least = _LEAST_NOISE * np.diag(self._scores.var(axis=(0, 1)))

    def ratio(self, attacked: int) -> Floats:
        """Return how likely every target is in one release, by what the others teach."""
        own, inside = self._scores[attacked], np.array([self._inside[attacked]])
        inside = np.concatenate([inside, ~inside])
        numbers = self._numbers - inside
        known = (numbers > 0).all(axis=0)
        made = np.full(known.size, np.nan)
        if not known.any():
            return made
        own, numbers = own[known], numbers[:, known, None]
        means = (self._sums[:, known] - inside[:, known, None] * own) / numbers
        squares = self._squares[known].sum(axis=0) - own.T @ own
        squares -= np.einsum("itk,itl->kl", numbers * means, means)
        noise = squares / max(int(numbers.sum()) - 2 * len(own), 1) + self._least
        middle, added = _shrunk(means, numbers, noise)
        inverse = np.linalg.pinv(noise, rcond=_SMALL, hermitian=True)
        made[known] = ((own - middle) @ inverse * added).sum(axis=1)
        return made


def _shrunk(means: Floats, numbers: Ints, noise: Floats) -> tuple[Floats, Floats]:
    """Return the middle between the two means of every target, and what taking part adds."""
    added = means[0] - means[1]
    typical = added.mean(axis=0)
    error = (1 / numbers).sum(axis=0)[:, :, None] * noise
    spread = (added - typical).T @ (added - typical) / max(len(added) - 1, 1) - error.mean(axis=0)
    values, vectors = np.linalg.eigh(spread)
    spread = (vectors * np.maximum(values, 0.0)) @ vectors.T
    trusted = spread @ np.linalg.pinv(spread + error, rcond=_SMALL, hermitian=True)
    added = typical + np.einsum("pij,pj->pi", trusted, added - typical)
    share = numbers[0] / numbers.sum(axis=0)
    overall = (means * numbers).sum(axis=0) / numbers.sum(axis=0)
    return overall + (0.5 - share) * added, added


def scored_of(made: Floats, inside: Bools) -> Scored:
    """Return what was guessed of targets, one target a person, where anything was."""
    releases, targets = np.nonzero(~np.isnan(made))
    return Scored(made[releases, targets], inside[releases, targets], targets)


def figures_of(
    shadows: ShadowScores, made: Floats, words: tuple[str, str], rng: np.random.Generator
) -> list[AttackFigure]:
    """Return how well targets are distinguished: by all releases, and by the attacked one alone."""
    asked, share = words
    alone = shadows.scores[:, :, 0] - shadows.scores[:, :, 0].mean(axis=1, keepdims=True)
    curve, plain = (Curve(scored_of(some, shadows.inside)) for some in (made, alone))
    area = "area under the curve"
    figures = [AttackFigure(asked, curve.area(), area, GUESS, sample=_sample_of(curve, len(made)))]
    for false in FALSE:
        part = f"{asked}, found at {100 * false:g}% false alarms"
        sample = curve.recall_sample(false, rng)
        figures.append(AttackFigure(part, curve.recall_at(false), share, false, sample=sample))
    part = f"{asked}, by one score of the release"
    figures.append(AttackFigure(part, plain.area(), area, GUESS, sample=plain.area_sample()))
    return figures


def _sample_of(curve: Curve, releases: int) -> Sample:
    """Return the interval around the area of ratios, each learned of all the other releases.

    Any two releases are attacked by what nearly the same releases teach, and each teaches how to
    attack the other. Nadeau and Bengio, *Inference for the generalization error*, 2003: the
    variance is as many times as large as 1/n + 1/(n - 1) is of 1/n. Where there is nothing to be
    learned the area of ratios is below a half on average, as a score that speaks for one group is
    missing in what is known of it (Airola et al., 2011, of areas of cross-validation). What is true
    is not below it: the interval reaches a half.
    """
    sample = curve.area_sample(times=1 + releases / (releases - 1))
    return sample if sample.high is None else sample._replace(high=max(sample.high, GUESS))


def risks_of(made: Floats, inside: Bools) -> Floats:
    """Return which share of targets outside everybody scores above where they are inside.

    >>> made = np.array([[3.0, 1.0], [0.0, 2.0]])
    >>> risks_of(made, np.array([[True, False], [False, True]])).tolist()
    [1.0, 1.0]
    """
    known = ~np.isnan(made)
    out = np.sort(made[known & ~inside])
    low, high = np.searchsorted(out, made, side="left"), np.searchsorted(out, made, side="right")
    above = np.where(known & inside, (low + high) / (2 * max(out.size, 1)), 0.0)
    numbers = np.count_nonzero(known & inside, axis=0)
    return np.asarray(above.sum(axis=0) / np.where(numbers, numbers, np.nan))
