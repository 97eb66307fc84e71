"""Generalize a table: a frame in, a generalized frame out, as columns of an Arrow table.

Each known column is read as distinct values with levels (`levels`), the rows are recoded as
integers (`recode`), and the cells are written as nodes of the levels. Rows that publish the same in
all known columns are a class. Attached columns come out as they came in, and can carry conditions
(`conditions`).

Nothing here makes a release or a claim: that is the method `Generalize` (`method`). Cost: that of
the recoding, and O(n log n) per column to read and write it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.errors import DataError, InfeasibleError, ParameterError
from graphveil.core.hints import mapping, option
from graphveil.core.lazy import lazy_module
from graphveil.core.libraries import pa, pc
from graphveil.core.questions import Problem
from graphveil.core.randomness import Randomness
from graphveil.core.text import counted, printable
from graphveil.core.warning_channel import warn
from graphveil.data.codes import NUMBER, written_dates
from graphveil.data.columns import Frames, arrow_table
from graphveil.data.ids import text as as_texts
from graphveil.methods.generalize.columns import check_named, known_columns
from graphveil.methods.generalize.conditions import conditions_of, refuse_all_as_one
from graphveil.methods.generalize.hierarchy import ALL, Hierarchy
from graphveil.methods.generalize.labels import overlapping
from graphveil.methods.generalize.levels import (
    Column,
    Values,
    column_of,
    kind_of_levels,
    values_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from graphveil.methods.generalize import recode
else:
    recode = lazy_module("graphveil.methods.generalize.recode")


NEARLY_ALL = Fraction(9, 10)
"""A column without levels is asked about if it has this many different values per row.

Without levels such values are published only where k rows have the same: nearly all would be
suppressed. Less would ask about columns of which much is kept.
"""

FEW_ROWS = 20
"""In tables of fewer rows it is not asked about: there, most columns have many values per row."""


@dataclass(frozen=True, eq=False)
class GeneralizedTable(Frames):
    """A table whose rows equal others in what they publish of the known columns.

    Parameters
    ----------
    table
        The known columns as ordered dictionaries of text, ``*`` last, and the attached columns
        unchanged. Columns and rows are in the order of the input.
    classes
        int64, shape (n,): the class of every row. Rows of a class have equal known cells.
    hierarchies
        The levels of every known column.
    losses
        For every known column the mean loss of its cells, from 0 to 1.
    index
        The index of the pandas frame that came in. None for other inputs.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [23, 27, 31, 38]})
    >>> done = generalize(people, k=2, levels={"age": "10,20"}, seed=1)
    >>> done.size, done.classes.tolist(), round(done.granularity, 3)
    (4, [0, 0, 1, 1], 0.526)
    """

    table: pa.Table
    classes: Ints
    hierarchies: Mapping[str, Hierarchy]
    losses: Mapping[str, float]
    index: pd.Index[Any] | None = None

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.table.num_rows)

    @property
    def smallest_class(self) -> int:
        """The number of rows of the smallest class."""
        return int(np.bincount(self.classes).min())

    @property
    def granularity(self) -> float:
        """1 less the mean loss of all known cells: 1 if all are published unchanged."""
        return 1 - float(np.mean(list(self.losses.values())))

    @property
    def edges_from_the_data(self) -> tuple[str, ...]:
        """The known columns whose intervals were computed from the data."""
        return tuple(name for name, levels in self.hierarchies.items() if levels.from_the_data)

    def labels(self) -> Ints:
        """Return 0 to n - 1: int64, shape (n,)."""
        return np.arange(self.size)

    def to_arrow(self) -> pa.Table:
        """Return the table.

        Returns
        -------
        pyarrow.Table
            Known columns as ordered dictionaries of text, attached ones unchanged.
        """
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas frame, with the index of the input.

        Returns
        -------
        pandas.DataFrame
            Known columns are ordered categories, in the order of their intervals; ``*`` is last.

        Examples
        --------
        >>> import pandas as pd
        >>> people = pd.DataFrame({"age": [23, 27, 31, 38]}, index=["a", "b", "c", "d"])
        >>> generalize(people, k=2, levels={"age": "10"}, seed=1).to_pandas()["age"]["d"]
        '30-39'
        """
        frame = super().to_pandas()
        return frame if self.index is None else frame.set_axis(self.index)

    def _sizes(self) -> dict[str, object]:
        return {"rows": self.size, "classes": int(self.classes.max()) + 1}


