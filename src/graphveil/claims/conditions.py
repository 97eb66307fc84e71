"""What a release states in addition to its guarantee: typed values that can be verified.

A method names the conditions that hold by its construction, the manifest carries them, and the
checker has one entry for each type (`verify.registry`): it knows claims, not methods. If a
parameter of the method has the name of a field, it has the field's value.

Every field has one spelling for each value, checked when the value is made or read: text of
several spellings could carry a message. Conditions on noise carry epsilon exactly, as fractions
or decimal text: numbers of 64 bits exceed what readers of JSON keep.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import ParameterError
from graphveil.core.missing_words import UNKNOWN, plain
from graphveil.core.parameters import check_class_size, share_in
from graphveil.core.randomness import public_words
from graphveil.core.text import counted

_NUMBER_OF_VALUES = re.compile(r"[1-9][0-9]{0,8}")
"""A bound on distinct values: a whole number of at most nine digits, without leading zeros."""

_DECIMAL = re.compile(r"(0|[1-9][0-9]{0,8})(\.[0-9]{0,3}[1-9])?")
"""A number of at most four digits behind the point, in one spelling."""

_EACH_CLASS = "Each class of rows that are equal in the known columns"


class Condition(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """A further statement about a release, exact enough to be checked.

    A subclass has a tag, under which manifests store it, fields, and a `sentence`.
    """

    SAYS: ClassVar[str] = ""
    """Its sentence, where it has no figures."""

    without_seed: ClassVar[bool] = False
    """Whether a run with a seed omits it: what it says would tell a guessed seed."""

    asked_for: ClassVar[bool] = False
    """Whether the owner asked for it beyond the guarantee: it is said next to the guarantee."""

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return self.SAYS


# Groups, columns and cells of the released data.
class SameGroupCounts(Condition, frozen=True, kw_only=True, tag="same-group-counts"):
    """The numbers of edges inside and between groups are those of the original.

    Implied by `super-node-anonymity`.
    """

    SAYS: ClassVar[str] = (
        "The numbers of edges inside and between groups are those of the original."
    )


class SuppressionHistogram(Condition, frozen=True, kw_only=True, tag="stars-by-row"):
    """Pairs of a number of suppressed cells and how many rows of the table have as many.

    Parameters
    ----------
    rows
        Pairs (suppressed cells, rows with as many), in ascending order of cells.

    Examples
    --------
    >>> print(SuppressionHistogram(rows=((0, 2), (3, 1))).sentence)
    2 rows have no suppressed cell, 1 row has 3 suppressed cells.
    """

    rows: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        """Check that every number of cells stands once, in order, and with some rows."""
        # One spelling: every number of stars once, in order.
        stars = [cells for cells, _ in self.rows]
        numbers = [number for _, number in self.rows]
        if stars != sorted(set(stars)) or min((0, *stars)) < 0 or min((1, *numbers)) < 1:
            raise ParameterError(
                f"rows={self.rows} is not valid. Give pairs (suppressed cells, rows) in "
                "ascending order of cells, with at least 0 cells and 1 row each."
            )

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        clauses = [
            f"{number} {'row has' if number == 1 else 'rows have'} {cells or 'no'} suppressed "
            f"{'cells' if cells > 1 else 'cell'}"
            for cells, number in self.rows
        ]
        return f"{', '.join(clauses)}." if clauses else "There are no rows."


LEAST_NARROWED, MOST_NARROWED = 0.05, 0.5
"""The shares of hidden cells that attached columns may narrow without a question, and at all. On a
census (30,162 people, ages in tens) salary narrows 4.7% of the ages, an age with an error of one
year 7.5%, and a year of birth nearly all."""


def accepted_narrowing(share: float) -> str:
    """Return what the owner accepted that attached columns show, in one sentence.

    >>> accepted_narrowing(0.1)
    'The owner accepted that attached columns narrow up to 10% of the hidden values of a known \
column to one value, beyond chance.'
    """
    return (
        f"The owner accepted that attached columns narrow up to {100 * share:g}% of the hidden "
        "values of a known column to one value, beyond chance."
    )


class AttachedColumns(Condition, frozen=True, kw_only=True, tag="attached-columns"):
    """Columns that are published unchanged, outside the guarantee; `label` for tables only.

    Parameters
    ----------
    attach
        The attached columns.
    label
        Of a table: attached columns that are to be predicted; unset where there is none.
    may_narrow
        The share of the hidden cells of a known column that the owner lets these columns narrow to
        one value, beyond chance; unset for `LEAST_NARROWED`, up to which nobody is asked.

    Examples
    --------
    >>> print(AttachedColumns(attach=("town",)).sentence)
    Published unchanged, outside the guarantee: town. Nothing is guaranteed against an attacker \
