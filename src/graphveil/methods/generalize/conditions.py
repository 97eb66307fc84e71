"""Conditions on attached columns: l-diversity and closeness, as they are given and refused.

A class can be k-anonymous and still show what its rows have in an attached column, if all of them
have the same. Three bounds limit this, each for the rows of every class:

- distinct l-diversity: at least l different values (Machanavajjhala et al., ICDE 2006);
- entropy l-diversity: the entropy of the values is at least log l (the same paper);
- closeness: the total variation between the values of the class and those of the table is at most
  t (Li, Li and Venkatasubramanian, ICDE 2007). The paper uses the earth mover's distance; if all
  values are equally far from each other, that is the total variation.

Diversity counts known values: missing cells and the words of `core.missing_words.UNKNOWN` never
help. For closeness a missing cell is a value of its own. Bounds that not even the table as one
class meets are refused before the search. The kernels test the bounds for every cluster and every
move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.core.errors import InfeasibleError, ParameterError
from graphveil.core.hints import mapping, option
from graphveil.core.missing_words import UNKNOWN, plain
from graphveil.core.text import counted, printable
from graphveil.core.warning_channel import warn
from graphveil.data.spellings import spelled_twice, two_values
from graphveil.methods.generalize.columns import check_named
from graphveil.methods.generalize.hierarchy import ALL, LONGEST
from graphveil.methods.generalize.levels import Values, values_of

if TYPE_CHECKING:
    import pyarrow as pa


class Condition(NamedTuple):
    """What the rows of every class must show in one attached column.

    Parameters
    ----------
    codes
        int64, shape (n,): the value of every row; the known values come first.
    known
        The number of known values. Larger codes are words for missing, and missing cells.
    distinct
        The fewest different values; 1 for no bound.
    entropy
        The least entropy is the natural logarithm of this; 1 for no bound.
    close
        The most total variation between a class and the table, from 0 to 1; 1 for no bound.
    """

    codes: Ints
    known: int
    distinct: int = 1
    entropy: float = 1.0
    close: Fraction = Fraction(1)


MOST_COUNTS = 1 << 28
"""The most values times classes that a condition may count: 1 GiB of 4-byte counts.

The kernels keep a count per value and possible class. A column of more values is refused.
"""

DIGITS = 4
"""The most decimal digits of a bound of total variation.