def generalize(  # noqa: PLR0913  each is an option that a caller names
    frame: Any,
    *,
    k: int,
    known: Sequence[str] | None = None,
    attach: Sequence[str] = (),
    drop: Sequence[str] = (),
    levels: Mapping[str, str] | None = None,
    diverse: Mapping[str, int | str] | None = None,
    close: Mapping[str, float | str] | None = None,
    weights: Mapping[str, float] | None = None,
    dates: Mapping[str, str] | None = None,
    suppressed: Sequence[str] = (ALL, ""),
    seed: int | None = None,
) -> GeneralizedTable:
    """Generalize a table until every row equals at least k-1 others in its known columns.

    Rows are put in classes of at least k; a class publishes in every column the narrowest node of
    its hierarchy that all its rows share. So every published cell is true. The classes are formed
    by a lattice of levels and a local search that lose as little as they can.

    Parameters
    ----------
    frame
        A pandas, polars or Arrow table, one row for each person.
    k
        The smallest class, from 2.
    known
        The columns that an attacker may know. Default: all others.
    attach
        Columns that are published as they are, outside of the classes.
    drop
        Columns that are not read.
    levels
        For a known column how it is generalized, see
        `graphveil.methods.generalize.levels.column_of`. Default: text is published or ``*``.
    diverse
        For an attached column how many distinct known values every class has, or ``"entropy:L"``:
        their entropy is at least log L, up to 1e-12. Missing cells and words for missing do not
        count.
    close
        For an attached column how far the values of every class may be from those of the table:
        their total variation, from 0 to 1, of at most four digits.
    weights
        For a known column how much its loss counts in the search. Default: 1.
    dates
        For a known column how it writes dates, such as ``"%d/%m/%Y"``. Default: ISO 8601.
    suppressed
        Texts that stand for a missing cell, which is published as ``*``.
    seed
        None draws from the operating system. With a seed the same rows in any order give the same
        classes.

    Returns
    -------
    GeneralizedTable
        Its rows are in the order of the input: shuffle them before they are published.

    Raises
    ------
    ParameterError
        If an argument is out of its range, or does not name a column.
    DataError
        If a column has no levels and needs some, or its values do not suit them.
    InputError
        If a file of levels cannot be read.
    InfeasibleError
        If the table has fewer than k rows, or classes cannot meet a condition.

    Notes
    -----
    This is a function of tables, no release: it makes no claim, and `graphveil verify` does not
    check its result. Attached columns can tell something of the rows of a class, and what a
    class has in common is published. An attacker who knows the method and the other rows can
    learn more from how far a class is generalized.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [23, 27, 31, 38], "sex": ["f", "f", "m", "m"],
    ...                        "sick": ["flu", "cold", "flu", "flu"]})
    >>> done = generalize(people, k=2, known=["age", "sex"], attach=["sick"],
    ...                   levels={"age": "10,20"}, seed=1)
    >>> done.to_pandas()["age"].tolist(), done.smallest_class
    (['20-29', '20-29', '30-39', '30-39'], 2)
    """
    table = arrow_table(frame)
    columns = known_columns(table.column_names, known, attach, drop)
    rules = Rules(levels or {}, diverse or {}, close or {}, weights or {}, dates or {})
    rng = Randomness(seed=seed).stream("generalize")
    result = generalized(table, columns, attach, rules, k=k, suppressed=suppressed, rng=rng)
    return replace(result, index=frame.index if hasattr(frame, "set_axis") else None)


class Rules(NamedTuple):
    """The rules by column, as `generalize` takes them."""

    levels: Mapping[str, str]
    diverse: Mapping[str, int | str]
    close: Mapping[str, float | str]
    weights: Mapping[str, float]
    dates: Mapping[str, str]