who knows these values; combined with the rest they may single people out.
    """

    attach: tuple[str, ...]
    label: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    may_narrow: float | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Check that there is one, and none twice; and the range of the accepted share."""
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise ParameterError(
                f"attach={self.columns} is empty or names a column twice. Name each column once."
            )
        share = self.may_narrow
        if share is not msgspec.UNSET and not LEAST_NARROWED <= share <= MOST_NARROWED:
            raise ParameterError(
                f"may_narrow={share} is outside [{LEAST_NARROWED}, {MOST_NARROWED}]. Give a share "
                "of hidden cells."
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.attach, *(self.label or ()))

    @property
    def sentence(self) -> str:
        """The statement in one sentence, and what the owner accepted that these columns show."""
        share = self.may_narrow
        accepted = "" if share is msgspec.UNSET else f" {accepted_narrowing(share)}"
        return (
            f"Published unchanged, outside the guarantee: {', '.join(self.columns)}. Nothing is "
            "guaranteed against an attacker who knows these values; combined with the rest they "
            f"may single people out.{accepted}"
        )


class Generalized(Condition, frozen=True, kw_only=True, tag="generalized"):
    """Every published value of some columns is the row's own, a more general one, or ``*``.

    Of all columns, if none is named. Implied by `k-anonymity` and `adaptive-anonymity` of a table
    with roles.

    Parameters
    ----------
    columns
        The columns that it is about; empty for all of them.

    Examples
    --------
    >>> print(Generalized(columns=("age", "zip")).sentence)
    Every published value of age, zip is the row's own, a more general one that includes it, or `*`.
    """

    columns: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            f"Every published value{_of(self.columns)} is the row's own, a more general one that "
            "includes it, or `*`."
        )


class OwnersLevels(Condition, frozen=True, kw_only=True, tag="owners-levels"):
    """Some levels are from a file of the owner, who states what they include.

    A label that reads as an interval, a prefix or a date includes what is below it, as far as that
    reads as such, too. Stated if the description names a column with levels from a file.
    """

    SAYS: ClassVar[str] = (
        "Some levels are from a file of the owner. If the label of such a level is an interval, a "
        "prefix or a date, it shows which values the level includes. Otherwise, the owner states "
        "which values it includes, and nothing in the release shows whether that is right."
    )

    asked_for: ClassVar[bool] = True


class DifferentPeople(Condition, frozen=True, kw_only=True, tag="different-people"):
    """The rows of each class are of at least k different people, or households.

    A person may have several rows, in one class or in several. The files do not show whose a row
    is. Implied by `k-anonymity` of a table whose owner named the column of people or households.

    Parameters
    ----------
    k
        The fewest people or households of a class, at least 1.
    of
        ``people`` or ``households``.

    Examples
    --------
    >>> print(DifferentPeople(k=5, of="people").sentence)
    Each class of rows that are equal in the known columns has rows of at least 5 different people.
    """

    k: int
    of: Literal["people", "households"]

    def __post_init__(self) -> None:
        """Check the size."""
        check_class_size(self.k)

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return f"{_EACH_CLASS} has rows of at least {self.k} different {self.of}."


