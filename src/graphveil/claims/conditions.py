"""What a release states beside its guarantee: typed values that can be checked.

A method names the conditions that hold by its construction, the manifest carries them, and the
checker has one check for each type: it knows promises, not methods. A parameter of the method that
bears the name of a field has the field's value.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

from graphveil.claims.condition import Condition
from graphveil.claims.flips import BlockFlips, CellFlips, DegreesAlone, ExactSize, TopMFlips
from graphveil.claims.statistics import NoisyStatistics
from graphveil.errors import ParameterError

MOST_DENOMINATOR = 10_000
"""Of a share that is published, so that it says little."""

_FRACTION = re.compile(r"0|1|[1-9][0-9]{0,5}/[1-9][0-9]{0,5}")


class Supergraph(Condition, frozen=True, kw_only=True, tag="supergraph"):
    """Every edge of the original is in the release: edges were added only.

    Examples
    --------
    >>> Supergraph().sentence
    'Every edge of the original is in the release.'
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return "Every edge of the original is in the release."


class Subgraph(Condition, frozen=True, kw_only=True, tag="subgraph"):
    """Every edge of the release is in the original: edges were deleted only.

    Examples
    --------
    >>> Subgraph().sentence
    'Every edge of the release is in the original.'
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return "Every edge of the release is in the original."


class SameDegrees(Condition, frozen=True, kw_only=True, tag="same-degrees"):
    """Every node has as many neighbors as in the original: edges were rewired only.

    Examples
    --------
    >>> SameDegrees().sentence
    'Every node has as many neighbors as in the original.'
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return "Every node has as many neighbors as in the original."


class EditBudget(Condition, frozen=True, kw_only=True, tag="edit-budget"):
    """So many edges at most stand in one of original and release only.

    Parameters
    ----------
    edges
        The most edits, at least 1; or
    share
        a share of the original's edges in (0, 1], rounded up to a number of edits.
    edges_per_edit
        How many edges an edit may add and delete together: 4 where it rewires.

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
            raise ParameterError("a budget is a share of the edges or their number. Give one.")
        if self.edges is not None and self.edges < 1:
            raise ParameterError(f"edges={self.edges} is no budget. Give at least 1.")
        if self.share is not None and not 0 < self.share <= 1:
            raise ParameterError(f"share={self.share} is outside (0, 1]. Give a fraction of edges.")

    def most_changes(self, n_edges: int) -> int:
        """Return how many edges may be in one of both graphs only, of an original of that size."""
        edits = self.edges if self.share is None else edits_in(self.share, n_edges)
        return (edits or 0) * self.edges_per_edit

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        share = f"{100 * (self.share or 0):g} % of the original's edges"
        edits = f"{self.edges} edges" if self.edges is not None else share
        times = "" if self.edges_per_edit == 1 else f", times {self.edges_per_edit},"
        return f"At most {edits}{times} were added or deleted."


class NothingAdded(Condition, frozen=True, kw_only=True, tag="nothing-added"):
    """Every published entry, or cell of a table, is that of the same person in the original.

    Examples
    --------
    >>> NothingAdded().sentence
    'Every published entry is in the original.'
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return "Every published entry is in the original."


class StarsByRow(Condition, frozen=True, kw_only=True, tag="stars-by-row"):
    """So many rows of the released table have so many suppressed cells.

    It says nothing that the table does not show.

    Parameters
    ----------
    rows
        Pairs of a number of suppressed cells and the number of rows that have as many: the first
        rise, the second are at least 1.

    Examples
    --------
    >>> print(StarsByRow(rows=((0, 2), (3, 1))).sentence)
    2 rows have no suppressed cell, 1 row has 3 suppressed cells.
    """

    rows: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        """Check that every number of cells stands once, in order, and with some rows."""
        stars = [cells for cells, _ in self.rows]
        if stars != sorted(set(stars)) or min((0, *stars)) < 0 or min((1, *self._numbers())) < 1:
            raise ParameterError(
                f"rows={self.rows} is no list of numbers of cells that rise, each with some rows."
            )

    def _numbers(self) -> list[int]:
        return [number for _, number in self.rows]

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        said = [
            f"{number} {'row has' if number == 1 else 'rows have'} {cells or 'no'} suppressed "
            f"{'cells' if cells > 1 else 'cell'}"
            for cells, number in self.rows
        ]
        return f"{', '.join(said)}." if said else "There are no rows."


def stars_by_row(stars: Iterable[int]) -> StarsByRow:
    """Return the condition for rows with these numbers of suppressed cells.

    Examples
    --------
    >>> stars_by_row([3, 0, 0]).rows
    ((0, 2), (3, 1))
    """
    return StarsByRow(rows=tuple(sorted(Counter(map(int, stars)).items())))


