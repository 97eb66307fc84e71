"""Conditions on noise: with which chances cells were published, and the parts of epsilon."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import ClassVar

from graphveil.claims.condition import Condition
from graphveil.claims.epsilon import LARGEST_EPSILON
from graphveil.errors import ParameterError

_WHOLE = re.compile(r"0|[1-9][0-9]{0,39}")
_EXACT = re.compile(r"[1-9][0-9]{0,999}(/[1-9][0-9]{0,999})?")

_ROUND = re.compile(r"0|[1-9][0-9]{0,2}0{0,25}")
"""A whole number with at most three significant digits."""

_MOST_CLASSES = 1000


class CellFlips(Condition, frozen=True, kw_only=True, tag="cell-flips"):
    """Every cell is published as 1 with one of two chances, whatever the other cells are.

    A cell is a pair of nodes, or of a user and a feature. It holds what was released under the
    budget, and what follows from it, so that receivers can take the noise out of counts. Numbers
    are decimal text: they exceed what readers of JSON keep.

    Parameters
    ----------
    cells
        The number of cells.
    epsilon_cells
        The part of epsilon that one cell has, at most 40: a whole number or a fraction in lowest
        terms.
    T0, T1
        A cell of 0 is published as 1 with probability T0 / 2^64, a cell of 1 with T1 / 2^64.
    noisy_count
        The noisy number of ones that the chances were computed from; None where they were not.

    Examples
    --------
    >>> flips = CellFlips(cells="6", epsilon_cells="2", T0="2198909137867134464",
    ...                   T1="16247834935842417152")
    >>> print(flips.sentence)
    A cell of 0 is published as 1 with probability 0.119203, a cell of 1 with probability 0.880797.
    """

    FULL: ClassVar[int] = 1 << 64

    cells: str
    epsilon_cells: str
    T0: str
    T1: str
    noisy_count: str | None = None

    def __post_init__(self) -> None:
        """Check that every number is one."""
        for name in ("cells", "T0", "T1", "noisy_count"):
            text = getattr(self, name)
            if text is not None and not _WHOLE.fullmatch(text):
                raise ParameterError(f"{name}={text!r} is no whole number. Give its digits.")
        _check_part(self.epsilon_cells)
        if not 0 <= int(self.T0) <= int(self.T1) <= self.FULL:
            raise ParameterError(
                f"T0={self.T0} and T1={self.T1} are no chances: 0 <= T0 <= T1 <= 2^64."
            )

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        zero, one = (int(text) / self.FULL for text in (self.T0, self.T1))
        return (
            f"A cell of 0 is published as 1 with probability {zero:.6g}, a cell of 1 with "
            f"probability {one:.6g}."
        )


class TopMFlips(CellFlips, frozen=True, kw_only=True, tag="top-m-flips"):
    """As `CellFlips`, with the chances that the thresholds of the Top-m Filter give.

    Examples
    --------
    >>> flips = TopMFlips(cells="6", epsilon_cells="2", T0="1", T1="2", noisy_count="2")
    >>> flips.sentence.partition(":")[0]
    'By the thresholds of the Top-m Filter'
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        said = super().sentence
        return f"By the thresholds of the Top-m Filter: {said[0].lower()}{said[1:]}"


