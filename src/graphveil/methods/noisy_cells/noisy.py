"""What methods that publish noisy cells share: epsilon and its parts, the noisy count, texts."""

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
from graphveil.core.errors import DataError, ParameterError, option
from graphveil.core.parameters import parameter
from graphveil.core.text import counted
from graphveil.core.warnings import Advice, PublicListWarning, noisy_copy
from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.data.kinds import kind_of
from graphveil.data.origin import List, may_be_values
from graphveil.methods.base import Anonymizer, Reached
from graphveil.methods.noise import Channel, Words, discrete_laplace, distinct
from graphveil.methods.noise.cells import number_of_cells
from graphveil.methods.noise.laws import FULL, Cells, union
from graphveil.release.draft import Draft

SMALLEST_EPSILON = 0.0001
"""Below it counts are noise alone."""

SMALLEST_PART = 0.000001
"""The smallest part of epsilon that can be asked for."""


class Share(NamedTuple):
    """The part of epsilon that something has where none is given: a fraction, up to a limit."""

    of_epsilon: Fraction
    most: Fraction

    def of(self, epsilon: Fraction) -> Fraction:
        """Return the part."""
        return min(self.of_epsilon * epsilon, self.most)


def copies_found(share: int, of: str, *, epsilon: float, more: str = "", **options: str) -> Reached:
    """Return what an attacker with a copy of a network reached in our tests, in percent."""
    said = (
        f"Re-identified in our tests: {share}% of the nodes by an attacker with a copy of the "
        f"network ({of}, epsilon {epsilon:g}){more}."
    )
    return Reached(said, {"epsilon": epsilon, **options}, ("graph",))


def rows_found(share: str, *, epsilon: float, **options: str) -> Reached:
    """Return what an attacker who knew 8 items reached in our tests on user-item data."""
    said = (
        f"Re-identified in our tests: {share}% of 500 sampled people by an attacker who knew 8 "
        f"items of a person (2,000 people, epsilon {epsilon:g})."
    )
    return Reached(said, {"epsilon": epsilon, **options}, ("bipartite",))


def part_parameter(text: str, unset: str) -> Any:
    """Return the parameter of a part of epsilon."""
    return parameter(default=None, text=text, minimum=SMALLEST_PART, maximum=39, unset=unset)


COUNT_SHARE = Share(of_epsilon=Fraction(1, 20), most=Fraction(1, 10))
"""The part of a noisy count: a scale of 10 edges is nothing, and epsilon is worth more in cells."""


@dataclass(frozen=True, kw_only=True)
class NoisyMethod(Anonymizer[Any]):
    """A method that releases noisy counts, and spends the rest of epsilon on the cells."""

    spends: ClassVar[bool] = True
    trial_size: ClassVar[int] = 300_000
    shares: ClassVar[Mapping[str, Share]] = {}
    """What each count has of epsilon where nothing is asked for, by the name of its parameter."""

    epsilon: float = parameter(
        text="total privacy budget; the largest factor is e^epsilon",
        minimum=SMALLEST_EPSILON,
        maximum=LARGEST_EPSILON,
    )

    def __post_init__(self) -> None:
        """Check every parameter, and that something of epsilon is left for the cells."""
        super().__post_init__()
        self.check_parts()

    def check_parts(self) -> None:
        """Refuse parts that leave nothing of epsilon for the cells."""
        if self.epsilon_cells <= 0:
            counts = ", ".join(
                f"{name}={value}" for name, value in self.parameters().items() if "epsilon_" in name
            )
            raise ParameterError(
                f"epsilon={self.epsilon} leaves nothing for the cells ({counts}). Assign less "
                "to the counts."
            )

    def check(self, data: Data) -> None:
        """Refuse data of another kind, and items of which nobody said whether they are values."""
        super().check(data)
        check_values_of_columns(data)

    @property
    def guarantee(self) -> EdgeDP | NotClaimed:
        """What is guaranteed of a run without a seed."""
        return EdgeDP(epsilon=self.epsilon)

    @property
    def parts(self) -> dict[str, Fraction]:
        """The parts of epsilon that counts have, by name: those asked for, else their shares."""
        of, asked = as_printed(self.epsilon), {name: getattr(self, name) for name in self.shares}
        return {
            name: share.of(of) if asked[name] is None else as_printed(asked[name])
            for name, share in self.shares.items()
        }

    @property
    def epsilon_cells(self) -> Fraction:
        """What the counts leave for the cells, exactly."""
        return as_printed(self.epsilon) - sum(self.parts.values(), Fraction(0))


def noisy_count(words: Words, ones: int, n_cells: int, epsilon: Fraction) -> int:
    """Return a count of ones under `epsilon`, from 1 to all cells but one.

    The noise is a whole number, and the result is brought into its range after it: nothing depends
    on whether the true count is there.
    """
    noisy = ones + int(discrete_laplace(words, epsilon, 1)[0])
    return min(max(noisy, 1), n_cells - 1)


