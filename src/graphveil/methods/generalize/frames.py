"""A frame in, a generalized frame out, as columns of an Arrow table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import (
    DataError,
    InfeasibleError,
    ParameterError,
    Problem,
    did_you_mean,
    mapping,
    option,
    warn,
)
from graphveil.core.lazy import lazy_module
from graphveil.core.randomness import Randomness
from graphveil.core.text import counted, printable
from graphveil.data.codes import NUMBER, written_dates
from graphveil.data.columns import Frames, arrow_table
from graphveil.data.ids import text as as_texts
from graphveil.data.spellings import spelled_twice
from graphveil.methods.generalize.levels import (
    ALL,
    LONGEST,
    Column,
    Hierarchy,
    Values,
    column_of,
    values_of,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    from graphveil.methods.generalize import recode
    from graphveil.methods.generalize.recode import Condition
else:
    pa = lazy_module("pyarrow")
    pc = lazy_module("pyarrow.compute")
    recode = lazy_module("graphveil.methods.generalize.recode")

Ints = NDArray[np.int64]

NEARLY_ALL = Fraction(9, 10)
"""A column without levels is refused if so many of its rows have a value of their own."""

FEW_ROWS = 20
"""Not in tables of fewer rows."""

MOST_COUNTS = 1 << 28
"""The most values times classes that conditions may count."""

DIGITS = 4
"""The most digits of a bound of total variation."""


@dataclass(frozen=True, eq=False)
class GeneralizedTable(Frames):
    """A table whose rows equal others in what they publish of the known columns.

    `table`: the known columns as ordered dictionaries of text, ``*`` last, and the attached ones as
    they came in: in the order of the input, and its rows in theirs; `classes`: int64, shape (n,):
    the class of every row: rows with equal known cells; `hierarchies`: the levels of every known
    column; `losses`: for every known column the mean loss of its cells, from 0 to 1; `index`: the
    index of the pandas frame that came in; None of others.
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
        """1 less the mean loss of all known cells: 1 where all are published as they were."""
        return 1 - float(np.mean(list(self.losses.values())))

    @property
    def edges_from_the_data(self) -> tuple[str, ...]:
        """The known columns whose intervals were computed from the data."""
        return tuple(name for name, levels in self.hierarchies.items() if levels.from_the_data)

    def labels(self) -> Ints:
        """Return 0..n-1."""
        return np.arange(self.size)

    def to_arrow(self) -> pa.Table:
        """Return the table."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas frame, with the index that came in."""
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
        For an attached column how many distinct values every class has, or ``"entropy:L"``: their
        entropy is at least log L, up to 1e-12.
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
        Where an argument is out of its range, or names no column.
    DataError
        Where a column has no levels and needs some, or its values do not suit them.
    InfeasibleError
        Where the table has fewer than k rows, or classes cannot meet a condition.

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
    wanted = _known_columns(table.column_names, known, attach, drop)
    rules = Rules(levels or {}, diverse or {}, close or {}, weights or {}, dates or {})
    rng = Randomness(seed=seed).stream("generalize")
    done = generalized(table, wanted, attach, rules, k=k, suppressed=suppressed, rng=rng)
    return replace(done, index=frame.index if hasattr(frame, "set_axis") else None)


class Rules(NamedTuple):
    """What is asked for by column, as `generalize` takes it."""

    levels: Mapping[str, str]
    diverse: Mapping[str, int | str]
    close: Mapping[str, float | str]
    weights: Mapping[str, float]
    dates: Mapping[str, str]


