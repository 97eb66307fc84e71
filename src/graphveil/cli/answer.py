"""How a command answers: a sentence first, few lines that fit the screen, and what to do next."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from graphveil.cli.console import result
from graphveil.cli.flags import ALL, OUTPUT_GROUP, flags
from graphveil.core.hints import Message
from graphveil.core.visible import visible

if TYPE_CHECKING:
    from graphveil.evaluate.wording import Line

WIDTH = 100
"""The most characters of a line; a command that is to be copied stays whole."""

MOST_LINES = 24
"""The most lines of an answer."""

[ALL_FLAG] = flags(OUTPUT_GROUP, ALL)


def width() -> int:
    """Return the width of the terminal, or of a page, and never more than `WIDTH`."""
    if not sys.stdout.isatty():
        return WIDTH
    return max(40, min(WIDTH, shutil.get_terminal_size().columns))


def wrapped(text: str, *, indent: str = "", most: int | None = None) -> list[str]:
    """Return text as lines of the width, words whole; the second and further ones are indented.

    >>> wrapped("one two three", indent="  ", most=8)
    ['one two', '  three']
    """
    text = visible(text.flags if isinstance(text, Message) else text)
    first = len(text) - len(text.lstrip(" "))
    return textwrap.wrap(
        text,
        most or width(),
        initial_indent=" " * first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def print_answer(text: str) -> None:
    """Print a sentence to stdout."""
    for line in wrapped(text):
        result(line)


def print_next(command: str, *, more: str = "") -> None:
    """Print the last line of an answer: the command that goes on from here, ready to be copied."""
    if more:
        print_answer(more)
    result(f"next: {command}")


def line_texts(lines: Sequence[Line]) -> list[str]:
    """Return lines as text: question, figure and unit, the last wrapped under itself."""
    asked = max((len(visible(line.question)) for line in lines), default=0)
    figures = max((len(line.figure) for line in lines), default=0)
    texts = []
    for line in lines:
        said = f"{line.unit}, {line.felt}" if line.felt else line.unit
        start = f"  {visible(line.question):<{asked}}  {line.figure:>{figures}}  "
        texts += hung(start, said, " " * len(start)) if said else [start.rstrip()]
    return texts


def hung(start: str, text: str, indent: str) -> list[str]:
    """Return a text as lines under each other, to the right of what the first begins with."""
    if not start:
        return wrapped(text)
    whole = wrapped(f"{'x' * (len(start) - 1)} {text}", indent=indent)
    return [start + whole[0][len(start) :], *whole[1:]]


def say_lines(texts: Iterable[str], *, most: int) -> None:
    """Print the first of these lines, and how many more there are."""
    every = list(texts)
    shown = every if len(every) <= most else every[: most - 1]
    for text in shown:
        result(text)
    if len(every) > len(shown):
        result(f"  and {len(every) - len(shown)} more lines (--all)")
