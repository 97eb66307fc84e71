"""What methods that publish noisy cells share: epsilon and its parts, the noisy count, advice.

Epsilon is split by sequential composition: some parts buy noisy counts, the rest goes to the cells
(`NoisyMethod.epsilon_cells`). All parts are exact fractions of the number that is printed, so they
sum to it without rounding. A method then reads the data only through the noisy counts and the
channel of the cells; whatever else it computes is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from graphveil.claims.conditions import LARGEST_EPSILON, as_printed
from graphveil.claims.guarantees import ENTRIES_OF_A_VALUE, EdgeDP, NotClaimed
from graphveil.claims.record import OwnersNotes
from graphveil.core.errors import DataError, ParameterError
from graphveil.core.hints import option
from graphveil.core.parameters import parameter
from graphveil.core.text import counted
from graphveil.core.warnings import Advice, PublicListWarning, noisy_copy
from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.data.kinds import kind_of
from graphveil.data.origin import List, may_be_values
from graphveil.methods.base import Anonymizer
from graphveil.methods.card import Reached
from graphveil.methods.noise.cells import Channel, number_of_cells
from graphveil.methods.noise.laws import FULL, Cells, Words, discrete_laplace, distinct, union
from graphveil.release.draft import Draft

SMALLEST_EPSILON = 0.0001
"""Below it counts are noise alone: their noise has a scale of 10,000 and more."""

SMALLEST_PART = 0.000001
"""The smallest part of epsilon that can be asked for: noise of a scale of a million."""


class Share(NamedTuple):
    """The default part of epsilon of a statistic: a fraction of it, up to a limit.

    Parameters
    ----------
    of_epsilon
        The fraction.
    most
        The limit: from there on, noise on the statistic is negligible, and epsilon is worth more in
        the cells.
    """

    of_epsilon: Fraction
    most: Fraction

    def of(self, epsilon: Fraction) -> Fraction:
        """Return the part."""
        return min(self.of_epsilon * epsilon, self.most)


def copies_found(share: int, of: str, *, epsilon: float, more: str = "", **options: str) -> Reached:
    """Return what an attacker with a copy of a network reached in our tests.

    `share`: in percent; `of`: the network; `epsilon`, `options`: the parameters of the release;
    `more`: words about further tests.
    """
    sentence = (
        f"Re-identified in our tests: {share}% of the nodes by an attacker with a copy of the "
        f"network ({of}, epsilon {epsilon:g}){more}."
    )
    return Reached(sentence, {"epsilon": epsilon, **options}, ("graph",))


def rows_found(share: str, *, epsilon: float, **options: str) -> Reached:
    """Return what an attacker who knew 8 items reached in our tests on user-item data."""
    sentence = (
        f"Re-identified in our tests: {share}% of 500 sampled people by an attacker who knew 8 "
        f"items of a person (2,000 people, epsilon {epsilon:g})."
    )
    return Reached(sentence, {"epsilon": epsilon, **options}, ("bipartite",))


def part_parameter(text: str, unset: str) -> Any:
    """Return the field of a part of epsilon; at most 39, since epsilon is at most 40."""
    return parameter(default=None, text=text, minimum=SMALLEST_PART, maximum=39, unset=unset)


COUNT_SHARE = Share(of_epsilon=Fraction(1, 20), most=Fraction(1, 10))
"""The default part of a noisy count: a twentieth, at most 0.1.