def generalized(
    table: pa.Table,
    wanted: Sequence[str],
    attach: Sequence[str],
    rules: Rules,
    *,
    k: int,
    suppressed: Sequence[str] = (ALL, ""),
    rng: np.random.Generator,
) -> GeneralizedTable:
    """Return a table generalized as `generalize` says."""
    for what, given in (
        ("levels", rules.levels),
        ("weights", rules.weights),
        ("dates", rules.dates),
    ):
        _check_named(what, given, wanted, table.column_names)
    n = table.num_rows
    if k < 2:
        raise ParameterError(f"k={k} is too small. Use k >= 2.")
    if n < k:
        raise InfeasibleError(f"k={k} exceeds the {counted(n, 'row')} of the table. Use k <= {n}.")
    conditions = _conditions(table, rules.diverse, rules.close, attach, n // k + 1)
    values = [values_of(name, table.column(name), suppressed) for name in sorted(wanted)]
    problems = questions_of_levels(values, rules.levels)
    if problems:
        raise DataError.asking(problems, {"levels": rules.levels, "dates": rules.dates})
    columns = {
        one.name: column_of(one, rules.levels.get(one.name, "stars"), rules.dates.get(one.name))
        for one in values
    }
    recoding = partial(
        recode.recode,
        np.stack([column.leaves for column in columns.values()], axis=1),
        [column.hierarchy for column in columns.values()],
        k=k,
        weights=[rules.weights.get(name, 1.0) for name in columns],
        rng=rng,
    )
    recoded = recoding(conditions=list(conditions.values()))
    cells = {
        name: _published(column, recoded.levels[:, j])
        for j, (name, column) in enumerate(columns.items())
    }
    codes = np.stack([published.indices.to_numpy() for published in cells.values()], axis=1)
    classes = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    if conditions and classes.max() == 0 and n >= 2 * k:
        _refuse_all_as_one(table, conditions, recoding().labels)
    kept = [name for name in table.column_names if name in cells or name in attach]
    return GeneralizedTable(
        table=pa.table({name: cells.get(name, table.column(name)) for name in kept}),
        classes=classes,
        hierarchies={name: columns[name].hierarchy for name in wanted},
        losses=dict(zip(columns, recoded.losses.tolist(), strict=True)),
    )


class ReadAgain:
    """The levels of the known columns of a table, by the rules that it was generalized by.

    `table`: the original; `known`: its known columns; `levels, dates`: the rules, as `generalize`
    takes them. Default: a value is published or ``*``.

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
        """Return what a cell loses that is published as a text, from 0 to 1."""
        hierarchy = self.columns[column].hierarchy
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
        """Return a granularity that no table of true nodes in classes of k exceeds."""
        most: float = recode.most_granular(
            np.stack([column.leaves for column in self.columns.values()], axis=1),
            [column.hierarchy for column in self.columns.values()],
            k=k,
            rng=rng,
        )
        return most


def _known_columns(
    every: Sequence[str], known: Sequence[str] | None, attach: Sequence[str], drop: Sequence[str]
) -> list[str]:
    """Return the known columns in the order of the table, or refuse roles that do not suit it."""
    roles = {"known": known or (), "attach": attach, "drop": drop}
    for role, names in roles.items():
        if isinstance(names, str):
            raise ParameterError(f"{role}={names!r} is a text. Use a list of columns.")
        _check_named(role, dict.fromkeys(names), every, every)
    for name, times in Counter(name for names in roles.values() for name in names).items():
        if times > 1:
            given = [role for role, names in roles.items() if name in names]
            raise ParameterError(
                f"column {name!r} is listed twice, in {' and '.join(given)}. Give it one role."
            )
    rest = [name for name in every if name not in attach and name not in drop]
    if known is None:
        wanted = rest
    else:
        wanted = [name for name in every if name in known]
        others = [name for name in rest if name not in known]
        if others:
            raise ParameterError(
                f"no role for {', '.join(others)}. List each in {option('known')}, "
                f"{option('attach')} or {option('drop')}."
            )
    if not wanted:
        raise ParameterError(
            f"none of the {counted(len(every), 'column')} is known to an attacker. List at least "
            f"one in {option('known')}."
        )
    return wanted


def _check_named(
    what: str, given: Mapping[str, object], columns: Sequence[str], every: Sequence[str]
) -> None:
    """Refuse names that are not among some columns."""
    for name in given:
        if name in columns:
            continue
        if name in every:
            raise ParameterError(f"{what} names the column {name!r}, which is not a known column.")
        if "," in name and "=" in name:  # several rules after one flag
            raise ParameterError(
                f"no column {name!r} for {what}. Repeat {option(what)} for each column instead of "
                "separating rules by commas."
            )
        raise ParameterError(
            f"no column {name!r} for {what}. {did_you_mean(name, every)}Columns: "
            f"{', '.join(every)}."
        )


def questions_of_levels(values: Sequence[Values], levels: Mapping[str, str]) -> list[Problem]:
    """Return what must be decided of columns that would be lost without levels.

    These are numbers, and columns with a value of its own in nearly every row.
    """
    problems = []
    for one in values:
        if one.name in levels or len(one.texts) <= 2:
            continue
        if _are_numbers(one.array):
            problems.append(
                Problem(
                    one.name,
                    "levels",
                    "auto",
                    f"column {one.name} has numbers and no levels",
                    f"use {mapping('levels', one.name, 'auto')}, widths such as "
                    f"{mapping('levels', one.name, '5,10,20')}, {option('attach', one.name)} or "
                    f"{option('drop', one.name)}",
                )
            )
        elif one.codes.size >= FEW_ROWS and len(one.texts) >= NEARLY_ALL * one.codes.size:
            problems += _of_nearly_unique(one)
    return problems


def _of_nearly_unique(one: Values) -> list[Problem]:
    """Return what must be decided of a column with a value of its own in nearly every row."""
    n, dates = counted(one.codes.size, "row"), written_dates(as_texts(one.texts))
    what, option_, value = ("value", "drop", one.name)
    ways = [option("drop", one.name), option("levels")]
    if dates is not None:
        what, option_, value = "date", "levels", dates.levels
        ways = [mapping("levels", one.name, dates.levels), option("drop", one.name)]
    asked = Problem(
        one.name,
        option_,
        value,
        f"column {one.name} has {counted(len(one.texts), what)} in {n} and no levels",
        f"use {', '.join(ways)} or {option('attach', one.name)}",
    )
    return [asked, *(dates.questions(one.name) if dates is not None else [])]


def _are_numbers(values: pa.Array) -> bool:
    """Whether values are numbers, or text that spells numbers of which some have fractions."""
    if not pa.types.is_string(values.type):
        return bool(pa.types.is_integer(values.type) or pa.types.is_floating(values.type))
    spelled = pc.all(pc.match_substring_regex(values, NUMBER)).as_py()
    return bool(spelled and pc.any(pc.match_substring_regex(values, "[.eE]")).as_py())


def _conditions(
    table: pa.Table,
    diverse: Mapping[str, int | str],
    close: Mapping[str, float | str],
    attach: Sequence[str],
    classes: int,
) -> dict[str, Condition]:
    """Return what classes must show of attached columns, or refuse what they cannot."""
    conditions = {}
    for name in dict.fromkeys([*diverse, *close]):
        what = "diverse" if name in diverse else "close"
        if name not in attach:
            _check_named(what, {name: None}, table.column_names, table.column_names)
            raise ParameterError(
                f"{what} names the column {name!r}, which is not attached. Add "
                f"{option('attach', name)}."
            )
        values = values_of(name, table.column(name), ())
        spelled = spelled_twice(values.texts) if name in diverse else ""
        if spelled:
            warn(
                f"{spelled} in {name} count as two different values, although they may be one: "
                "use one spelling for each value"
            )
        codes = np.where(values.codes < 0, len(values.texts), values.codes)
        count = int(codes.max()) + 1
        if count * classes > MOST_COUNTS:
            raise ParameterError(
                f"{what}: column {name!r} has {counted(count, 'value', spec=',')}, too many to "
                "count in each class. Group its values first."
            )
        distinct, entropy = _diversity(name, diverse.get(name, 1), np.unique(codes).size)
        shares = np.bincount(codes)[np.unique(codes)] / codes.size
        most = float(np.exp(-(shares * np.log(shares)).sum()))
        if entropy > most * (1 + 1e-12):
            raise InfeasibleError(
                f"diverse {name}=entropy:{entropy:g}: that of the whole table is {most:.6g}. Use "
                "at most this."
            )
        conditions[name] = recode.Condition(
            codes, distinct, entropy, _closeness(name, close.get(name, 1))
        )
    return conditions


def _diversity(name: str, given: int | str, values: int) -> tuple[int, float]:
    """Return the fewest values of a class, and the number whose logarithm bounds their entropy."""
    text = str(given)
    kind, _, number = text.partition(":") if ":" in text else ("distinct", "", text)
    try:
        least = float(number)
    except ValueError:
        least = 0.0
    if (
        kind not in {"distinct", "entropy"}
        or not least >= 1
        or (kind == "distinct" and not least.is_integer())
    ):
        raise ParameterError(
            f"diverse {name}={text} is not a number of values. Use {mapping('diverse', name, '2')} "
            f"or {mapping('diverse', name, 'entropy:1.5')}."
        )
    if least > values:
        raise InfeasibleError(
            f"diverse {name}={text}: the column has {counted(values, 'value')}. Use at most "
            f"{values}."
        )
    return (int(least), 1.0) if kind == "distinct" else (1, least)


def _closeness(name: str, given: float | str) -> Fraction:
    """Return the most total variation, exactly as it was written."""
    try:
        most = Fraction(str(given))
    except ValueError:
        most = Fraction(-1)
    if not 0 <= most <= 1 or (most * 10**DIGITS).denominator != 1:
        raise ParameterError(
            f"close {name}={given} is not a distance. Use a number from 0 to 1 of at most {DIGITS} "
            "digits."
        )
    return most


def _refuse_all_as_one(
    table: pa.Table, conditions: Mapping[str, Condition], labels: Ints
) -> NoReturn:
    """Refuse a table that a condition makes one class of, although it has rows for two."""
    asked = "; ".join(map(_asked, conditions, conditions.values()))
    reached = "; ".join(
        _reached(values_of(name, table.column(name), ()), one, labels)
        for name, one in conditions.items()
    )
    raise InfeasibleError(
        f"no class smaller than all {counted(labels.size, 'row')} was found that meets the "
        f"conditions: {asked}. Without conditions, {reached}. Use a weaker one."
    )


def _reached(values: Values, condition: Condition, labels: Ints) -> str:
    """Return how often the commonest value of a column is there, and what classes come to."""
    counts = np.zeros((labels.max() + 1, condition.codes.max() + 1))
    np.add.at(counts, (labels, condition.codes), 1)
    sizes, total = counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
    shares = counts / sizes
    said = []
    if condition.distinct > 1:
        said.append(f"have at least {counted(int((counts > 0).sum(axis=1).min()), 'value')}")
    if condition.entropy > 1:
        logs = np.log(np.where(counts > 0, shares, 1.0))
        least = float(np.exp((-(shares * logs).sum(axis=1)).min()))
        said.append(f"have the entropy of at least {least:.4g} values")
    if condition.close < 1:
        most = float(np.abs(shares - total / total.sum()).sum(axis=1).max() / 2)
        said.append(f"differ from the table by up to {most:.4g}")
    commonest = printable([*values.texts, ALL][int(total.argmax())], LONGEST)
    rows = f"{commonest}, the commonest value of {values.name}, is in {int(total.max()):,} of them"
    return f"classes {' and '.join(said)} ({rows})"


def _asked(name: str, condition: Condition) -> str:
    """Return the bounds of a column, as they are given."""
    asked = []
    if condition.distinct > 1:
        asked.append(f"diverse {name}={condition.distinct}")
    if condition.entropy > 1:
        asked.append(f"diverse {name}=entropy:{condition.entropy:g}")
    if condition.close < 1:
        asked.append(f"close {name}={float(condition.close):g}")
    return ", ".join(asked)


def _published(column: Column, levels: Ints) -> pa.DictionaryArray:
    """Return the cells of a column at these levels, as an ordered dictionary of text."""
    hierarchy = column.hierarchy
    order = {text: code for code, text in enumerate(hierarchy.in_order())}
    codes = np.empty(levels.size, dtype=np.int32)
    for level, texts in enumerate(hierarchy.texts):
        here = np.flatnonzero(levels == level)
        of_nodes = np.array([order[text] for text in texts], dtype=np.int32)
        codes[here] = of_nodes[hierarchy.nodes[level, column.leaves[here]]]
    shown, own = np.unique(codes, return_inverse=True)
    listed = list(order)
    names = pa.array([listed[code] for code in shown.tolist()], type=pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(own.astype(np.int32)), names, ordered=True)