class BlockFlips(Condition, frozen=True, kw_only=True, tag="block-flips"):
    """Every cell is published with one of two chances that follow from the classes of its nodes.

    It holds what was released under the budget, or follows from it; that it does, no file shows.
    Of classes a and b the prior, in units of 2^-64, is x_a x_b / (1 + x_a x_b) times their
    groups' factor, rounded down, from 1 to 0.999 of 2^64; the chances of a cell are those that
    publish most ones under it. Weights and factors have three significant digits at most: chances
    need no more, and more could hold a message.

    Parameters
    ----------
    cells, epsilon_cells, noisy_count
        As in `CellFlips`.
    sizes
        How many nodes a class has.
    weights
        x of every class, times 10^12: whole numbers.
    groups
        The group of every class, from 0 on, in order; none where there are no factors.
    factors
        The factor of every pair of groups g <= h, row by row, times 10^12: whole numbers.

    Examples
    --------
    >>> flips = BlockFlips(cells="6", epsilon_cells="2", noisy_count="3", sizes=(4,),
    ...                    weights=("1000000000000",))
    >>> flips.sentence.partition(",")[0]
    'A pair of nodes is published with chances that follow from 1 class of nodes'
    """

    FULL: ClassVar[int] = 1 << 64
    UNIT: ClassVar[int] = 10**12

    cells: str
    epsilon_cells: str
    noisy_count: str | None
    sizes: tuple[int, ...]
    weights: tuple[str, ...]
    groups: tuple[int, ...] = ()
    factors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that every number is one, and that there are as many as belong together."""
        count = () if self.noisy_count is None else (self.noisy_count,)
        for text in (self.cells, *count):
            if not _WHOLE.fullmatch(text):
                raise ParameterError(f"{text!r} is no whole number. Give its digits.")
        for text in (*self.weights, *self.factors):
            if not _ROUND.fullmatch(text):
                raise ParameterError(
                    f"{text!r} is no whole number with at most 3 significant digits. Round it."
                )
        _check_part(self.epsilon_cells)
        groups = max(self.groups, default=-1) + 1
        if not (
            1 <= len(self.sizes) == len(self.weights) <= _MOST_CLASSES
            and len(self.groups) in {0, len(self.sizes)}
            and min(self.sizes) >= 1
            and _are_in_order(self.groups)
            and len(self.factors) == groups * (groups + 1) // 2
        ):
            raise ParameterError(
                f"{len(self.sizes)} sizes, {len(self.weights)} weights, {len(self.groups)} groups "
                f"and {len(self.factors)} factors do not belong together."
            )

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        classes = "1 class" if len(self.sizes) == 1 else f"{len(self.sizes)} classes"
        return (
            f"A pair of nodes is published with chances that follow from {classes} of nodes, which "
            "follow from noisy counts."
        )


class DegreesAlone(Condition, frozen=True, kw_only=True, tag="degrees-alone"):
    """Edges were drawn from noisy degrees alone: no edge of the original was looked at.

    Each pair of nodes was published with odds that are a product of a number of each of both.

    Examples
    --------
    >>> DegreesAlone().sentence.partition(":")[0]
    'Pairs of nodes were published with chances that follow from noisy degrees alone'
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            "Pairs of nodes were published with chances that follow from noisy degrees alone: as "
            "many edges of the original are among them as these numbers make likely."
        )


class ExactSize(Condition, frozen=True, kw_only=True, tag="exact-size"):
    """After the draw, cells were added or removed evenly until exactly so many were published.

    Which, was decided without a look at the original. The chances that `CellFlips` states are those
    before.

    Parameters
    ----------
    size
        How many edges or entries were published: a whole number.

    Examples
    --------
    >>> ExactSize(size="12").sentence
    'After the draw, edges or entries were added or removed evenly until exactly 12 were there.'
    """

    size: str

    def __post_init__(self) -> None:
        """Check that it is a number."""
        if not _WHOLE.fullmatch(self.size):
            raise ParameterError(f"size={self.size!r} is no whole number. Give its digits.")

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            "After the draw, edges or entries were added or removed evenly until exactly "
            f"{self.size} were there."
        )


def _are_in_order(groups: tuple[int, ...]) -> bool:
    """Whether groups are numbered from 0 on as they come, each as long as it lasts."""
    return all(
        after in {before, before + 1} for before, after in zip((0, *groups), groups, strict=False)
    )


def _check_part(epsilon: str) -> None:
    """Check a part of epsilon: a fraction in lowest terms, above 0 and not too large."""
    if not _EXACT.fullmatch(epsilon) or str(Fraction(epsilon)) != epsilon:
        raise ParameterError(f"epsilon_cells={epsilon!r} is no fraction in lowest terms above 0.")
    if Fraction(epsilon) > LARGEST_EPSILON:
        raise ParameterError(f"epsilon_cells={epsilon} is above {LARGEST_EPSILON}. Give less.")