At 0.1 the noise has a scale of 10 edges, which is negligible; more of epsilon is worth more in the
cells.
"""


NOISY_FIELDS: Mapping[str, Any] = {"spends": True, "trial_size": 300_000}
"""Fields of the cards of the methods that derive from `NoisyMethod`."""


@dataclass(frozen=True, kw_only=True)
class NoisyMethod(Anonymizer[Any]):
    """A method that releases noisy counts, and spends the rest of epsilon on the cells.

    Parameters
    ----------
    epsilon
        The total, from 0.0001 to 40.

    Notes
    -----
    Sequential composition: the parts of the counts and that of the cells sum to epsilon.
    """

    shares: ClassVar[Mapping[str, Share]] = {}
    """The default part of epsilon of each count, by the name of its parameter."""

    epsilon: float = parameter(
        text="total privacy budget; the largest factor is e^epsilon",
        minimum=SMALLEST_EPSILON,
        maximum=LARGEST_EPSILON,
    )

    def __post_init__(self) -> None:
        """Check every parameter, and that a part of epsilon is left for the cells."""
        super().__post_init__()
        self.check_parts()

    def check_parts(self) -> None:
        """Refuse parts that leave nothing of epsilon for the cells.

        Raises
        ------
        ParameterError
            If they leave nothing.
        """
        if self.epsilon_cells <= 0:
            counts = ", ".join(
                f"{name}={value}" for name, value in self.parameters().items() if "epsilon_" in name
            )
            raise ParameterError(
                f"epsilon={self.epsilon} leaves nothing for the cells ({counts}). Assign less "
                "to the counts."
            )

    def check(self, data: Data) -> None:
        """Refuse data of a different kind, and items that may be values of columns.

        Parameters
        ----------
        data
            What is to be anonymized.

        Raises
        ------
        UsageError
            If the data is of a different kind.
        DataError
            If it is not known whether the items are values of columns (`check_values_of_columns`).
        """
        super().check(data)
        check_values_of_columns(data)

    @property
    def guarantee(self) -> EdgeDP | NotClaimed:
        """What a run without a seed guarantees."""
        return EdgeDP(epsilon=self.epsilon)

    @property
    def parts(self) -> dict[str, Fraction]:
        """The parts of epsilon of the counts, by name: as given, otherwise by default."""
        total, given = as_printed(self.epsilon), {name: getattr(self, name) for name in self.shares}
        return {
            name: share.of(total) if given[name] is None else as_printed(given[name])
            for name, share in self.shares.items()
        }

    @property
    def epsilon_cells(self) -> Fraction:
        """The part of epsilon for the cells: exactly what the counts leave."""
        return as_printed(self.epsilon) - sum(self.parts.values(), Fraction(0))


def noisy_count(words: Words, ones: int, n_cells: int, epsilon: Fraction) -> int:
    """Return a noisy count of the cells that are 1, from 1 to all cells but one.

    The noise is a whole number, and the result is clamped after it is added: nothing depends on
    whether the true count is in the range. The channel of the cells needs a prior strictly between
    0 and 1, which is this count over the number of cells.
    """
    # One cell changes the count by 1, so the noise has all of this epsilon.
    noisy = ones + int(discrete_laplace(words, epsilon, 1)[0])
    return min(max(noisy, 1), n_cells - 1)


def resized(words: Words, cells: Cells, n_cells: int, size: int) -> Cells:
    """Return `size` cells: a uniform subset of these, or these and uniform others.

    It reads the published cells alone: post-processing.
    """
    # Every subset, or every extension, of this size is equally likely.
    if size <= cells.size:
        return cells[distinct(words, cells.size, size)]
    return union(cells, others(words, cells, n_cells, size - cells.size))


def others(words: Words, cells: Cells, n_cells: int, count: int) -> Cells:
    """Return `count` uniform cells other than these, in order.

    Cells that are not excluded are numbered without gaps; a uniform set of numbers becomes cells by
    adding how many excluded cells are before each.

    >>> from graphveil.methods.noise.laws import words_from
    >>> from graphveil.core.randomness import Randomness
    >>> others(words_from(Randomness(), "others"), np.array([1, 3]), 4, 2).tolist()
    [0, 2]
    """
    # The other cells have the ranks 0, 1, ...; `others_before` counts those before each excluded
    # cell, which tells how many excluded cells are before a rank.
    among_others = distinct(words, n_cells - cells.size, count)
    others_before = cells - np.arange(cells.size)
    return among_others + np.searchsorted(others_before, among_others, side="right")


def entry_noun(data: Graph | Bipartite) -> str:
    """Return what a cell that is 1 is called: ``edges`` or ``entries``."""
    return kind_of(data).measured[0]


VALUES = (
    "items are values of columns, so changing one value changes two entries: epsilon applies to "
    "one value, and each entry gets half of it"
)
"""The advice on items that are values of columns: see `entries_of_one`."""


def entries_of_one(data: Graph | Bipartite) -> int:
    """Return how many cells one protected change concerns: two if items are values of columns.

    A changed value removes one entry and adds another.

    >>> likes = Bipartite.from_pairs(["ann"], ["town=x"])
    >>> entries_of_one(likes), entries_of_one(likes.with_items("values"))
    (1, 2)
    """
    return ENTRIES_OF_A_VALUE if data.items == "values" else 1


def check_values_of_columns(data: Data) -> None:
    """Refuse items that may be values of columns: an epsilon per entry would be half of an answer.

    It reads the names of items alone, which are public.
    """
    if not isinstance(data, Bipartite | Table):
        return
    # One-hot columns of a table: an answer would be four entries, two columns of two values each.
    tables = [origin for origin in (data, *data.origins) if isinstance(origin, Table)]
    named = [name for table in tables for name in table.columns if "=" in name]
    if named:
        raise DataError(
            f"the column {named[0]!r} seems to be a value of a column: one answer would be four "
            f"entries or more. Remove {option('one_hot')}, or rename the column."
        )
    if isinstance(data, Bipartite) and data.items is None and may_be_values(data.feature_labels()):
        raise DataError(
            f"all {counted(data.n_features, 'item', spec=',')} are named column=value, so one "
            "answer may be two "
            f"entries. Use {option('items', 'values')} for an epsilon per answer, or "
            f"{option('items', 'things')} if a person may have several values of a column."
        )


def public_inputs(data: Graph | Bipartite, *, of_people: bool = False) -> tuple[str, ...]:
    """Return the advice on lists of nodes, users or items, which no epsilon covers.

    `of_people`: whether epsilon covers all entries of a person, rather than one value or entry.
    """
    collected = [name for name in kind_of(data).lists if name not in data.public_lists]
    halved = not of_people and entries_of_one(data) > 1
    return (
        *((Advice(_collected(data, collected), PublicListWarning),) if collected else ()),
        *((Advice(VALUES, PublicListWarning),) if halved else ()),
    )


def _collected(data: Graph | Bipartite, lists: list[List]) -> str:
    """Return the sentence about lists that were collected from the data."""
    kind = kind_of(data)
    words = [kind.people if name == "people" else name for name in lists]
    both = bool(words[1:])
    which = f"the list{'s' if both else ''} of {' and '.join(words)}"
    count = ", with their names, count" if both else " counts"
    if_collected = "they were collected" if both else "it was collected"
    reveal = "they reveal" if both else "it reveals"
    singular, cell = " or ".join(word[:-1] for word in words), kind.measured[0]
    entry = "entry" if cell == "entries" else "edge"
    return (
        f"{which}{count} as public. If {if_collected} from the data, {reveal} every "
        f"{singular} that is there because of a single {entry}, whatever epsilon is; the private "
        "record says how many there are"
    )


def noisy_draft(
    data: Graph | Bipartite, released: Graph | Bipartite, *warnings: str, **more: Any
) -> Draft[Any]:
    """Return the draft of a run, with the warnings on lists and the private figures about them.

    `more`: further fields of the draft.
    """
    notes = OwnersNotes(cost=listed_once(data), warnings=(*public_inputs(data), *warnings))
    return Draft(data=released, notes=notes, **more)


def copies_matched(
    data: Graph | Bipartite, chances: Channel, ones: float | None
) -> tuple[str, ...]:
    """Return the advice on a release with so little noise that a copy can be matched with it.

    `chances`: the thresholds of its cells; `ones`: about how many are 1, None if not known.
    """
    if not isinstance(data, Graph) or ones is None:
        return ()
    return noisy_copy(data.n_nodes, ones, (chances.zero / FULL, chances.one / FULL))


_FAR = 10
"""Noise is hardly ever more than this many times its scale, or its standard deviation.

