"""Attributes and weights that data came with and that are not in a container."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from graphveil.errors import warn
from graphveil.warning_kinds import LeftOutColumnsWarning

SHOWN = 10
D = TypeVar("D")


def left_out_words(names: Sequence[str]) -> tuple[str, ...]:
    """Return what was left out, and what joining it back does; nothing where nothing was.

    Examples
    --------
    >>> print(*left_out_words(["gender", "year"]))
    left out gender, year: a release says nothing of them, and whoever joins them back to one can \
single people out again
    """
    if not names:
        return ()
    listed = ", ".join(_shown(name) for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    words = (
        f"left out {listed}{more}: a release says nothing of them, and whoever joins them back to "
        "one can single people out again"
    )
    return (words,)


def warn_left_out(names: Iterable[object]) -> tuple[str, ...]:
    """Warn of attributes that are left out, and return their names, each once."""
    listed = tuple(dict.fromkeys(map(str, names)))
    for words in left_out_words(listed):
        warn(words, LeftOutColumnsWarning)
    return listed


def attributes_of(graph: Any) -> Iterator[object]:
    """Yield the names of the attributes of a NetworkX graph's nodes and edges, with repeats."""
    for *_, values in (*graph.nodes(data=True), *graph.edges(data=True)):
        yield from values


def noting(data: D, left_out: tuple[str, ...]) -> D:
    """Return a container that was just made, with the names of what it leaves out."""
    object.__setattr__(data, "left_out", left_out)
    return data


def _shown(name: str) -> str:
    text = name.encode("unicode_escape").decode("ascii") if not name.isprintable() else name
    return text if len(text) <= 40 else f"{text[:37]}..."