def generalized(
    table: pa.Table,
    known: Sequence[str],
    attach: Sequence[str],
    rules: Rules,
    *,
    k: int,
    suppressed: Sequence[str] = (ALL, ""),
    rng: np.random.Generator,
    units: NDArray[np.int32] | None = None,
) -> GeneralizedTable:
    """Return a generalized table.

    `known`: the known columns; `attach`, `rules`, `k`, `suppressed`: as `generalize` takes them.
    `units`: int32, shape (n,), the person or household of each row, of which every class has at
    least k; None if each row is one.
    """
    # Step 1: check what is asked for, and read the known columns as distinct values. They are in
    # the order of their names, so that the order of the columns in the table changes nothing. A
    # column without levels that would be lost is asked about.
    for what, given in (
        ("levels", rules.levels),
        ("weights", rules.weights),
        ("dates", rules.dates),
    ):
        check_named(what, given, known, table.column_names)
    n = table.num_rows
    if k < 2:
        raise ParameterError(f"k={k} is too small. Use k >= 2.")
    if n < k:
        raise InfeasibleError(f"k={k} exceeds the {counted(n, 'row')} of the table. Use k <= {n}.")
    conditions = conditions_of(table, rules.diverse, rules.close, attach, n // k + 1)
    values = [values_of(name, table.column(name), suppressed) for name in sorted(known)]
    problems = questions_of_levels(values, rules.levels)
    if problems:
        raise DataError.asking(problems, {"levels": rules.levels, "dates": rules.dates})
    # Step 2: find the levels of every column, and recode the rows locally. The recoding is a value,
    # since a refusal (in step 3) runs it once more without the conditions.
    columns = {
        each.name: column_of(each, rules.levels.get(each.name, "stars"), rules.dates.get(each.name))
        for each in values
    }
    for name, column in columns.items():
        _warn_of_overlaps(name, rules.levels.get(name, "stars"), column.hierarchy)
    recode_under = partial(
        recode.recode if units is None else partial(recode.recode_in_layers, units=units),
        np.stack([column.leaves for column in columns.values()], axis=1),
        [column.hierarchy for column in columns.values()],
        k=k,
        weights=[rules.weights.get(name, 1.0) for name in columns],
        rng=rng,
    )
    recoded = recode_under(conditions=list(conditions.values()))
    # Step 3: write the cells as nodes. Clusters that publish the same are one class.
    cells = {
        name: _published(column, recoded.levels[:, j])
        for j, (name, column) in enumerate(columns.items())
    }
    codes = np.stack([published.indices.to_numpy() for published in cells.values()], axis=1)
    classes = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    # One class of everything tells nothing: say what classes reach without the conditions.
    if conditions and classes.max() == 0 and n >= 2 * k:
        refuse_all_as_one(table, conditions, recode_under().labels)
    kept = [name for name in table.column_names if name in cells or name in attach]
    return GeneralizedTable(
        table=pa.table({name: cells.get(name, table.column(name)) for name in kept}),
        classes=classes,
        hierarchies={name: columns[name].hierarchy for name in known},
        losses=dict(zip(columns, recoded.losses.tolist(), strict=True)),
    )


def _warn_of_overlaps(name: str, rule: str, hierarchy: Hierarchy) -> None:
    """Warn of labels of a file's level that read as intervals and overlap."""
    if kind_of_levels(rule) != "file":
        return
    for texts in hierarchy.texts[1:]:
        pair = overlapping(texts)
        if pair is not None:
            first, second = (printable(label) for label in pair)
            warn(
                f"levels of {name}: {first} and {second} overlap, so that a value of both is "
                "published under one of them alone; attackers may tell them apart"
            )


class ReadAgain:
    """The levels of the known columns of an original, read again to evaluate its release.

    `table`: the original; `known`: its known columns; `levels, dates`: the rules that it was
    generalized by, as `generalize` takes them. Default: a value is published or ``*``.

    >>> import pyarrow as pa
    >>> again = ReadAgain(pa.table({"age": [23, 27, 31, 38]}), ["age"], {"age": "10,20"}, {})
    >>> again.losses("age")["20-29"] == 9 / 19
    True
    """

    def __init__(
        self,
        table: pa.Table,
        known: Sequence[str],
        levels: Mapping[str, str],
        dates: Mapping[str, str],
    ) -> None:
        self.columns = {
            name: column_of(
                values_of(name, table.column(name), (ALL, "")),
                levels.get(name, "stars"),
                dates.get(name),
            )
            for name in known
        }

    def losses(self, column: str) -> dict[str, float]:
        """Return for every text that a cell can be published as what it loses, from 0 to 1."""
        hierarchy = self.columns[column].hierarchy
        # A text at several levels has the leaves of one node: its lowest level has its loss.
        lost = {ALL: 1.0}
        for texts, nodes, losses in zip(
            hierarchy.texts, hierarchy.nodes, hierarchy.losses, strict=True
        ):
            of_nodes = np.zeros(len(texts))
            of_nodes[nodes] = losses
            for text, loss in zip(texts, of_nodes.tolist(), strict=True):
                lost.setdefault(text, loss)
        return lost

    def nested(self, column: str) -> tuple[NDArray[np.int32], tuple[tuple[str, ...], ...], Ints]:
        """Return the nodes and the texts of all levels of a column, and the leaf of every row."""
        hierarchy, leaves = self.columns[column]
        return hierarchy.nodes, hierarchy.texts, leaves

    def most_granular(self, k: int, rng: np.random.Generator) -> float:
        """Return a granularity that no table of true nodes in classes of k exceeds.

        `k`: the smallest class; `rng`: for the hashes of `recode.most_granular`.
        """
        most: float = recode.most_granular(
            np.stack([column.leaves for column in self.columns.values()], axis=1),
            [column.hierarchy for column in self.columns.values()],
            k=k,
            rng=rng,
        )
        return most


def questions_of_levels(values: Sequence[Values], levels: Mapping[str, str]) -> list[Problem]:
    """Return what must be decided about columns that would be lost without levels.

    These are columns of numbers, and columns with a different value in nearly every row.

    Parameters
    ----------
    values
        The distinct values of each known column.
    levels
        The rules by column: columns with a rule are not asked about.

    Returns
    -------
    list of Problem
        Each names the column, an option that answers it, and a suggested value.
    """
    # Columns of one or two values are asked about by no rule: most of their cells are kept.
    problems = []
    for column in values:
        name = column.name
        if name in levels or len(column.texts) <= 2:
            continue
        if _are_numbers(column.array):
            problems.append(
                Problem(
                    name,
                    "levels",
                    "auto",
                    f"column {name} has numbers and no levels",
                    f"use {mapping('levels', name, 'auto')}, widths such as "
                    f"{mapping('levels', name, '5,10,20')}, {option('attach', name)} or "
                    f"{option('drop', name)}",
                )
            )
        elif column.codes.size >= FEW_ROWS and len(column.texts) >= NEARLY_ALL * column.codes.size:
            problems += _of_nearly_unique(column)
    return problems


def _of_nearly_unique(column: Values) -> list[Problem]:
    """Return what must be decided about a column with a different value in nearly every row."""
    # Suggest levels for dates, and otherwise to drop the column: it nearly identifies rows.
    n, name = counted(column.codes.size, "row"), column.name
    dates = written_dates(as_texts(column.texts))
    what, option_, value = ("value", "drop", name)
    ways = [option("drop", name), option("levels")]
    if dates is not None:
        what, option_, value = "date", "levels", dates.levels
        ways = [mapping("levels", name, dates.levels), option("drop", name)]
    asked = Problem(
        name,
        option_,
        value,
        f"column {name} has {counted(len(column.texts), what)} in {n} and no levels",
        f"use {', '.join(ways)} or {option('attach', name)}",
    )
    return [asked, *(dates.questions(name) if dates is not None else [])]


def _are_numbers(values: pa.Array) -> bool:
    """Return whether values are numbers, or text that spells numbers, some with fractions."""
    if not pa.types.is_string(values.type):
        return bool(pa.types.is_integer(values.type) or pa.types.is_floating(values.type))
    spelled = pc.all(pc.match_substring_regex(values, NUMBER)).as_py()
    return bool(spelled and pc.any(pc.match_substring_regex(values, "[.eE]")).as_py())


def _published(column: Column, levels: Ints) -> pa.DictionaryArray:
    """Return the cells of a column at these levels, as an ordered dictionary of text.

    `levels`: int64, shape (n,): the level of every row. Categories are in the order of
    `Hierarchy.in_order`; only those that are published are listed.
    """
    hierarchy = column.hierarchy
    # Write the code of every cell, level by level, in the order of all nodes of the column.
    order = {text: code for code, text in enumerate(hierarchy.in_order())}
    codes = np.empty(levels.size, dtype=np.int32)
    for level, texts in enumerate(hierarchy.texts):
        here = np.flatnonzero(levels == level)
        of_nodes = np.array([order[text] for text in texts], dtype=np.int32)
        codes[here] = of_nodes[hierarchy.nodes[level, column.leaves[here]]]
    # Keep the categories that are published, so that a frame does not list the values of others.
    shown, own = np.unique(codes, return_inverse=True)
    listed = list(order)
    names = pa.array([listed[code] for code in shown.tolist()], type=pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(own.astype(np.int32)), names, ordered=True)