The probability of more than 10 scales is about e^-10. The number only sizes
memory and files on disk: the law of the noise does not depend on it.
"""


def noisy_at_most(graph: Graph, through: Channel, *, scale: Fraction | None = None) -> int:
    """Return a number of published edges that noise hardly ever exceeds, before it is sampled.

    It reads the true number of edges, so it is for the owner alone. `scale`: that of the noisy
    count, if the release is brought to exactly this count.
    """
    # The expected number of published edges, plus ten standard deviations. Cells are independent,
    # so a standard deviation is at most the root of the expectation.
    ones, cells = graph.n_edges, number_of_cells(graph)
    expected = (ones * through.one + (cells - ones) * through.zero) / FULL
    if scale is not None:  # the noisy count, whatever is drawn
        expected = max(expected, float(count_at_most(ones, scale)))
    return min(cells, math.ceil(expected + _FAR * math.sqrt(expected)))


def count_at_most(ones: int, scale: Fraction) -> int:
    """Return a number that a noisy count of `ones` hardly ever exceeds."""
    return ones + math.ceil(_FAR * scale)


def listed_once(data: Graph | Bipartite) -> dict[str, int]:
    """Return how many nodes, users or items are in a collected list because of a single entry.

    The private record has them: if a list was collected, it reveals these entries.
    """
    if isinstance(data, Graph):
        entries = {"people": ("nodes_with_one_edge", data.degrees())}
    else:
        of_items = np.bincount(data.indices, minlength=data.n_features)
        entries = {
            "people": ("users_with_one_entry", np.diff(data.indptr)),
            "items": ("items_with_one_entry", of_items),
        }
    return {
        name: int(np.count_nonzero(count == 1))
        for which, (name, count) in entries.items()
        if which not in data.public_lists
    }
