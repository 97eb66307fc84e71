"""Whether a release keeps its promise, in one sentence; and what fails, where something does."""

from __future__ import annotations

from graphveil.errors import Message, option
from graphveil.summaries.promise import in_plain_words
from graphveil.verify.verdict import Check, Verdict

_ANSWERS = {
    "recomputed": "Every claim holds",
    "by construction": "Every claim that a file can show holds",
    "not claimed": "Nothing is promised, and nothing speaks against what is said besides",
}


def verdict_lines(verdict: Verdict) -> tuple[Message, ...]:
    """Return the answer in one line, and a line for each check that fails.

    Parameters
    ----------
    verdict
        What the checker answered.

    Examples
    --------
    >>> check = Check("classes", "holds", "3 classes")
    >>> print(*verdict_lines(Verdict("recomputed", "Every node has the same degree.", [check])))
    Every claim holds: every person has the same number of ties (1 check).
    """
    if not verdict.ok:
        return _failing(verdict)
    if verdict.exit_code:
        return (verdict.lines()[0],)
    sentence = in_plain_words(verdict.sentence).removesuffix(".")
    said = sentence[0].lower() + sentence[1:]
    if verdict.word == "not claimed":
        return (Message(f"{_ANSWERS[verdict.word]} ({_counted(verdict)})."),)
    return (Message(f"{_ANSWERS[verdict.word]}: {said} ({_counted(verdict)})."),)


def _failing(verdict: Verdict) -> tuple[Message, ...]:
    """Return the failure that the promise hangs on, else the first; then all that fail."""
    failures = verdict.failures()
    first = next((one for one in failures if one.name in verdict.decisive), failures[0])
    number = f"{len(failures)} of {_checks(len(verdict.checks))}"
    verb = "fails" if len(failures) == 1 else "fail"
    answer = f"A claim does not hold: {first.detail} ({first.name}; {number} {verb})."
    rest = [one for one in failures if one is not first]
    return (Message(answer), *(Message(f"  {one.name}: {one.detail}") for one in rest))


def _counted(verdict: Verdict) -> str:
    """Return how many checks there are, how many were not checked, and what those need."""
    how = "by construction, given the lists; " if verdict.word == "by construction" else ""
    unchecked = [check for check in verdict.checks if check.outcome == "not checked"]
    if not unchecked:
        return f"{how}{_checks(len(verdict.checks))}"
    needs = dict.fromkeys(map(_needed, unchecked))
    listed = " or ".join(filter(None, needs))
    need = f": need {listed}" if listed else ""
    return f"{how}{_checks(len(verdict.checks))}, {len(unchecked)} not checked{need}"


def _needed(check: Check) -> str:
    needs = check.needs or ""
    return option(needs.removeprefix("--")) if needs.startswith("--") else needs


def _checks(count: int) -> str:
    return "1 check" if count == 1 else f"{count} checks"