class Diverse(Condition, frozen=True, kw_only=True, tag="diverse"):
    """Every class of rows that are equal in the known columns has several values of another.

    It has at least as many different ones (`distinct`), or their entropy is at least the logarithm
    of `least` (`entropy`).

    Parameters
    ----------
    column
        An attached column.
    least
        The bound, a number above 1 as text: of values, or of equally frequent values with that
        entropy.
    measure
        ``distinct`` or ``entropy``.
    missing
        The words for a missing value, which are not values. A cell has such a word if it is one
        without case, blanks at its ends and characters without width, with composed accents (NFC).

    Notes
    -----
    Machanavajjhala et al., l-diversity: privacy beyond k-anonymity, 2007. Only known values count:
    missing cells and words for missing are not among the values of a class, nor in its entropy.

    Examples
    --------
    >>> print(Diverse(column="illness", least="2").sentence)
    Each class of rows that are equal in the known columns has at least 2 different known values \
of illness; missing cells and the 63 words for missing that the claim lists do not count.
    """

    asked_for: ClassVar[bool] = True

    column: str
    least: str
    measure: Literal["distinct", "entropy"] = "distinct"
    missing: tuple[str, ...] = UNKNOWN

    def __post_init__(self) -> None:
        """Check that the bound is a number that says something, and how the words are written."""
        if list(self.missing) != sorted({plain(word) for word in self.missing}):
            raise ParameterError(
                "missing is not a list of words in order, each once, in lower case and without "
                "blanks at its ends."
            )
        # A bound of 1 or less would hold for any class and say nothing.
        form = _NUMBER_OF_VALUES if self.measure == "distinct" else _DECIMAL
        if not form.fullmatch(self.least) or Fraction(self.least) <= 1:
            raise ParameterError(
                f"least={self.least!r} is not a {self.measure} bound. Give a number above 1."
            )

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        if self.measure == "distinct":
            has = f"has at least {self.least} different known values of {self.column}"
        else:
            has = (
                f"has known values of {self.column} whose entropy is at least that of {self.least} "
                "equally frequent ones"
            )
        words = counted(len(self.missing), "word")
        return (
            f"{_EACH_CLASS} {has}; missing cells and the {words} for missing that the claim lists "
            "do not count."
        )


class Close(Condition, frozen=True, kw_only=True, tag="close"):
    """The largest total variation between the values of a class and those of the table.

    Parameters
    ----------
    column
        An attached column.
    most
        The bound on the distance, from 0 to below 1, as text with at most four decimals.

    Notes
    -----
    Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, 2007,
    with total variation as the distance.

    Examples
    --------
    >>> print(Close(column="illness", most="0.2").sentence)
    Each class of rows that are equal in the known columns has values of illness whose shares \
differ from those of the whole table by at most 0.2 (total variation).
    """

    asked_for: ClassVar[bool] = True

    column: str
    most: str

    def __post_init__(self) -> None:
        """Check that the bound is a number that says something."""
        if not _DECIMAL.fullmatch(self.most) or Fraction(self.most) >= 1:
            raise ParameterError(
                f"most={self.most!r} is not a distance. Give a number from 0 to below 1."
            )

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            f"{_EACH_CLASS} has values of {self.column} whose shares differ from those of the "
            f"whole table by at most {self.most} (total variation)."
        )


def with_conditions(guarantee: str, conditions: Iterable[Condition]) -> str:
    """Return the sentence of a guarantee, and those of conditions that the owner asked for.

    >>> with_conditions("All is well.", [Generalized(columns=("a",)), Close(column="a", most="0")])
    'All is well. Each class of rows that are equal in the known columns has values of a whose \
shares differ from those of the whole table by at most 0 (total variation).'
    """
    return " ".join([guarantee, *(one.sentence for one in conditions if one.asked_for)])


def _of(columns: tuple[str, ...]) -> str:
    return f" of {', '.join(columns)}" if columns else ""


# Noise in cells: probabilities of flips.
LARGEST_EPSILON = 40
"""Above it 64 bits do not hold the probabilities, and a claim would say nothing."""


def as_printed(epsilon: float) -> Fraction:
    """Return an epsilon as the decimal number that is printed, not as the double nearest to it."""
    return Fraction(repr(epsilon))


_WHOLE = re.compile(r"0|[1-9][0-9]{0,39}")
"""A whole number of at most 40 digits, which holds any number of cells; longer ones could carry a
message."""

_EXACT = re.compile(r"[1-9][0-9]{0,999}(/[1-9][0-9]{0,999})?")
"""A fraction as Python writes it, of at most 1,000 digits on each side."""

_ROUND = re.compile(r"0|[1-9][0-9]{0,2}0{0,25}")
"""A whole number with at most three significant digits."""

