"""Who can be singled out in data as it is: a sentence, and one line for each thing known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphveil.core.text import Wording, percent
from graphveil.evaluate.wording import Line, name_from_data
from graphveil.measures import (
    MEASURES,
    Cascade,
    EqualRows,
    Identifiability,
    NetworkRisk,
    SingledOut,
)
from graphveil.measures.measuring import NEIGHBORS, WHOLE_ROW
from graphveil.measures.network import UniqueShare

Measured = Identifiability | EqualRows | NetworkRisk

MOST_COLUMNS = 5
"""So many columns that the attacker knows are named."""


def knowledge(measured: Measured, *, word: Wording = str) -> str:
    """Return what an attacker knows who can single out these people; names of columns stay.

    `word`: how the surface says it.
    """
    if isinstance(measured, NetworkRisk):
        return word(measured.knows)
    if isinstance(measured, Identifiability):
        knows = word(MEASURES[measured.measure].knows)
        return knows if measured.distance == 1 else f"{knows} (distance {measured.distance})"
    if measured.columns is not None:
        named = [name_from_data(one) for one in measured.columns[:MOST_COLUMNS]]
        more = len(measured.columns) - len(named)
        return (
            ", ".join(named)
            + (f" and {more} more column{'s' * (more > 1)}" if more else "")
            + " of a person"
        )
    if measured.noun == "users":
        return "all items of a person, and that there are no others"
    return "the complete row of a person"


def counted(measured: Measured) -> str:
    """Return what is counted: people, or rows where nobody said that these are people."""
    return measured.counted if isinstance(measured, EqualRows) else "people"


def headline(measured: Measured, *, word: Wording = str) -> str:
    """Return how many people (or rows) can be singled out, in one sentence.

    >>> from graphveil import Graph, measure
    >>> print(headline(measure(Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)))[:64])
    None of the 4 people can be singled out by an attacker who knows
    """
    count, n, what = int(measured.unprotected().size), measured.own_sizes.size, counted(measured)
    who = f"{count:,} of {n:,} {what} ({percent(count / max(n, 1))})"
    attacker = f"an attacker who knows {knowledge(measured, word=word)}"
    if not count:
        return f"None of the {n:,} {what} can be singled out by {attacker}."
    if measured.k == 2:
        return f"{who} {'is' if count == 1 else 'are'} unique to {attacker}."
    return f"{who} can be singled out by {attacker} (class smaller than {measured.k})."


def lines(
    measured: Measured,
    *,
    finer: Measured | None = None,
    alone: Sequence[SingledOut] = (),
    cascaded: Cascade | None = None,
    word: Wording = str,
) -> tuple[Line, ...]:
    """Return a line for each thing that someone may know: how many people are alone, or nearly.

    >>> from graphveil import Graph, measure
    >>> [line] = lines(measure(Graph.from_edges([0, 0], [1, 2], n=3)))
    >>> line.question, line.figure, line.unit
    ("the number of a person's neighbors", '33.3%', 'are unique')
    """
    who = counted(measured)
    every = [_line(knowledge(measured, word=word), measured.own_sizes, measured.k, who)]
    if isinstance(measured, NetworkRisk):
        parts = (part._replace(knows=word(part.knows)) for part in measured.parts)
        every = [*(_of_part(part, measured.k) for part in parts), *every]
    if isinstance(measured, Identifiability) and measured.fuzzy is not None:
        fuzzy = measured.summary()["fuzzy"]
        figure, unit = percent(fuzzy["uniqueness"]), "are unique"
        question = f"the same, off by up to {measured.fuzzy.phi:g}%"
        every.append(_answered(question, figure, unit))
        figure = percent(fuzzy["noisy_share_unprotected"])
        few = "are unique" if measured.k == 2 else f"have fewer than {measured.k} candidates"
        every.append(
            _answered(f"numbers that are off by up to {measured.fuzzy.phi:g}%", figure, few)
        )
    if finer is not None:
        also = NEIGHBORS if isinstance(finer, Identifiability) else WHOLE_ROW
        every.append(_line(word(f"also {also}"), finer.own_sizes, finer.k, who))
    what = "cells" if isinstance(measured, EqualRows) and measured.noun == "rows" else "items"
    return (*every, *_of_items(alone, what, who), *_cascade(cascaded))


def _line(question: str, sizes: Any, k: int, who: str) -> Line:
    n = max(sizes.size, 1)
    alone, unprotected = float((sizes == 1).sum()) / n, float((sizes < k).sum()) / n
    return _of_part(UniqueShare(question, alone, unprotected), k, who)


def _of_part(part: UniqueShare, k: int, who: str = "people") -> Line:
    figure, unit = percent(part.uniqueness), "are unique"
    if k > 2:
        unit += f"; {percent(part.share_unprotected)} in classes smaller than {k}"
    return _answered(part.knows, figure, unit, who)


def _answered(question: str, figure: str, unit: str, who: str = "people") -> Line:
    sentence = f"For an attacker who knows {question}: {figure} of the {who} {unit}."
    return Line(question=question, figure=figure, unit=unit, sentence=sentence)


def _of_items(alone: Sequence[SingledOut], what: str, who: str) -> Iterator[Line]:
    for each in alone:
        name = what if each.items > 1 else what.removesuffix("s")
        low, high = percent(each.low), percent(each.high)
        interval = "" if each.low == each.high else f" (95% interval: {low} to {high})"
        figure, unit = percent(each.share), f"are unique{interval}"
        question = f"{each.items} random {name}"
        yield _answered(question, figure, unit, who)


def _cascade(cascaded: Cascade | None) -> Iterator[Line]:
    if cascaded is None:
        return
    figure = percent(sum(cascaded.per_level()) / max(cascaded.levels.size, 1))
    unit = "are identified in total"
    question = f"the same, continued to neighbors by {cascaded.second}"
    yield _answered(question, figure, unit)
