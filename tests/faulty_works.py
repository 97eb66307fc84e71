"""Works that fail at first: their process is killed, or a place takes nothing from them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphveil.core.storage import Address


def is_first(marks: Path, name: str, times: int = 1) -> bool:
    """Whether something happens for the first time, or the first few times, in any process."""
    for number in range(times):
        try:
            (marks / f"{name}-{number}").touch(exist_ok=False)
        except FileExistsError:
            continue
        return True
    return False


@dataclass(frozen=True)
class Killed:
    """A work whose process is killed behind it, once."""

    work: Callable[[int, Any], Any]
    marks: Path

    def __call__(self, number, rows):
        made = self.work(number, rows)
        if is_first(self.marks, "killed"):
            os.kill(os.getpid(), signal.SIGKILL)
        return made


@dataclass(frozen=True)
class Unplaced:
    """A work on parts: no place takes the first part, the first times that it runs."""

    work: Callable[[int, Any], Any]
    marks: Path
    times: int

    def __call__(self, number, rows):
        if number or not is_first(self.marks, "put", self.times):
            return self.work(number, rows)
        put = Address._put_once

        def fail(*_):
            raise OSError(5, "the store is away")

        Address._put_once = fail
        try:
            return self.work(number, rows)
        finally:
            Address._put_once = put


@dataclass(frozen=True)
class Failing:
    """A work that fails, always."""

    error: str

    def __call__(self, _):
        if self.error == "memory":
            raise MemoryError("no more of it")
        raise ValueError("chunk 7 has no rows")