_MOST_CLASSES = 1000
"""Classes of nodes that a condition may list, at most: bounds what a reader of a manifest has to
process."""


class RandomizedCells(Condition, frozen=True, kw_only=True, tag="cell-flips"):
    """Every cell is published as 1 with one of two chances, whatever the other cells are.

    A cell is a pair of nodes, or of a user and a feature. `T0` and `T1` are the chances of a cell
    of 0 and a cell of 1, times 2^64. It holds what was released under the budget, and what follows
    from it, so that receivers can take the noise out of counts. Numbers are decimal text: they
    exceed what readers of JSON keep.

    Parameters
    ----------
    cells
        The number of all cells.
    epsilon_cells
        The part of epsilon that each cell has, a fraction in lowest terms.
    T0, T1
        The probabilities, times 2^64, that a cell of 0, or of 1, is published as 1.
    noisy_count
        The noisy number of ones that the probabilities follow from; None if they follow from none.

    Examples
    --------
    >>> flips = RandomizedCells(cells="6", epsilon_cells="2", T0="2198909137867134464",
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
                raise ParameterError(
                    f"{name}={text!r} is not a valid whole number. Give digits only."
                )
        _check_part("epsilon_cells", self.epsilon_cells)
        if not 0 <= int(self.T0) <= int(self.T1) <= self.FULL:
            raise ParameterError(
                f"T0={self.T0} and T1={self.T1} are not valid probabilities. Give values with 0 "
                "<= T0 <= T1 <= 2^64."
            )

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        zero, one = (int(text) / self.FULL for text in (self.T0, self.T1))
        return (
            f"A cell of 0 is published as 1 with probability {zero:.6g}, a cell of 1 with "
            f"probability {one:.6g}."
        )


class TopMThresholds(RandomizedCells, frozen=True, kw_only=True, tag="top-m-flips"):
    """As `cell-flips`, with the chances that the thresholds of the Top-m Filter give.

    >>> flips = TopMThresholds(cells="6", epsilon_cells="2", T0="1", T1="2", noisy_count="2")
    >>> flips.sentence.partition(":")[0]
    'By the thresholds of the Top-m Filter'
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        probabilities = super().sentence
        return (
            f"By the thresholds of the Top-m Filter: {probabilities[0].lower()}{probabilities[1:]}"
        )


