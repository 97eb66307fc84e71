"""Text as it reaches a reader: what others wrote is shown and never obeyed; words suit a surface.

Names of files, columns, people and items may hold anything: codes that clear the screen, characters
that turn the direction of writing, or such as nobody sees. All that is printed goes through here.

Everything is worded for the command line, which says node and edge. The pages (report, advice,
sweep and browser app) say person and connection, by `for_people`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from html import escape
from typing import Literal

from graphveil.core.visible import visible

LONGEST = 200
"""The most characters of an id that are shown."""


def printable(value: object, longest: int = LONGEST) -> str:
    r"""Return a value from data on one line, visible, and cut where it is very long.

    >>> printable("ann\x1b[31m"), printable("a" * 50, 40)
    ('ann\\x1b[31m', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...')
    """
    text = visible(str(value))
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def per_hundred(share: float, *, places: int = 1) -> str:
    """Return a share as a number of 100 that is never rounded to all or nothing.

    >>> per_hundred(0.233), per_hundred(0.00187), per_hundred(0.72), per_hundred(-1e-5)
    ('23.3', '0.2', '72', '> -0.1')
    >>> per_hundred(0.233, places=0), per_hundred(0.999, places=0)
    ('23', '> 99')
    """
    value, step = 100 * share, 10**-places
    rounded = round(value, places)
    if value and not rounded:
        return f"< {step:g}" if value > 0 else f"> -{step:g}"
    return f"> {100 - step:g}" if value < 100 <= rounded else f"{rounded:g}"


def percent(share: float, *, places: int = 1) -> str:
    """Return a share as a percentage, as `per_hundred` does."""
    return f"{per_hundred(share, places=places)}%"


def number(value: float) -> str:
    """Return a count, or a mean with one decimal.

    >>> number(1234.0), number(6.9166), number(0.0166)
    ('1,234', '6.9', '0.017')
    """
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 1 else f"{value:.2g}"


Verb = Literal["", "is", "was", "has", "remains", "differs", "meets"]
_PLURAL: dict[Verb, Verb | str] = {
    "": "",
    "is": "are",
    "was": "were",
    "has": "have",
    "remains": "remain",
    "differs": "differ",
    "meets": "meet",
}
"""The plural of each verb; another verb is an error, where it would stay in the singular."""

_IRREGULAR = {"person": "people"}


def counted(count: int, what: str, verb: Verb = "", *, spec: str = "") -> str:
    """Return a number of things in words, and what they are or have; `spec` is its format.

    >>> counted(1, "class"), counted(0, "entry"), counted(2, "node"), counted(2, "person")
    ('1 class', '0 entries', '2 nodes', '2 people')
    >>> counted(1, "id", "is"), counted(0, "edge", "has"), counted(4321, "edge", spec=",")
    ('1 id is', '0 edges have', '4,321 edges')
    """
    if count == 1:
        return f"{count:{spec}} {what} {verb}".rstrip()
    first, _, last = what.rpartition(" ")
    several = f"{first} {_plural(last)}".lstrip()
    return f"{count:{spec}} {several} {_PLURAL[verb]}".rstrip()


def _plural(one: str) -> str:
    if one in _IRREGULAR:
        return _IRREGULAR[one]
    if one.endswith("y") and one[-2:-1] not in "aeo":
        return f"{one.removesuffix('y')}ies"
    return f"{one}{'es' if one.endswith(('s', 'x')) else 's'}"


def singular(plural: str) -> str:
    """Return what one of some things is called.

    >>> singular("entries"), singular("suppressed cells"), singular("classes"), singular("people")
    ('entry', 'suppressed cell', 'class', 'person')
    """
    if plural.endswith("people"):
        return f"{plural.removesuffix('people')}person"
    if plural.endswith("ies"):
        return f"{plural.removesuffix('ies')}y"
    return plural.removesuffix("es" if plural.endswith("sses") else "s")


def capital(text: str) -> str:
    """Return a text as the beginning of a sentence."""
    return text[0].upper() + text[1:]


def html_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with this caption.

    >>> html_table("Sizes", ["what", "count"], [["<nodes>", 3]])[:39]
    '<table><caption>Sizes</caption><thead><'
    >>> "&lt;nodes&gt;" in html_table("Sizes", ["what", "count"], [["<nodes>", 3]])
    True
    """
    head = _row("th", columns)
    body = "".join(_row("td", row) for row in rows)
    return (
        f"<table><caption>{escape(visible(caption))}</caption>"
        f"<thead>{head}</thead><tbody>{body}</tbody></table>"
    )


def _row(cell: str, values: Sequence[object]) -> str:
    cells = "".join(f"<{cell}>{escape(visible(str(value)))}</{cell}>" for value in values)
    return f"<tr>{cells}</tr>"


Wording = Callable[[str], str]
"""How a surface says a text that is worded for the command line; `str` leaves it as it is."""

_FOR_PEOPLE = {
    "the node itself": "that person",
    "node that": "person who",
    "nodes that": "people who",
    "node": "person",
    "nodes": "people",
    "an edge": "a connection",
    "edge": "connection",
    "edges": "connections",
    "tie": "connection",
    "ties": "connections",
    "neighbor": "contact",
    "neighbors": "contacts",
    "degree": "number of connections",
    "degrees": "numbers of connections",
    "all degrees": "everybody's number of connections",
    "out-degree": "number of outgoing connections",
    "in-degree": "number of incoming connections",
    "degree sequence": "list of numbers of connections",
}
"""What a page says instead of a term of networks: the same statement about people."""

_OF_NODES = frozenset(term for term in _FOR_PEOPLE if "node" in term)

_TERM = re.compile(
    rf"(?<![\w./'\"“-])(?:{'|'.join(sorted(_FOR_PEOPLE, key=len, reverse=True))})(?![\w/=-]|\.\w)",
    re.IGNORECASE,
)

_SENTENCE = re.compile(r"(?<=[.!?])(?=\s)")
_PERSON = re.compile(r"\b(?:people|person|participants?)\b", re.IGNORECASE)


def for_people(text: str, names: Collection[str] = ()) -> str:
    """Return a text about a network in the words of a page; names from the data stay.

    In a sentence about both, a node of the release stays a node: nobody may know whose it is.

    >>> for_people("An edge of node_7: every node has the same degree (edges.csv).")
    'A connection of node_7: every person has the same number of connections (edges.csv).'
    >>> for_people("Every node has the same edge, and the same degree.", ["edge"])
    'Every person has the same edge, and the same number of connections.'
    >>> for_people("An attacker finds at least 5 nodes that may be that person, or any edge.")
    'An attacker finds at least 5 nodes that may be that person, or any connection.'
    """
    own = {word.lower() for name in names for word in name.split()}
    return "".join(_sentence_for_people(one, own) for one in _SENTENCE.split(text))


def _sentence_for_people(sentence: str, own: set[str]) -> str:
    about_both = _PERSON.search(sentence) is not None

    def replaced(found: re.Match[str]) -> str:
        term = found[0]
        if own & {*term.lower().split()} or (about_both and term.lower() in _OF_NODES):
            return term
        words = _FOR_PEOPLE[term.lower()]
        return capital(words) if term[0].isupper() else words

    return _TERM.sub(replaced, sentence)


def worded_for_page(kind: str, names: Collection[str] = ()) -> Wording:
    """Return how a page says a text about data of a kind; columns of tables have any name."""
    return str if kind == "table" else partial(for_people, names=names)


def plain(value: float) -> str:
    """Return a number with about three digits.

    >>> plain(0.21987), plain(3.5712), plain(71.0), plain(12345.6), plain(0.00001)
    ('0.22', '3.57', '71', '12,346', '0.00001')
    """
    if value == round(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    places = 2 if abs(value) >= 1 else 3
    if 0 < abs(value) < 0.001:
        places = 6
    return f"{value:.{places}f}".rstrip("0").rstrip(".")


NO_FIGURE = "\N{EN DASH}"
"""Shown in place of a figure that does not apply."""