def resized(words: Words, cells: Cells, n_cells: int, size: int) -> Cells:
    """Return so many cells: a uniform part of these, or these and uniform others."""
    if size <= cells.size:
        return cells[distinct(words, cells.size, size)]
    return union(cells, others(words, cells, n_cells, size - cells.size))


def others(words: Words, cells: Cells, n_cells: int, count: int) -> Cells:
    """Return so many uniform cells other than these, in order.

    >>> from graphveil.methods.noise import words_from
    >>> from graphveil.core.randomness import Randomness
    >>> others(words_from(Randomness(), "others"), np.array([1, 3]), 4, 2).tolist()
    [0, 2]
    """
    among_others = distinct(words, n_cells - cells.size, count)
    others_before = cells - np.arange(cells.size)
    return among_others + np.searchsorted(others_before, among_others, side="right")


def entry_noun(data: Graph | Bipartite) -> str:
    """Return what a cell of 1 is called."""
    return kind_of(data).measured[0]


VALUES = (
    "items are values of columns, so changing one value changes two entries: epsilon applies to "
    "one value, and each entry gets half of it"
)
"""What an owner learns about items that are values."""


def entries_of_one(data: Graph | Bipartite) -> int:
    """Return how many cells one change is about: two where items are values of columns.

    >>> likes = Bipartite.from_pairs(["ann"], ["town=x"])
    >>> entries_of_one(likes), entries_of_one(likes.with_items("values"))
    (1, 2)
    """
    return ENTRIES_OF_A_VALUE if getattr(data, "items", None) == "values" else 1


def check_values_of_columns(data: Data) -> None:
    """Refuse items that may be values of columns: an epsilon would be of half of an answer.

    It reads names of items alone, which are public.
    """
    if not isinstance(data, Bipartite | Table):
        return
    tables = [one for one in (data, *data.origins) if isinstance(one, Table)]
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
    """Return what is not protected, whatever epsilon: texts that no entry changes.

    `of_people`: whether epsilon is of all entries of a person, rather than of one value or entry.
    """
    collected = [one for one in kind_of(data).lists if one not in data.public_lists]
    halved = not of_people and entries_of_one(data) > 1
    return (
        *((Advice(_collected(data, collected), PublicListWarning),) if collected else ()),
        *((Advice(VALUES, PublicListWarning),) if halved else ()),
    )


def _collected(data: Graph | Bipartite, lists: list[List]) -> str:
    """Return what lists show that came from the data."""
    kind = kind_of(data)
    words = [kind.people if one == "people" else one for one in lists]
    both = bool(words[1:])
    which = f"the list{'s' if both else ''} of {' and '.join(words)}"
    count = ", with their names, count" if both else " counts"
    if_collected = "they were collected" if both else "it was collected"
    reveal = "they reveal" if both else "it reveals"
    one, cell = " or ".join(word[:-1] for word in words), kind.measured[0]
    entry = "entry" if cell == "entries" else "edge"
    return (
        f"{which}{count} as public. If {if_collected} from the data, {reveal} every "
        f"{one} that is there because of a single {entry}, whatever epsilon is; the private "
        "record says how many there are"
    )


def noisy_draft(
    data: Graph | Bipartite, released: Graph | Bipartite, *warnings: str, **more: Any
) -> Draft[Any]:
    """Return a draft with the warnings on public lists and the figures of people listed once."""
    notes = OwnersNotes(cost=listed_once(data), warnings=(*public_inputs(data), *warnings))
    return Draft(data=released, notes=notes, **more)


def copies_matched(
    data: Graph | Bipartite, chances: Channel, ones: float | None
) -> tuple[str, ...]:
    """Return the advice on a graph under so little noise that a copy can be matched with it."""
    if not isinstance(data, Graph) or ones is None:
        return ()
    return noisy_copy(data.n_nodes, ones, (chances.zero / FULL, chances.one / FULL))


_FAR = 10
"""Noise on a count is hardly ever so many times its scale, or its deviation, above it."""


def noisy_at_most(graph: Graph, through: Channel, *, scale: Fraction | None = None) -> int:
    """Return a number of edges that noise hardly ever exceeds, before any is drawn.

    It reads how many edges there are: it is for the owner alone.
    """
    ones, cells = graph.n_edges, number_of_cells(graph)
    expected = (ones * through.one + (cells - ones) * through.zero) / FULL
    if scale is not None:  # the noisy count, whatever is drawn
        expected = max(expected, float(count_at_most(ones, scale)))
    return min(cells, math.ceil(expected + _FAR * math.sqrt(expected)))


def count_at_most(ones: int, scale: Fraction) -> int:
    """Return a number that a noisy count of some ones hardly ever exceeds."""
    return ones + math.ceil(_FAR * scale)


def listed_once(data: Graph | Bipartite) -> dict[str, int]:
    """Return how many stand by one entry alone in a list that was collected from the entries."""
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
