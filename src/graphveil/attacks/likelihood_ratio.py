"""Is a target in the data? Likelihood ratios of scores, learned from releases with and without it.

After Carlini et al., *Membership inference attacks from first principles*, IEEE S&P 2022, section
IV (the online attack). What it needs from an attack is a `ShadowReleases`: how to make a release
that holds a random half of the targets, and the scores of all targets in it. `membership` uses it
for rows, `item-membership` for one item of a row, `tie-membership` for edges.

Steps: (1) make releases, each of data with a random half of the targets; (2) in turn each release
is the attacked one, and the others teach how each target scores inside and outside; (3) the
logarithm of the likelihood ratio is the attacker's answer for each target; (4) answers for targets
inside are compared with those outside: area under the curve, recall at few false alarms.

Departures from the paper: scores have several dimensions and one covariance for all targets; what
being inside adds is shrunk towards the mean of all targets (James and Stein), since each target has
only about a dozen releases of either kind; and which scores are used is chosen by the other three
quarters of the releases. Nothing that is learned of a release comes from that release (see the
decision record on what attacks count).

The baseline is an area of 1/2, and a recall equal to the false-positive rate: no score without the
release separates random halves. Cost: one run of the method per release, and releases times targets
times the square of the number of scores.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from graphveil.attacks.attack import AttackFigure, AttackInput, run_again, seconds_of_one
from graphveil.attacks.roc_curve import Curve, Scored
from graphveil.core.array_types import Floats, Ints
from graphveil.core.errors import GraphveilError
from graphveil.core.progress import in_time, stage, worked
from graphveil.evaluate.comparison import Bools
from graphveil.evaluate.metric import NotMeasuredError, Sample

Columns = Sequence[int]

GUESS = 0.5
"""What guessing reaches: targets are inside with a chance of one half."""
FALSE = (0.01, 0.001)
"""False-positive rates at which it is counted how many targets are found, as Carlini et al.
report."""

FEWEST_RELEASES, PARTS = 8, 4
"""With fewer releases than this nothing is measured: of a quarter that is attacked, the other three
quarters must hold targets and lack them. Releases are attacked in `PARTS` parts; for each part the
choice of scores is made by the others."""

_SMALL, _LEAST_NOISE = 1e-9, 1e-6
"""What counts as zero relative to the largest eigenvalue (`_SMALL`), and the least share of what
varies in a score that is taken for noise (`_LEAST_NOISE`): it keeps covariances of constant scores
invertible."""


T = TypeVar("T")
R = TypeVar("R")

SHADOWS = 24
"""How many releases an attacker makes by default: about twelve with and twelve without each target.
More would sharpen what is learned of each target and take proportionally longer."""

WORTH_PROCESSES = 10.0
"""Runs that take fewer seconds in all stay in this process: starting others takes about as long."""

SURELY_LONG = 20.0
"""If the noted run took as many seconds, forecasts use that and do not time another run."""


class ShadowReleases(ABC):
    """Makes releases that hold a random half of some targets, and distinguishes them by scores.

    A subclass says how targets are placed in the data and how they are scored. If it can be
    pickled, several processes make the releases.
    """

    choices: ClassVar[Sequence[Columns]]
    """Which columns of the scores are used together: one entry per choice; the releases choose."""
    words: ClassVar[tuple[str, str]]
    """The name of the figure, and what those who are found are a share of."""
    share_of_run: ClassVar[float] = 1.0
    """How long a release takes, as a share of the run that made the attacked one."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many things every release holds a random half of."""

    @abstractmethod
    def __call__(self, half: ShadowSplit) -> Floats:
        """Return the scores of a release, shape (targets, scores)."""

    def of_targets(self, inside: Bools) -> Bools:
        """Return which targets are in a half; all who can be in it are targets."""
        return inside

    def distinguished(
        self, number: int, rng: np.random.Generator
    ) -> tuple[list[AttackFigure], Floats]:
        """Return how well targets inside are distinguished from others, and the risk of each.

        Parameters
        ----------
        number : int
            How many releases are made.
        rng : numpy.random.Generator
            Draws halves, seeds and resamples.

        Returns
        -------
        figures : list of AttackFigure
            The area under the curve, recall at the rates `FALSE`, and the area by one score alone.
        risks : float64, shape (targets,)
            See `risks_of`.
        """
        # Step 1: releases of random halves, in this process or in several; each is scored at once
        # and dropped.
        halves = halves_of(self.size, number, rng)
        scores = np.array(shadow_results(self, halves))
        shadows = ShadowScores(scores, np.array([self.of_targets(one.inside) for one in halves]))
        # Steps 2 and 3: a log-likelihood ratio for every release and target.
        log_ratios = ratios(shadows, self.choices)
        # Step 4: count.
        figures = figures_of(shadows, log_ratios, self.words, rng)
        return figures, risks_of(log_ratios, shadows.inside)

    def seconds(self, situation: AttackInput[Any], number: int, rng: np.random.Generator) -> float:
        """Return about how long it takes to make that many releases."""
        # A long run is forecast from the record; a short one is made and timed.
        half = halves_of(self.size, 1, rng)[0]
        noted = run_again(situation)
        if situation.rerun is None or not noted:
            return 0.0
        if noted > SURELY_LONG:
            return number * noted * self.share_of_run
        return number * seconds_of_one(lambda: self(half))