The kernels compare fractions as 64-bit integers, whose products grow with the denominator.
"""


def conditions_of(
    table: pa.Table,
    diverse: Mapping[str, int | str],
    close: Mapping[str, float | str],
    attach: Sequence[str],
    classes: int,
) -> dict[str, Condition]:
    """Return the conditions by column, or refuse those that no class can meet.

    `diverse`, `close`: as `generalize` takes them; `attach`: the attached columns; `classes`: the
    most classes that the table can have.
    """
    conditions = {}
    for name in dict.fromkeys([*diverse, *close]):
        what = "diverse" if name in diverse else "close"
        if name not in attach:
            check_named(what, {name: None}, table.column_names, table.column_names)
            raise ParameterError(
                f"{what} names the column {name!r}, which is not attached. Add "
                f"{option('attach', name)}."
            )
        # Two spellings of one value make a class look more diverse than it is.
        values = values_of(name, table.column(name), ())
        is_word = np.array([plain(text) in UNKNOWN for text in values.texts], dtype=bool)
        texts = [text for text, word in zip(values.texts, is_word, strict=True) if not word]
        spelled = spelled_twice(texts) if name in diverse else ""
        if spelled:
            warn(two_values(spelled, name))
        # Number the known values first, then words for missing. A missing cell is one more value.
        known = len(texts)
        numbers = np.empty(len(values.texts) + 1, dtype=np.int64)
        numbers[np.append(np.argsort(is_word, kind="stable"), -1)] = np.arange(numbers.size)
        codes = numbers[values.codes]
        count = int(codes.max()) + 1
        if count * classes > MOST_COUNTS:
            raise ParameterError(
                f"{what}: column {name!r} has {counted(count, 'value', spec=',')}, too many to "
                "count in each class. Group its values first."
            )
        # Entropy is concave: the mean entropy of classes is at most that of the whole table, so not
        # all of them can meet a larger bound.
        distinct, entropy = _diversity(name, diverse.get(name, 1), known, count - known)
        counts = np.bincount(codes)[:known]
        shares = counts / counts.sum()
        most = float(np.exp(-(shares * np.log(shares)).sum()))
        if entropy > most * (1 + 1e-12):
            raise InfeasibleError(
                f"diverse {name}=entropy:{entropy:g}: that of the whole table is {most:.6g}. Use "
                "at most this."
            )
        closeness = _closeness(name, close.get(name, 1))
        conditions[name] = Condition(codes, known, distinct, entropy, closeness)
    return conditions


def _diversity(name: str, given: int | str, values: int, missing: int) -> tuple[int, float]:
    """Return the fewest values of a class, and the number whose logarithm bounds their entropy.

    `given`: a number, or ``entropy:NUMBER``; `values`: the different known values of the column;
    `missing`: how many others there are: words for missing, and one for missing cells.
    """
    # ``NUMBER`` bounds the different values, ``entropy:NUMBER`` the entropy.
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
        apart = ", missing cells and words for missing not counted" if missing else ""
        way_out = f"Use at most {values}" if values > 1 else f"Remove {option('diverse')}"
        raise InfeasibleError(
            f"diverse {name}={text}: the column has {counted(values, 'value')}{apart}. {way_out}."
        )
    return (int(least), 1.0) if kind == "distinct" else (1, least)


def _closeness(name: str, given: float | str) -> Fraction:
    """Return the most total variation, exactly as it was written."""
    # As a fraction of the decimal text, so that 0.1 is a tenth and not the nearest float.
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


def refuse_all_as_one(
    table: pa.Table, conditions: Mapping[str, Condition], labels: Ints
) -> NoReturn:
    """Refuse a table that a condition makes one class of, although it has rows for two."""
    # Name the bounds, and what classes reach without them, so that the owner can choose others.
    asked = "; ".join(map(_asked, conditions, conditions.values()))
    reached = "; ".join(
        _reached(values_of(name, table.column(name), ()), condition, labels)
        for name, condition in conditions.items()
    )
    raise InfeasibleError(
        f"no class smaller than all {counted(labels.size, 'row')} was found that meets the "
        f"conditions: {asked}. Without conditions, {reached}. Use a weaker one."
    )


def _reached(values: Values, condition: Condition, labels: Ints) -> str:
    """Return what the classes of one column reach without conditions, in words.

    `labels`: the class of every row. Named are the bounds that were asked for, and the most common
    value, which is what usually prevents them.
    """
    # Count every value in every class: shape (classes, values).
    counts = np.zeros((labels.max() + 1, condition.codes.max() + 1))
    np.add.at(counts, (labels, condition.codes), 1)
    sizes, total = counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
    shares = counts / sizes
    reached = []
    known = counts[:, : condition.known]
    if condition.distinct > 1:
        reached.append(f"have at least {counted(int((known > 0).sum(axis=1).min()), 'value')}")
    if condition.entropy > 1:
        among = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
        logs = np.log(np.where(known > 0, among, 1.0))
        least = float(np.exp((-(among * logs).sum(axis=1)).min()))
        reached.append(f"have the entropy of at least {least:.4g} values")
    if condition.close < 1:
        most = float(np.abs(shares - total / total.sum()).sum(axis=1).max() / 2)
        reached.append(f"differ from the table by up to {most:.4g}")
    row = int(np.flatnonzero(condition.codes == total.argmax())[0])
    commonest = printable([*values.texts, ALL][int(values.codes[row])], LONGEST)
    rows = f"{commonest}, the commonest value of {values.name}, is in {int(total.max()):,} of them"
    return f"classes {' and '.join(reached)} ({rows})"


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
