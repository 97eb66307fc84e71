"""Text that others wrote, as it reaches a terminal or a notebook: shown, and never obeyed.

Names of files, columns, people and items may hold anything: codes that clear the screen, characters
that turn the direction of writing, or such as nobody sees. All that is printed goes through here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from graphveil.core.errors import visible

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


_PLURAL = {"is": "are", "was": "were", "has": "have", "remains": "remain", "differs": "differ"}
_IRREGULAR = {"person": "people"}


def counted(count: int, what: str, verb: str = "", *, spec: str = "") -> str:
    """Return a number of things in words, and what they are or have; `spec` is its format.

    >>> counted(1, "class"), counted(0, "entry"), counted(2, "node"), counted(2, "person")
    ('1 class', '0 entries', '2 nodes', '2 people')
    >>> counted(1, "id", "is"), counted(0, "edge", "has"), counted(4321, "edge", spec=",")
    ('1 id is', '0 edges have', '4,321 edges')
    """
    if count != 1:
        first, _, last = what.rpartition(" ")
        what, verb = f"{first} {_plural(last)}".lstrip(), _PLURAL.get(verb, verb)
    return f"{count:{spec}} {what} {verb}".rstrip()


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