class ShadowSplit(NamedTuple):
    """A release to be made: `inside`, bool, shape (targets,): which it holds; and its seed."""

    inside: Bools
    seed: int


def halves_of(size: int, number: int, rng: np.random.Generator) -> list[ShadowSplit]:
    """Return releases to be made, each of a random half of the targets, under a seed of its own.

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
    """Return the log-likelihood ratio of every target in every release; NaN if nothing is learned.

    Parameters
    ----------
    shadows : ShadowScores
        Scores of all releases, and which targets they hold.
    choices : sequence of lists of int
        Columns of the scores that may be used together.

    Returns
    -------
    float64, shape (releases, targets)
        Positive for "inside".

    Raises
    ------
    NotMeasuredError
        If there are no targets that some releases hold and others lack.
    """
    log_ratios = np.full(shadows.inside.shape, np.nan)
    # Every fourth release is attacked with the scores that separate best in the other three
    # quarters: the choice of scores has not seen them.
    part = np.arange(len(log_ratios)) % PARTS
    for attacked in range(PARTS):
        others = part != attacked
        areas = [_area(shadows.scores[others][:, :, c], shadows.inside[others]) for c in choices]
        if not np.isfinite(areas).any():
            raise NotMeasuredError("too few releases contain some targets and lack others")
        best = choices[int(np.nanargmax(areas))]
        # The model itself leaves each attacked release aside, so it may read all others.
        model = ShadowModel(shadows.scores[:, :, best], shadows.inside)
        for number in in_time(np.nonzero(~others)[0].tolist()):
            log_ratios[number] = model.ratio(number)
    return log_ratios


def _area(scores: Floats, inside: Bools) -> float:
    model = ShadowModel(scores, inside)
    log_ratios = np.array([model.ratio(number) for number in in_time(range(len(inside)))])
    scored = scored_of(log_ratios, inside)
    return Curve(scored).area() if np.unique(scored.positive).size > 1 else np.nan


class ShadowModel:
    """What releases teach of how targets score, the attacked one excepted.

    A target's scores are normal where it is inside, and where it is not, with one covariance for
    all targets. How much being inside adds is the mean of all targets where the target's own
    releases say little: the best linear estimate from the two (James and Stein, 1961).

    >>> inside = np.array([[True], [False], [True], [False], [True]])
    >>> scores = np.array([[[3.0]], [[0.0]], [[3.1]], [[0.1]], [[2.9]]])
    >>> model = ShadowModel(scores, inside)
    >>> [bool(model.ratio(one)[0] > 0) for one in range(5)]
    [True, False, True, False, True]
    """

    def __init__(self, scores: Floats, inside: Bools) -> None:
        """Add up what all releases say."""
        # Sums of all releases; the attacked one is taken off again in `ratio`. Each target's mean
        # is removed first: only differences matter.
        self._scores = scores - scores.mean(axis=0)
        self._inside = inside
        self._numbers = np.array([inside.sum(axis=0), (~inside).sum(axis=0)])
        self._sums = np.array(
            [np.einsum("rt,rtk->tk", some, self._scores) for some in (inside, ~inside)]
        )
        self._squares = np.einsum("rtk,rtl->tkl", self._scores, self._scores)
        self._least = _LEAST_NOISE * np.diag(self._scores.var(axis=(0, 1)))

    def ratio(self, attacked: int) -> Floats:
        """Return the log-likelihood ratio of every target in one release, by what the others teach.

        float64, shape (targets,); NaN for targets that no other release holds, or none lacks.
        """
        # Take the attacked release off the counts: it is not known whom it holds. Row 0 is inside,
        # row 1 outside.
        own, inside = self._scores[attacked], np.array([self._inside[attacked]])
        inside = np.concatenate([inside, ~inside])
        numbers = self._numbers - inside
        known = (numbers > 0).all(axis=0)
        log_ratios = np.full(known.size, np.nan)
        if not known.any():
            return log_ratios
        own, numbers = own[known], numbers[:, known, None]
        # Means of both groups without it, and the pooled covariance of what is left around them.
        means = (self._sums[:, known] - inside[:, known, None] * own) / numbers
        squares = self._squares[known].sum(axis=0) - own.T @ own
        squares -= np.einsum("itk,itl->kl", numbers * means, means)
        noise = squares / max(int(numbers.sum()) - 2 * len(own), 1) + self._least
        # The ratio of two normals with one covariance is linear in the score: its distance from the
        # middle of both means, in units of the noise, along what being inside adds.
        middle, added = _shrunk(means, numbers, noise)
        inverse = np.linalg.pinv(noise, rcond=_SMALL, hermitian=True)
        log_ratios[known] = ((own - middle) @ inverse * added).sum(axis=1)
        return log_ratios


def _shrunk(means: Floats, numbers: Ints, noise: Floats) -> tuple[Floats, Floats]:
    """Return the middle between the two means of every target, and what taking part adds."""
    # What being inside adds, as the target's own releases have it, and on average over targets.
    added = means[0] - means[1]
    typical = added.mean(axis=0)
    # How uncertain the former is, and how much targets truly differ: the variance that is observed
    # less the one from noise, cut off at 0 in every direction.
    error = (1 / numbers).sum(axis=0)[:, :, None] * noise
    spread = (added - typical).T @ (added - typical) / max(len(added) - 1, 1) - error.mean(axis=0)
    values, vectors = np.linalg.eigh(spread)
    spread = (vectors * np.maximum(values, 0.0)) @ vectors.T
    # Weight between the two: own releases count as far as true differences exceed the noise.
    trusted = spread @ np.linalg.pinv(spread + error, rcond=_SMALL, hermitian=True)
    added = typical + np.einsum("pij,pj->pi", trusted, added - typical)
    # The middle of both shrunk means, from the overall mean and the number of releases of either
    # kind.
    share = numbers[0] / numbers.sum(axis=0)
    overall = (means * numbers).sum(axis=0) / numbers.sum(axis=0)
    return overall + (0.5 - share) * added, added


def scored_of(log_ratios: Floats, inside: Bools) -> Scored:
    """Return what was guessed of targets, one target a person, where anything was."""
    releases, targets = np.nonzero(~np.isnan(log_ratios))
    return Scored(log_ratios[releases, targets], inside[releases, targets], targets)


def figures_of(
    shadows: ShadowScores, log_ratios: Floats, words: tuple[str, str], rng: np.random.Generator
) -> list[AttackFigure]:
    """Return how well targets are distinguished: by all releases, and by the attacked one alone.

    The last figure shows what one score of the release gives without any other release.
    """
    # For comparison: the first score of the release alone, centered within each release.
    asked, share = words
    single_score = shadows.scores[:, :, 0] - shadows.scores[:, :, 0].mean(axis=1, keepdims=True)
    curve, plain = (Curve(scored_of(some, shadows.inside)) for some in (log_ratios, single_score))
    area = "area under the curve"
    figures = [
        AttackFigure(asked, curve.area(), area, GUESS, sample=_sample_of(curve, len(log_ratios)))
    ]
    # Recall at low false-positive rates, whose guess is the rate itself.
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


def risks_of(log_ratios: Floats, inside: Bools) -> Floats:
    """Return for every target the share of targets outside that it scores above while inside.

    >>> made = np.array([[3.0, 1.0], [0.0, 2.0]])
    >>> risks_of(made, np.array([[True, False], [False, True]])).tolist()
    [1.0, 1.0]
    """
    # How many of the ratios outside are below each ratio inside, equal ones counted as half.
    known = ~np.isnan(log_ratios)
    out = np.sort(log_ratios[known & ~inside])
    low, high = (
        np.searchsorted(out, log_ratios, side="left"),
        np.searchsorted(out, log_ratios, side="right"),
    )
    above = np.where(known & inside, (low + high) / (2 * max(out.size, 1)), 0.0)
    numbers = np.count_nonzero(known & inside, axis=0)
    return np.asarray(above.sum(axis=0) / np.where(numbers, numbers, np.nan))
