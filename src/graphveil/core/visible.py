"""Text that a terminal may show: characters that nobody sees are written out."""

from __future__ import annotations

import json
import re

_UNSEEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # without width, or changing the direction of what follows
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters and marks without ink
    "\ud800-\udfff"  # halves of characters
    "]"
)
"""Characters that a terminal obeys, or that nobody sees."""


def visible(text: str) -> str:
    r"""Return text on one line in which a terminal obeys nothing, and every character is seen.

    >>> print(visible("ann\x1b[2J"), visible("an\u200bn"))
    ann\x1b[2J an\u200bn
    """
    return _UNSEEN.sub(lambda match: ascii(match.group())[1:-1], text)


def visible_json(text: str) -> str:
    r"""Return JSON of the same value, in which `visible` would find line feeds alone.

    >>> print(visible_json('"an\u200bn"'))
    "an\u200bn"
    """

    def spelled(match: re.Match[str]) -> str:
        return "\n" if match.group() == "\n" else json.dumps(match.group())[1:-1]

    return _UNSEEN.sub(spelled, text)


def visible_lines(text: str) -> str:
    r"""Return lines of text, each visible.

    >>> visible_lines("one\nt\x07wo")
    'one\nt\\x07wo'
    """
    return "\n".join(map(visible, text.split("\n")))