class BlockFlips(Condition, frozen=True, kw_only=True, tag="block-flips"):
    """Every cell is published with one of two chances that follow from the classes of its nodes.

    It holds what was released under the budget, or follows from it; that it does, no file shows.
    The weights, times 10^12, are stated, not checked. For nodes of classes a and b the prior, in
    units of 2^-64, is `x_a x_b / (1 + x_a x_b)` times their groups' factor, rounded down, from 1 to
    0.999 of 2^64; the chances of a cell are those that publish most ones under it. Weights and
    factors have three significant digits at most: chances need no more, and more could hold a
    message.

    Parameters
    ----------
    cells, epsilon_cells, noisy_count
        As of `RandomizedCells`.
    sizes
        How many nodes each class has.
    weights
        The weight x of each class, times 10^12.
    groups
        The group of each class, from 0 on in order; empty if there are no factors.
    factors
        For groups g <= h, row by row: the factor of the prior, times 10^12.

    Examples
    --------
    >>> flips = BlockFlips(cells="6", epsilon_cells="2", noisy_count="3", sizes=(4,),
    ...                    weights=("1000000000000",))
    >>> flips.sentence.partition(",")[0]
    'Each pair of nodes was published with a probability that depends on 1 class of nodes'
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
                raise ParameterError(f"{text!r} is not a whole number. Give digits only.")
        _check_weights((*self.weights, *self.factors))
        _check_part("epsilon_cells", self.epsilon_cells)
        # Lists must match: one weight for each class, one factor for each pair of groups.
        groups = max(self.groups, default=-1) + 1
        if not (
            1 <= len(self.sizes) == len(self.weights) <= _MOST_CLASSES
            and len(self.groups) in {0, len(self.sizes)}
            and min(self.sizes) >= 1
            and _are_in_order(self.groups)
            and len(self.factors) == groups * (groups + 1) // 2
        ):
            raise ParameterError(
                f"{len(self.sizes)} sizes, {len(self.weights)} weights, {len(self.groups)} "
                f"groups and {len(self.factors)} factors do not match."
            )

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        classes = "1 class" if len(self.sizes) == 1 else f"{len(self.sizes)} classes"
        return (
            f"Each pair of nodes was published with a probability that depends on {classes} of "
            "nodes, which were computed from noisy counts."
        )


class ExactSize(Condition, frozen=True, kw_only=True, tag="exact-size"):
    """After the draw, cells were added or removed evenly until exactly so many were published.

    Which ones was decided without the original. The chances that `cell-flips` states are those
    before.

    Parameters
    ----------
    size
        How many edges or entries were published.
    """

    size: str

    def __post_init__(self) -> None:
        """Check that it is a number."""
        if not _WHOLE.fullmatch(self.size):
            raise ParameterError(f"size={self.size!r} is not a whole number. Give digits only.")

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            "After sampling, edges or entries were added or removed uniformly at random until "
            f"exactly {self.size} remained."
        )


def _are_in_order(groups: tuple[int, ...]) -> bool:
    """Whether groups are numbered from 0 on as they come, each as long as it lasts."""
    return all(
        after in {before, before + 1} for before, after in zip((0, *groups), groups, strict=False)
    )


def _check_weights(texts: Iterable[str]) -> None:
    """Check that weights are whole numbers with few digits."""
    for text in texts:
        if not _ROUND.fullmatch(text):
            raise ParameterError(
                f"{text!r} is not a whole number with at most 3 significant digits. Round it."
            )


def _check_part(name: str, text: str) -> None:
    """Check a part of epsilon, or a rate: a fraction in lowest terms, above 0 and not too large."""
    # Lowest terms are the one spelling of a fraction.
    exact = _EXACT.fullmatch(text) is not None and str(Fraction(text)) == text
    if not exact or Fraction(text) > LARGEST_EPSILON:
        raise ParameterError(
            f"{name}={text!r} is not valid. Give a fraction in lowest terms, above 0 and at most "
            f"{LARGEST_EPSILON}, such as 3/2."
        )


# Noise in statistics: graphs that were generated from noisy numbers.
_WHOLE_NUMBER = r"(0|-?[1-9][0-9]{0,18})"
_LIST = re.compile(rf"{_WHOLE_NUMBER}( {_WHOLE_NUMBER})*")
"""Whole numbers of at most 19 digits with single blanks between them: the one spelling of a
list."""

_BLOCK = 1 << 14

PARTS = ("epsilon_count", "epsilon_degrees", "epsilon_mixing", "epsilon_triangles")
"""The fields that are parts of epsilon."""

SHAPE, IDS, WITHIN_GROUPS = 1, 2, 3
"""For what words are drawn in addition to those of the graph: see `Drawing`."""


class Drawing(Condition, frozen=True, kw_only=True):
    """The graph was drawn from noisy numbers and a public seed: no edge was looked at for it.

    It holds what was released under the budget, or follows from it. Numbers are decimal text, lists
    of them with one blank between two. A released node stands at the place of one noisy degree, in
    ascending order; which one of its group its person has, is drawn in secret (`WITHIN_GROUPS`).

    Parameters
    ----------
    nodes
        The number of nodes.
    epsilon_count, epsilon_degrees
        The parts of epsilon of the number of edges and of the degrees.
    noisy_count
        The noisy number of edges.
    noisy_degrees
        The noisy degrees, ascending.
    group_cuts
        The smallest noisy degree of each group.
    seed_of_drawing
        The public seed, a number of 64 bits.
    """

    without_seed: ClassVar[bool] = True
    LISTS: ClassVar[tuple[str, ...]]
    EXACT: ClassVar[tuple[str, ...]]
    LEAST_PART: ClassVar[Fraction]
    FROM: ClassVar[str]

    nodes: int
    epsilon_count: str
    epsilon_degrees: str
    noisy_count: str
    noisy_degrees: str
    group_cuts: str
    seed_of_drawing: str

    def __post_init__(self) -> None:
        """Check that every number is one, spelled in one way."""
        for name in self.LISTS:
            if not _LIST.fullmatch(getattr(self, name)):
                raise ParameterError(
                    f"{name} is not a list of integers. Give integers separated by single spaces."
                )
        for name in ("noisy_count", "seed_of_drawing"):
            text = getattr(self, name)
            if not re.fullmatch(r"0|[1-9][0-9]{0,19}", text) or int(text) >= 1 << 64:
                raise ParameterError(
                    f"{name}={text!r} is not a valid whole number. Give digits only."
                )
        for name in self.EXACT:
            _check_part(name, getattr(self, name))

    def numbers(self, name: str) -> list[int]:
        """Return the numbers of a field that holds several."""
        return list(map(int, getattr(self, name).split(" ")))

    def words(
        self, purpose: int = 0, count: int = _BLOCK, secret: str | None = None
    ) -> Iterator[NDArray[np.uint64]]:
        """Return words of 64 bits in blocks, from which random numbers are taken for a purpose."""
        seed = int(self.seed_of_drawing) if secret is None else int(secret, 16)
        return public_words(seed, count, purpose)

    def place_of_id(self) -> NDArray[np.int64]:
        """Return the place of every released node among the noisy degrees, int64, shape (n,)."""
        # The released ids are the order of the seed's words; the place is the inverse of that.
        ids = np.argsort(next(self.words(IDS, self.nodes)), kind="stable")
        return np.argsort(ids)

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            f"The graph was generated from noisy {self.FROM} and a public seed only; it contains "
            "as many original edges as these make likely."
        )


class NoisyDegrees(Drawing, frozen=True, kw_only=True, tag="noisy-degrees"):
    """The graph was drawn from noisy degrees in ascending order, and a public seed.

    People are assigned at random inside groups (`group_cuts`). `sizes` says how many places each
    class has, `weights` the weight of each. It holds what was released under the budget, or follows
    from it.

    >>> degrees = NoisyDegrees(
    ...     nodes=3, epsilon_count="1/20", epsilon_degrees="19/20", noisy_count="1", sizes=(1, 2),
    ...     noisy_degrees="0 1 2", group_cuts="0", weights=("0", "70000000000"),
    ...     seed_of_drawing="7")
    >>> degrees.numbers("noisy_degrees"), degrees.place_of_id().size
    ([0, 1, 2], 3)
    """

    LISTS: ClassVar[tuple[str, ...]] = ("noisy_degrees", "group_cuts")
    EXACT: ClassVar[tuple[str, ...]] = PARTS[:2]
    LEAST_PART: ClassVar[Fraction] = Fraction(1, 10**8)
    FROM: ClassVar[str] = "degrees"

    sizes: tuple[int, ...]
    weights: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check every number, and that there are as many weights as sizes."""
        # Lists of numbers first, then one weight for each class.
        super().__post_init__()
        _check_weights(self.weights)
        if not 1 <= len(self.sizes) == len(self.weights) <= _MOST_CLASSES:
            raise ParameterError(
                f"{len(self.sizes)} sizes and {len(self.weights)} weights do not match."
            )


