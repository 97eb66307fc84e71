"""Commands that repeat a release: a shell takes them as they stand."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import MISSING
from typing import Any

from graphveil.parameters.flat import flat_parameters


def command_line(*words: str) -> str:
    """Return a command of graphveil, quoted for a shell.

    Examples
    --------
    >>> command_line("verify", "my friends")
    "graphveil verify 'my friends'"
    """
    return shlex.join(("graphveil", *words))


def anonymize_command(
    method: type[Any], parameters: Mapping[str, Any], file: str, folder: str
) -> str:
    """Return the command that makes such a release; parameters at their default are left out.

    Examples
    --------
    >>> from graphveil.methods import KDegree
    >>> anonymize_command(KDegree, {"k": 5}, "friends.csv", "friends-k5")
    'graphveil anonymize k-degree friends.csv --out friends-k5 --k 5'
    """
    words = ["anonymize", method.name, file, "--out", folder]
    return command_line(*words, *_flags(method, parameters))


def _flags(method: type[Any], parameters: Mapping[str, Any]) -> Iterator[str]:
    for item in flat_parameters(method):
        value = parameters.get(item.name)
        if value is None or (item.default is not MISSING and value == item.default):
            continue
        name = item.name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{name}" if value else f"--no-{name}"
        elif isinstance(value, list | tuple):
            yield f"--{name}"
            yield from map(str, value)
        elif not isinstance(value, dict):
            yield from (f"--{name}", str(value))
