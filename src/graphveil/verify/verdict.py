"""What the checker answers: conditions, each with its outcome, and the verdict over all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from graphveil.claims.guarantees import CheckWord

Outcome = Literal["holds", "fails", "not checked"]

ORIGINAL = "--original"
LINKAGE = "the owner's linkage"
RECORD = "the owner's record"


class Condition(msgspec.Struct, frozen=True):
    """One thing that must be true of a release, and whether it is.

    Parameters
    ----------
    name
        What is checked, in a few words.
    outcome
        ``holds``, ``fails``, or ``not checked``, which is neither.
    detail
        One sentence with numbers; of a failure the class, node, row or file, by published id.
    needs
        What is missing, where something must be given before it can be checked.

    Examples
    --------
    >>> Condition("classes", "holds", "the smallest of 3 classes holds 5 nodes, k=5").outcome
    'holds'
    """

    name: str
    outcome: Outcome
    detail: str
    needs: str | None = None


class Verdict(msgspec.Struct, frozen=True):
    """Whether a release keeps its promise, recomputed from its files.

    Parameters
    ----------
    word
        How the claim can be checked: ``recomputed``, ``by construction`` or ``not claimed``.
    sentence
        The promise, as the guarantee states it, whatever the manifest says.
    conditions
        Every condition, in the order in which they were checked.

    Examples
    --------
    >>> Verdict("recomputed", "All is well.", [Condition("ids", "holds", "3 ids")]).ok
    True
    """

    word: CheckWord
    sentence: str
    conditions: list[Condition]

    @property
    def ok(self) -> bool:
        """Whether no condition fails. One that is not checked is no failure, and no proof."""
        return not any(condition.outcome == "fails" for condition in self.conditions)

    @property
    def complete(self) -> bool:
        """Whether every condition was checked."""
        return not any(condition.outcome == "not checked" for condition in self.conditions)

    @property
    def exit_code(self) -> int:
        """0 where no condition fails, 1 where one does."""
        return 0 if self.ok else 1

    def failures(self) -> list[Condition]:
        """Return the conditions that fail."""
        return [condition for condition in self.conditions if condition.outcome == "fails"]

    def lines(self) -> list[str]:
        r"""Return the verdict for people: the promise, a line a condition, and the sum.

        Examples
        --------
        >>> print("\n".join(Verdict("recomputed", "All is well.", []).lines()))
        All is well. (recomputed)
        every one of 0 conditions holds
        """
        shown = [f"{self.sentence} ({self.word})"]
        shown += [_line(condition) for condition in self.conditions]
        return [*shown, self._sum() + _BESIDES[self.word]]

    def _sum(self) -> str:
        n, failed = len(self.conditions), len(self.failures())
        unchecked = sum(condition.outcome == "not checked" for condition in self.conditions)
        if not failed and not unchecked:
            return f"every one of {n} conditions holds"
        parts = [f"{n - failed - unchecked} of {n} conditions hold"]
        if failed:
            parts.append(f"{failed} fail{'s' if failed == 1 else ''}")
        if unchecked:
            parts.append(f"{unchecked} not checked")
        return ", ".join(parts)


_BESIDES: dict[CheckWord, str] = {
    "recomputed": "",
    "by construction": "; the promise itself is about the draw, which no file can show",
    "not claimed": "; nothing is promised",
}
"""What the conditions leave open, by how the claim can be checked."""


def _line(condition: Condition) -> str:
    needs = f" (needs {condition.needs})" if condition.needs else ""
    return f"  {condition.outcome:<11}  {condition.name}: {condition.detail}{needs}"


def holds(name: str, detail: str) -> Condition:
    """Return a condition that is true."""
    return Condition(name, "holds", detail)


def fails(name: str, detail: str) -> Condition:
    """Return a condition that is not true."""
    return Condition(name, "fails", detail)


def not_checked(name: str, detail: str, *, needs: str | None = None) -> Condition:
    """Return a condition that nobody looked at, and why."""
    return Condition(name, "not checked", detail, needs)


def judged(name: str, problems: Sequence[str], otherwise: str) -> Condition:
    """Return a condition that fails with the first problems, or holds with the other sentence."""
    if not problems:
        return holds(name, otherwise)
    more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
    return fails(name, "; ".join(problems[:3]) + more)


def counted(count: int, what: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "class"), counted(0, "entry"), counted(2, "node")
    ('1 class', '0 entries', '2 nodes')
    """
    if count == 1:
        return f"1 {what}"
    if what.endswith("y"):
        return f"{count} {what.removesuffix('y')}ies"
    return f"{count} {what}{'es' if what.endswith('s') else 's'}"


def shown(value: object) -> str:
    r"""Return a value that others wrote, quoted, on one line and short.

    Examples
    --------
    >>> print(shown("a\tb"))
    'a\tb'
    """
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:76]}..."


def one_line(error: BaseException) -> str:
    """Return what an error says on one line, control characters escaped, at most 160 long."""
    text = re.sub(r"\s+", " ", str(error)).strip() or type(error).__name__
    text = text.encode("ascii", "backslashreplace").decode()
    text = re.sub(r"[\x00-\x1f\x7f]", "?", text)
    return text if len(text) <= 160 else f"{text[:157]}..."