class NoisyStatistics(Drawing, frozen=True, kw_only=True, tag="noisy-statistics"):
    """As `noisy-degrees`, from noisy degrees, edges between groups, and triangles by class.

    All that was asked of the original, with its noise, and what the graph was drawn from. Lists by
    node are in the order of the places.

    Parameters
    ----------
    epsilon_mixing, epsilon_triangles
        The parts of epsilon of edges between groups and of triangles.
    class_cuts
        The smallest noisy degree of each class of triangles.
    noisy_mixing
        The noisy numbers of edges between groups g <= h, row by row.
    floor, rate
        The least first step of the ladder, and the rate at which its probabilities fall.
    noisy_triangles
        The noisy number of triangles of each class.
    degrees, stubs
        What the graph has: the degree of each place, and edges between groups g <= h.
    aims
        The numbers of triangles that were aimed at, by class.
    unmended
        How many edges were dropped, as no exchange made them proper.

    Examples
    --------
    >>> statistics = NoisyStatistics(
    ...     nodes=3, epsilon_count="1/50", epsilon_degrees="11/20", epsilon_mixing="3/25",
    ...     epsilon_triangles="31/100", noisy_count="1", noisy_degrees="0 1 2", group_cuts="0",
    ...     class_cuts="0", noisy_mixing="-3", floor=1, rate="31/200", noisy_triangles="0",
    ...     degrees="0 1 1", stubs="1", aims="0", unmended=0, seed_of_drawing="7")
    >>> statistics.numbers("degrees")
    [0, 1, 1]
    """

    LISTS: ClassVar[tuple[str, ...]] = (
        *("noisy_degrees", "group_cuts", "class_cuts", "noisy_mixing", "noisy_triangles"),
        *("degrees", "stubs", "aims"),
    )
    EXACT: ClassVar[tuple[str, ...]] = (*PARTS, "rate")
    LEAST_PART: ClassVar[Fraction] = Fraction(1, 1000)
    FROM: ClassVar[str] = "degrees, noisy counts of edges between groups and of triangles,"

    epsilon_mixing: str
    epsilon_triangles: str
    class_cuts: str
    noisy_mixing: str
    floor: int
    rate: str
    noisy_triangles: str
    degrees: str
    stubs: str
    aims: str
    unmended: int


