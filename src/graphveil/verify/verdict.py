"""What the checker answers: checks, each with its outcome, and the verdict over all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from graphveil.claims.guarantees import CheckWord
from graphveil.core.errors import Message, option
from graphveil.core.text import html_table, visible

CheckOutcome = Literal["holds", "fails", "not checked"]

TWICE = "the original read by a second reader"
SHARED = "not checked independently: the file was read only by the reader that the method used"
ORIGINAL = "--original"
LINKAGE = "the private linkage"
RECORD = "the private record"
LEVELS_NEEDED = "the private levels file"
PAIRS_NEEDED = "the private file of chosen pairs"


class Check(msgspec.Struct, frozen=True):
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
    >>> Check("classes", "holds", "the smallest of 3 classes holds 5 nodes, k=5").outcome
    'holds'
    """

    name: str
    outcome: CheckOutcome
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
    checks
        Every check, in the order in which they were checked.
    decisive
        The names of those checks without which nothing can be said of the promise.
    unknown_method
        The method's name, where this version knows none of that name, and nobody vouched for it.

    Examples
    --------
    >>> Verdict("recomputed", "All is well.", [Check("ids", "holds", "3 ids")]).ok
    True
    """

    word: CheckWord
    sentence: str
    checks: list[Check]
    decisive: tuple[str, ...] = ()
    unknown_method: str | None = None

    @property
    def ok(self) -> bool:
        """Whether no check fails. One that is not checked is no failure, and no proof."""
        return not any(check.outcome == "fails" for check in self.checks)

    @property
    def complete(self) -> bool:
        """Whether every check was checked."""
        return not any(check.outcome == "not checked" for check in self.checks)

    @property
    def undecided(self) -> list[Check]:
        """The checks that the promise hangs on and that were not checked."""
        return [c for c in self.checks if c.outcome == "not checked" and c.name in self.decisive]

    def __bool__(self) -> bool:
        """Whether the promise holds, so that ``if verdict`` says what it seems to say."""
        return self.exit_code == 0

    def __repr__(self) -> str:
        """Return the answer in a few words, and how many checks hold."""
        return visible(Message(f"Verdict({self._answer()}; {_SAID[self.word]}, {self._sum()})"))

    def __str__(self) -> str:
        """Return the answer and a line a check: what `graphveil verify` prints."""
        return "\n".join(map(visible, self.lines()))

    def _repr_html_(self) -> str:
        """Return the answer and every check as a table, for notebooks."""
        rows = [(check.name, check.outcome, check.detail) for check in self.checks]
        return html_table(str(Message(self._first_line())), ("check", "outcome", "detail"), rows)

    @property
    def exit_code(self) -> int:
        """0 where every claim holds, 1 where one does not, 4 where there is not enough to say."""
        if not self.ok:
            return 1
        return 4 if self.undecided or self.unknown_method is not None else 0

    def failures(self) -> list[Check]:
        """Return the checks that fail."""
        return [check for check in self.checks if check.outcome == "fails"]

    def lines(self) -> list[Message]:
        r"""Return the verdict for people: the answer, and a line a check.

        The promise is said where it holds, and nowhere else: a forged one is not repeated.

        Examples
        --------
        >>> print("\n".join(Verdict("recomputed", "All is well.", []).lines()))
        Every claim holds: All is well. (recomputed; all 0 checks hold)
        """
        shown = [self._first_line(), *map(_line, self.checks)]
        return [Message(line) for line in shown]

    def _answer(self) -> str:
        if not self.ok:
            return f"a claim fails: {_named(self.failures())}"
        if self.unknown_method is not None:
            return f"undecided: the method {shown(self.unknown_method)} is unknown to this version"
        if self.undecided:
            return f"undecided: {_named(self.undecided)} not checked"
        return _ANSWERS[self.word]

    def _first_line(self) -> str:
        answer = self._answer()
        answer = answer[0].upper() + answer[1:]
        if self.unknown_method is not None and self.ok:
            name = option("trust_method", "NAME")
            return f"{answer}. To trust its texts and parameters, use {name}"
        if self.exit_code:
            return f"{answer} ({self._sum()})"
        return f"{answer}: {self.sentence} ({_SAID[self.word]}; {self._sum()})"

    def _sum(self) -> str:
        n, failed = len(self.checks), len(self.failures())
        unchecked = sum(check.outcome == "not checked" for check in self.checks)
        if not failed and not unchecked:
            return f"all {n} checks hold"
        parts = [f"{n - failed - unchecked} of {n} checks hold"]
        if failed:
            parts.append(f"{failed} fail{'s' if failed == 1 else ''}")
        if unchecked:
            parts.append(f"{unchecked} not checked{self._needed()}")
        return ", ".join(parts)

    def _needed(self) -> str:
        """Return what most of the checks need that were not checked; empty where they need none."""
        needs = [spelled(check.needs) for check in self.checks if check.needs]
        return f": requires {max(set(needs), key=needs.count)}" if needs else ""


_ANSWERS: dict[CheckWord, str] = {
    "recomputed": "every claim holds",
    "by construction": "every claim that files can show holds",
    "not claimed": "no guarantee is claimed; no other statement of the release was found false",
}
"""The answer where no check fails, by how the claim can be checked."""

_SAID: dict[CheckWord, str] = {
    "recomputed": "recomputed",
    "by construction": "by construction, given the public lists",
    "not claimed": "not claimed",
}
"""How the claim can be checked, with the condition: a claim of noise is about public lists."""


def _named(checks: Sequence[Check]) -> str:
    more = f" and {len(checks) - 3} more" if len(checks) > 3 else ""
    return ", ".join(check.name for check in checks[:3]) + more


def spelled(needs: str | None) -> str:
    """Return what a check needs; an option as the command line and Python each write it."""
    wanted = needs or ""
    return option(wanted.removeprefix("--")) if wanted.startswith("--") else wanted


def _line(check: Check) -> str:
    needs = f" (needs {spelled(check.needs)})" if check.needs else ""
    return f"  {check.outcome:<11}  {check.name}: {check.detail}{needs}"


def holds(name: str, detail: str) -> Check:
    """Return a check that is true."""
    return Check(name, "holds", detail)


def fails(name: str, detail: str) -> Check:
    """Return a check that is not true."""
    return Check(name, "fails", detail)


def not_checked(name: str, detail: str, *, needs: str | None = None) -> Check:
    """Return a check that nobody looked at, and why."""
    return Check(name, "not checked", detail, needs)


def judged(name: str, problems: Sequence[str], otherwise: str) -> Check:
    """Return a check that fails with the first problems, or holds with the other sentence."""
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


def beyond(name: str, size: int, limit_bytes: int) -> str:
    """Return why a file is not read: its content takes more bytes than one may.

    Examples
    --------
    >>> beyond("data.csv", 5000, 4096)
    'data.csv contains 5000 bytes, above the limit of 4096'
    """
    return f"{name} contains {size} bytes, above the limit of {limit_bytes}"


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