class TrueOfShare(Condition, frozen=True, kw_only=True, tag="true-of-share"):
    """Every published entry is true of at least a share theta of its equivalence class.

    Parameters
    ----------
    theta
        A fraction in [1/2, 1] in lowest terms, such as ``2/3``, kept exact as text.

    Examples
    --------
    >>> TrueOfShare(theta="2/3").sentence
    'Every published entry is true of at least 2/3 of the rows of its class.'
    """

    theta: str

    def __post_init__(self) -> None:
        """Check the share."""
        share_in(self.theta)

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return f"Every published entry is true of at least {self.theta} of the rows of its class."


class TrueOfMoreThanHalf(Condition, frozen=True, kw_only=True, tag="true-of-more-than-half"):
    """Every published entry is true of more than half of its equivalence class.

    Examples
    --------
    >>> TrueOfMoreThanHalf().sentence
    'Every published entry is true of more than half of the rows of its class.'
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return "Every published entry is true of more than half of the rows of its class."


class PeopleAsItems(Condition, frozen=True, kw_only=True, tag="people-as-items"):
    """Items are people: the id of an item is the id of that person as a user.

    Examples
    --------
    >>> PeopleAsItems().sentence
    'Items are people: the id of an item is the id of that person as a user.'
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return "Items are people: the id of an item is the id of that person as a user."


class OwnAttributes(Condition, frozen=True, kw_only=True, tag="own-attributes"):
    """Every published attribute of a person is that person's own in the original, or suppressed.

    Examples
    --------
    >>> OwnAttributes().sentence
    "Every published attribute of a person is that person's own, or suppressed."
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return "Every published attribute of a person is that person's own, or suppressed."


class AttachedColumns(Condition, frozen=True, kw_only=True, tag="attached-columns"):
    """These attributes stand beside everyone as they are: nothing is promised of them.

    Parameters
    ----------
    attach
        Their names, at least one.

    Examples
    --------
    >>> print(AttachedColumns(attach=("town",)).sentence)
    Published beside the promise, as they are: town. Nothing is promised of who knows these of a \
person; together with the rest they may single people out.
    """

    attach: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check that there is one, and none twice."""
        if not self.attach or len(set(self.attach)) < len(self.attach):
            raise ParameterError(f"attach={self.attach} names no columns, or one twice.")

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            f"Published beside the promise, as they are: {', '.join(self.attach)}. Nothing is "
            "promised of who knows these of a person; together with the rest they may single "
            "people out."
        )


class SameData(Condition, frozen=True, kw_only=True, tag="same-data"):
    """The release says what the original says: ids and order are new, nothing else.

    Examples
    --------
    >>> SameData().sentence
    'The release is the original under new ids in a new order: nothing was added, removed or \
changed.'
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            "The release is the original under new ids in a new order: nothing was added, removed "
            "or changed."
        )


class KeyedIds(Condition, frozen=True, kw_only=True, tag="keyed-ids"):
    """Published ids are computed from the original ones with a key that only the owner has.

    Such an id is an integer below 2^63, the same of a person in every release with this key. It
    is made of the first 64 bits of HMAC-SHA256, without the last of them.

    Examples
    --------
    >>> KeyedIds().sentence
    'Published ids are computed from the original ids with a key that the owner keeps: in every \
release with this key a person has the same id.'
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            "Published ids are computed from the original ids with a key that the owner keeps: in "
            "every release with this key a person has the same id."
        )


def share_in(theta: str) -> Fraction:
    """Return the share of a class that a text such as ``2/3`` writes.

    Raises
    ------
    ParameterError
        Where it is no fraction, not in lowest terms, or outside [1/2, 1].

    Examples
    --------
    >>> share_in("2/3")
    Fraction(2, 3)
    """
    if not _FRACTION.fullmatch(theta):
        raise ParameterError(f"theta={theta!r} is no fraction. Give one such as 1/2.")
    share = Fraction(theta)
    if share.denominator > MOST_DENOMINATOR:
        raise ParameterError(f"theta={theta} is above {MOST_DENOMINATOR} below the line.")
    if str(share) != theta or not Fraction(1, 2) <= share <= 1:
        raise ParameterError(
            f"theta={theta} is outside [1/2, 1] or not in lowest terms. Give one such as 1/2 or "
            "2/3."
        )
    return share


def edits_in(share: float, n_edges: int) -> int:
    """Return a share of the edges as a number of edits: exact as it is written, rounded up.

    Examples
    --------
    >>> edits_in(0.07, 100), edits_in(0.05, 101)
    (7, 6)
    """
    return math.ceil(Fraction(str(share)) * n_edges)


AnyCondition = (
    Supergraph
    | Subgraph
    | SameDegrees
    | EditBudget
    | NothingAdded
    | StarsByRow
    | TrueOfShare
    | TrueOfMoreThanHalf
    | CellFlips
    | TopMFlips
    | BlockFlips
    | DegreesAlone
    | NoisyStatistics
    | ExactSize
    | PeopleAsItems
    | OwnAttributes
    | AttachedColumns
    | SameData
    | KeyedIds
)
"""Every condition that a manifest can hold."""