# Edges: what may have been added, removed or rewired.
class Supergraph(Condition, frozen=True, kw_only=True, tag="supergraph"):
    """Every edge of the original is in the release: edges were added only."""

    SAYS: ClassVar[str] = "Every edge of the original is in the release."


class Subgraph(Condition, frozen=True, kw_only=True, tag="subgraph"):
    """Every edge of the release is in the original: edges were deleted only."""

    SAYS: ClassVar[str] = "Every edge of the release is in the original."


class SameDegrees(Condition, frozen=True, kw_only=True, tag="same-degrees"):
    """Every node has as many neighbors as in the original: edges were rewired only."""

    SAYS: ClassVar[str] = "Every node has the same degree as in the original."


class EditBudget(Condition, frozen=True, kw_only=True, tag="edit-budget"):
    """So many edges at most were added or deleted.

    Parameters
    ----------
    edges
        The budget as a number of edges; None if it is a share.
    share
        The budget as a share of the original's edges, in (0, 1]; None if it is a number.
    edges_per_edit
        How many edges one edit changes: 1, or 4 where two edges are exchanged.

    Examples
    --------
    >>> EditBudget(edges=20).most_changes(n_edges=100), EditBudget(share=0.05).most_changes(101)
    (20, 6)
    """

    edges: int | None = None
    share: float | None = None
    edges_per_edit: Literal[1, 4] = 1

    def __post_init__(self) -> None:
        """Check that one of the two is given, and is in its range."""
        if (self.edges is None) == (self.share is None):
            raise ParameterError(
                "a budget is either a share of the edges or a number of edges. "
                "Give exactly one of them."
            )
        if self.edges is not None and self.edges < 1:
            raise ParameterError(f"edges={self.edges} is not a valid budget. Give at least 1.")
        if self.share is not None and not 0 < self.share <= 1:
            raise ParameterError(f"share={self.share} is outside (0, 1]. Give a fraction of edges.")

    def most_changes(self, n_edges: int) -> int:
        """Return how many edges may be in one of both graphs only, of an original of that size."""
        # A share is rounded up to whole edits, then multiplied by the edges that one edit changes.
        edits = self.edges if self.share is None else edits_in(self.share, n_edges)
        return (edits or 0) * self.edges_per_edit

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        share = f"{100 * (self.share or 0):g}% of the original's edges"
        edits = counted(self.edges, "edge") if self.edges is not None else share
        times = "" if self.edges_per_edit == 1 else f", times {self.edges_per_edit},"
        return f"At most {edits}{times} were added or deleted."


# Published values next to the original.
class NothingAdded(Condition, frozen=True, kw_only=True, tag="nothing-added"):
    """Every published entry, or cell of a table, is that of the same person in the original.

    Implied by `k-anonymity` and `adaptive-anonymity`.
    """

    SAYS: ClassVar[str] = "Every published entry is in the original."


