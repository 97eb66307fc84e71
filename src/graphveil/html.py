"""Tables for notebooks: plain HTML without styles, scripts or links; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from graphveil.terminal import visible


def html_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with this caption.

    Examples
    --------
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
