"""Did a target take part? Likelihoods of scores, learned from releases with and without it.

After Carlini et al., *Membership inference attacks from first principles*, 2022: every target is in
a random half of the releases. In turn each release is the attacked one, and the others teach how
the target scores where it is in and where it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import AttackFigure
from graphveil.attacks.intervals import Curve, Scored
from graphveil.evaluate.metric import NotMeasuredError, Sample

Columns = Sequence[int]

GUESS = 0.5
FALSE = (0.01, 0.001)
"""Shares of false alarms at which it is counted how many targets are found."""

FEWEST_RELEASES, PARTS = 8, 4
"""Releases, and parts of them: a part is attacked by the scores that tell most of the others."""

_SMALL, _LEAST_NOISE = 1e-9, 1e-6
"""What is taken for 0; and the least share of what varies that is taken for noise."""


class ShadowScores(NamedTuple):
    """What releases say of targets.

    Parameters
    ----------
    scores
        float64, shape (releases, targets, scores): several kinds of scores.
    inside
        bool, shape (releases, targets): whether the target was in the data of the release.
    """

    scores: NDArray[np.float64]
    inside: NDArray[np.bool_]


def ratios(shadows: ShadowScores, choices: Sequence[Columns]) -> NDArray[np.float64]:
    """Return how likely every target is in every release, as a ratio's logarithm; NaN for no guess.

    Parameters
    ----------
    shadows
        The scores of targets, and where they are.
    choices
        Kinds of scores that can be used together. Every fourth of the releases is attacked by
        those that tell most of the others.

    Returns
    -------
    float64, shape (releases, targets): what a release says to who knows whom all others hold.

    Raises
    ------
    NotMeasuredError
        Where no part tells any target that is inside from one that is not.
    """
    made = np.full(shadows.inside.shape, np.nan)
    part = np.arange(len(made)) % PARTS
    for attacked in range(PARTS):
        others = part != attacked
        areas = [_area(shadows.scores[others][:, :, c], shadows.inside[others]) for c in choices]
        if not np.isfinite(areas).any():
            raise NotMeasuredError("too few releases hold some targets and lack others")
        best = choices[int(np.nanargmax(areas))]
        lesson = Lesson(shadows.scores[:, :, best], shadows.inside)
        for number in np.nonzero(~others)[0].tolist():
            made[number] = lesson.ratio(number)
    return made


def _area(scores: NDArray[np.float64], inside: NDArray[np.bool_]) -> float:
    lesson = Lesson(scores, inside)
    made = np.array([lesson.ratio(number) for number in range(len(inside))])
    scored = scored_of(made, inside)
    return Curve(scored).area() if np.unique(scored.positive).size > 1 else np.nan


class Lesson:
    """What releases teach of how targets score; of an attacked one it is not known whom it holds.

    Parameters
    ----------
    scores
        float64, shape (releases, targets, scores).
    inside
        bool, shape (releases, targets).

    Notes
    -----
    A target's scores are normal where it is in, and where it is not, with one covariance for all
    targets. How much taking part adds is the mean of all targets where the target's own releases
    say little: the best linear estimate from the two (James and Stein, 1961).

    Examples
    --------
    >>> inside = np.array([[True], [False], [True], [False], [True]])
    >>> scores = np.array([[[3.0]], [[0.0]], [[3.1]], [[0.1]], [[2.9]]])
    >>> lesson = Lesson(scores, inside)
    >>> [bool(lesson.ratio(one)[0] > 0) for one in range(5)]
    [True, False, True, False, True]
    """

    def __init__(self, scores: NDArray[np.float64], inside: NDArray[np.bool_]) -> None:
        """Add up what all releases say."""
        self._scores = scores - scores.mean(axis=0)
        self._inside = inside
        self._numbers = np.array([inside.sum(axis=0), (~inside).sum(axis=0)])
        self._sums = np.array(
            [np.einsum("rt,rtk->tk", some, self._scores) for some in (inside, ~inside)]
        )
        self._squares = np.einsum("rtk,rtl->tkl", self._scores, self._scores)
        self._least = _LEAST_NOISE * np.diag(self._scores.var(axis=(0, 1)))

    def ratio(self, attacked: int) -> NDArray[np.float64]:
        """Return how likely every target is in one release, by what the others teach.

        Parameters
        ----------
        attacked
            The release.

        Returns
        -------
        float64, shape (targets,): a ratio's logarithm; NaN for targets that all the others hold,
        or none.
        """
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


def _shrunk(
    means: NDArray[np.float64], numbers: NDArray[np.int64], noise: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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


def scored_of(made: NDArray[np.float64], inside: NDArray[np.bool_]) -> Scored:
    """Return what was guessed of targets, one target a person, where anything was.

    Parameters
    ----------
    made
        float64, shape (releases, targets): as `ratios` gives it.
    inside
        bool, of the same shape: what is true.

    Examples
    --------
    >>> scored_of(np.array([[0.5, np.nan]]), np.array([[True, False]])).person.tolist()
    [0]
    """
    releases, targets = np.nonzero(~np.isnan(made))
    return Scored(made[releases, targets], inside[releases, targets], targets)


def figures_of(
    shadows: ShadowScores,
    made: NDArray[np.float64],
    words: tuple[str, str],
    rng: np.random.Generator,
) -> list[AttackFigure]:
    """Return how well targets are told apart: by all releases, and by the attacked one alone.

    Parameters
    ----------
    shadows
        The scores of targets, of which the first one is that of a release alone.
    made
        What was guessed, as `ratios` gives it.
    words
        What is asked, and what those who are found are a share of.
    rng
        Draws the intervals.
    """
    asked, share = words
    alone = shadows.scores[:, :, 0] - shadows.scores[:, :, 0].mean(axis=1, keepdims=True)
    curve, plain = (Curve(scored_of(some, shadows.inside)) for some in (made, alone))
    area = "area under the curve"
    figures = [AttackFigure(asked, curve.area(), area, GUESS, sample=_sample_of(curve, len(made)))]
    for false in FALSE:
        part = f"{asked}, found at {100 * false:g} % false alarms"
        sample = curve.recall_sample(false, rng)
        figures.append(AttackFigure(part, curve.recall_at(false), share, false, sample=sample))
    part = f"{asked}, by one score of the release"
    figures.append(AttackFigure(part, plain.area(), area, GUESS, sample=plain.area_sample()))
    return figures


def _sample_of(curve: Curve, releases: int) -> Sample:
    """Return the interval around the area of ratios, each learned of all the other releases.

    Notes
    -----
    Any two releases are attacked by what nearly the same releases teach, and each teaches how to
    attack the other. Nadeau and Bengio, *Inference for the generalization error*, 2003: the
    variance is as many times as large as 1/n + 1/(n - 1) is of 1/n. Where there is nothing to be
    learned the area of ratios lies below a half on average, as a score that speaks for one group is
    missing in what is known of it (Airola et al., 2011, of areas of cross-validation). What is true
    is not below it: the interval reaches a half.
    """
    sample = curve.area_sample(times=1 + releases / (releases - 1))
    return sample if sample.high is None else sample._replace(high=max(sample.high, GUESS))


def risks_of(made: NDArray[np.float64], inside: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return which share of targets outside everybody scores above where they are inside.

    Parameters
    ----------
    made, inside
        As of `scored_of`.

    Returns
    -------
    float64, shape (targets,): ties are a half; NaN for targets that were never guessed inside.

    Examples
    --------
    >>> made = np.array([[3.0, 1.0], [0.0, 2.0]])
    >>> risks_of(made, np.array([[True, False], [False, True]])).tolist()
    [1.0, 1.0]
    """
    known = ~np.isnan(made)
    out = np.sort(made[known & ~inside])
    low, high = np.searchsorted(out, made, side="left"), np.searchsorted(out, made, side="right")
    above = np.where(known & inside, (low + high) / (2 * max(out.size, 1)), 0.0)
    numbers = np.count_nonzero(known & inside, axis=0)
    risks: NDArray[np.float64] = above.sum(axis=0) / np.where(numbers, numbers, np.nan)
    return risks