class TrueOfShare(Condition, frozen=True, kw_only=True, tag="true-of-share"):
    """Every published entry is true of at least a share theta of its equivalence class.

    Entries of these columns alone, if some are named. Implied by `smooth-k-anonymity`.

    Parameters
    ----------
    theta
        The share, a fraction in [1/2, 1] in lowest terms, as text.
    columns
        The columns that it is about; unset for all of them.

    Examples
    --------
    >>> TrueOfShare(theta="2/3").sentence
    'Every published entry is true of at least 2/3 of the rows in its class.'
    """

    theta: str
    columns: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Check the share."""
        share_in(self.theta)

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        entry = _entry(self.columns)
        return f"Every published {entry} is true of at least {self.theta} of the rows in its class."


class TrueOfMoreThanHalf(Condition, frozen=True, kw_only=True, tag="true-of-more-than-half"):
    """Every published entry is true of more than half of its equivalence class.

    Parameters
    ----------
    columns
        The columns that it is about; unset for all of them.

    Examples
    --------
    >>> TrueOfMoreThanHalf().sentence
    'Every published entry is true of more than half of the rows in its class.'
    """

    columns: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        entry = _entry(self.columns)
        return f"Every published {entry} is true of more than half of the rows in its class."


def _entry(columns: tuple[str, ...] | msgspec.UnsetType) -> str:
    return f"value of {', '.join(columns)}" if columns else "entry"


class ItemsAreUsers(Condition, frozen=True, kw_only=True, tag="people-as-items"):
    """Items are people: the id of an item is the id of that person as a user."""

    SAYS: ClassVar[str] = "Items are people: each item id is that person's id as a user."


class OwnAttributes(Condition, frozen=True, kw_only=True, tag="own-attributes"):
    """Every published attribute of a person is that person's own in the original, or suppressed."""

    SAYS: ClassVar[str] = "Every published attribute value is the person's own, or suppressed."


class ProtectedPeople(Condition, frozen=True, kw_only=True, tag="protected-people"):
    """Everyone on a list that only the owner has shares their degree with k - 1 other nodes.

    Who is on it, and how many they are, is published nowhere. The other nodes need not be on it.

    Parameters
    ----------
    k
        How many nodes have the degree of each person on the list, that person included; at least 1.

    Examples
    --------
    >>> print(ProtectedPeople(k=5).sentence)
    Every person on the owner's private list has the same degree as at least 4 other nodes of the \
release. People who are not on it may be left with fewer.
    """

    k: int

    def __post_init__(self) -> None:
        """Check the parameter."""
        check_class_size(self.k)

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        others = "1 other node" if self.k == 2 else f"{self.k - 1} other nodes"
        return (
            f"Every person on the owner's private list has the same degree as at least {others} of "
            "the release. People who are not on it may be left with fewer."
        )


# New ids.
class SameData(Condition, frozen=True, kw_only=True, tag="same-data"):
    """The release says what the original says: ids and order are new, nothing else."""

    SAYS: ClassVar[str] = (
        "The release is the original with new ids in a new order; nothing was added, removed "
        "or changed."
    )


class KeyedIds(Condition, frozen=True, kw_only=True, tag="keyed-ids"):
    """Published ids are computed from the original ones with a key that only the owner has.

    Such an id is an integer below 2^63, the same of a person in every release with this key. It
    is made of the first 64 bits of HMAC-SHA256, without the last of them.
    """

    SAYS: ClassVar[str] = (
        "Published ids are computed from the original ids with the owner's key. A person has "
        "the same id in every release made with this key."
    )


def edits_in(share: float, n_edges: int) -> int:
    """Return a share of the edges as a number of edits: exact as it is written, rounded up.

    >>> edits_in(0.07, 100), edits_in(0.05, 101)
    (7, 6)
    """
    return math.ceil(Fraction(str(share)) * n_edges)


# The union that msgspec decodes a condition into, by its tag.
AnyCondition = (
    Supergraph
    | Subgraph
    | SameDegrees
    | SameGroupCounts
    | EditBudget
    | NothingAdded
    | SuppressionHistogram
    | Generalized
    | OwnersLevels
    | DifferentPeople
    | Diverse
    | Close
    | TrueOfShare
    | TrueOfMoreThanHalf
    | RandomizedCells
    | TopMThresholds
    | BlockFlips
    | NoisyDegrees
    | NoisyStatistics
    | ExactSize
    | ItemsAreUsers
    | OwnAttributes
    | AttachedColumns
    | ProtectedPeople
    | SameData
    | KeyedIds
)
"""Every condition that a manifest can hold."""
