"""What the checker answers: checks, each with its outcome, and the verdict over all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from graphveil.claims.guarantees import CheckWord
from graphveil.claims.manifest import MANIFEST, DataFile
from graphveil.core.hints import Message, option
from graphveil.core.text import counted, html_table
from graphveil.core.visible import visible

CheckOutcome = Literal["holds", "fails", "not checked"]
Answer = Literal["holds", "fails", "undecided"]

LIMIT_BYTES = 4 << 30
"""The most memory in bytes that the content of one released file may take unless the caller sets
another limit: 4 GiB. A larger file is not read."""

# Names of checks, and what a check may need; options of the command line begin with --.
TWICE = "the original read by a second reader"
SHARED = "not checked independently: the file was read only by the reader that the method used"
ORIGINAL = "--original"
LINKAGE = "the private linkage"
RECORD = "the private record"
LEVELS_NEEDED = "the private levels file"
PAIRS_NEEDED = "the private file of chosen pairs"


class Check(msgspec.Struct, frozen=True):
    """One statement that must be true of a release, and whether it is.

    Parameters
    ----------
    name
        What was checked, in a few words, such as ``classes`` or ``files``.
    outcome
        ``holds``, ``fails``, or ``not checked``, which is neither.
    detail
        One sentence with numbers; if the check fails, the first class, node, row or file that is
        wrong, by its published id.
    needs
        What must be given before it can be checked; None where nothing is missing.

    Examples
    --------
    >>> import graphveil as gv
    >>> release = gv.KDegree(k=2).anonymize(gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4))
    >>> verdict = gv.verify_release(release)
    >>> next(check.detail for check in verdict.checks if check.name == "ids")
    'the 4 nodes are 0..3, each once'
    """

    name: str
    outcome: CheckOutcome
    detail: str
    needs: str | None = None


class Verdict(msgspec.Struct, frozen=True):
    """Whether the guarantee of a release holds, and what of the release was found false or not.

    What the files show and what only the original shows are answered separately: a release whose
    guarantee was recomputed is `ok` although nobody showed the original, and what stays open
    without it is listed in `still_open`.

    Parameters
    ----------
    word
        How the claim can be checked: ``recomputed``, ``by construction`` or ``not claimed``.
    sentence
        What is guaranteed, as the guarantee states it, whatever the manifest says.
    checks
        Every check, in the order in which they were checked.
    decisive
        The names of those checks without which nothing can be said of the guarantee.
    unknown_method
        The method's name, where this version knows none of that name, and nobody vouched for it.
    core
        The guarantee without what only the original shows; empty where that is all of it.
    promised
        The names of the checks that `sentence` states; one of them that fails makes it untrue.
    require_all
        Whether a check that was not made leaves the answer open, whatever it is about.
    empty
        Why the guarantee is true of any data, such as k=1: then no guarantee is claimed.
    conditions
        What the owner asked for beyond the guarantee, such as diversity, and checks show.

    Notes
    -----
    The answer is ``fails`` if any check fails; ``undecided`` if a check that the guarantee depends
    on was not made, or the method is unknown; and ``holds`` otherwise. An unchecked statement
    counts the same for every kind of data.

    Examples
    --------
    >>> Verdict("recomputed", "All is well.", [Check("ids", "holds", "3 ids")]).ok
    True
    >>> import graphveil as gv
    >>> release = gv.KDegree(k=2).anonymize(gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4))
    >>> verdict = gv.verify_release(release)
    >>> verdict.answer, verdict.complete, [check.name for check in verdict.failures()]
    ('holds', False, [])
    """

    word: CheckWord
    sentence: str
    checks: list[Check]
    decisive: tuple[str, ...] = ()
    unknown_method: str | None = None
    core: str = ""
    promised: tuple[str, ...] = ()
    require_all: bool = False
    empty: str | None = None
    conditions: str = ""

    @property
    def answer(self) -> Answer:
        """``fails`` where a check fails; ``undecided`` where the guarantee is open; or ``holds``.

        With `require_all`, every check that was not made leaves it ``undecided``.
        """
        # A check that fails settles it; an open one matters only if the guarantee depends on it.
        if self.failures():
            return "fails"
        missed = self.require_all and not self.complete
        return "undecided" if self.undecided or self.unknown_method or missed else "holds"

    @property
    def ok(self) -> bool:
        """Whether the answer is ``holds``: the guarantee does, and no check fails."""
        return self.answer == "holds"

    @property
    def exit_code(self) -> int:
        """0 where the answer is ``holds``, 1 for ``fails``, 4 for ``undecided``."""
        return EXIT_CODES[self.answer]

    def __bool__(self) -> bool:
        """Whether the answer is ``holds``, as `ok`."""
        return self.ok

    @property
    def complete(self) -> bool:
        """Whether every check was made."""
        return not any(check.outcome == "not checked" for check in self.checks)

    @property
    def undecided(self) -> list[Check]:
        """The checks that the guarantee depends on and that were not made."""
        return [c for c in self.checks if c.outcome == "not checked" and c.name in self.decisive]

    @property
    def still_open(self) -> dict[str, list[str]]:
        """What is stated of the release and was not checked, by what is missing for it.

        Examples
        --------
        >>> check = Check("edits", "not checked", "whether nothing was added", "--original")
        >>> Verdict("recomputed", "All is well.", [check]).still_open
        {'the original': ['nothing was added']}
        """
        # Only questions ("whether ...") can be listed as open statements.
        found: dict[str, list[str]] = {}
        for check in self._not_made():
            if check.needs and check.detail.startswith(OPEN):
                listed = found.setdefault(_NAMES.get(check.needs, check.needs), [])
                question = check.detail.removeprefix(OPEN)
                listed += [] if question in listed else [question]
        return found

    def _not_made(self) -> list[Check]:
        """Return the checks that were not made and on which no guarantee depends."""
        checks = [c for c in self.checks if c.outcome == "not checked"]
        some = [check for check in checks if check.name not in self.decisive]
        return sorted(some, key=lambda check: check.name in OF_EVERY_RELEASE)

    def not_checked(self) -> list[str]:
        """Return in words every check that was not made, by what is missing for it.

        Returns
        -------
        One sentence for each file or option that is missing, and one for checks that nothing would
        make possible.

        Examples
        --------
        >>> check = Check("edits", "not checked", "whether nothing was added", "--original")
        >>> Verdict("recomputed", "All is well.", [check]).not_checked()
        ['Not checked without the original: nothing was added.']
        """
        found = {needs: [*listed] for needs, listed in self.still_open.items()}
        # Checks whose detail is not a question are listed by their names.
        names: dict[str, list[str]] = {}
        unneeded = []
        for check in self._not_made():
            if not check.needs:
                unneeded.append(f"{check.name} ({check.detail})")
            elif not check.detail.startswith(OPEN):
                needs = _NAMES.get(check.needs, check.needs)
                names.setdefault(needs, []).append(check.name)
        for needs, some in names.items():
            what = "the checks " if needs in found else ""
            found.setdefault(needs, []).append(f"{what}{', '.join(some)}")
        lines = [
            f"Not checked without {needs}: {'; '.join(all_)}." for needs, all_ in found.items()
        ]
        return [*lines, *([f"Not checked: {'; '.join(unneeded)}."] if unneeded else [])]

    def as_json(self) -> dict[str, Any]:
        """Return the answer and all that it depends on, as JSON can hold it.

        Returns
        -------
        A dictionary with ``answer``, ``ok``, ``exit_code``, ``complete``, and every parameter of
        the verdict; a check is a dictionary as well.

        Examples
        --------
        >>> Verdict("recomputed", "All is well.", []).as_json()["exit_code"]
        0
        """
        summary = {"answer": self.answer, "ok": self.ok, "exit_code": self.exit_code}
        return {**summary, "complete": self.complete, **msgspec.to_builtins(self)}

    def __repr__(self) -> str:
        """Return the answer in a word, and how many checks hold."""
        return visible(Message(f"Verdict({self.answer}; {self.word}; {self._sum()})"))

    def __str__(self) -> str:
        """Return the answer and a line a check: what `graphveil verify --all` prints."""
        return "\n".join(map(visible, self.lines()))

    def _repr_html_(self) -> str:
        """Return the answer and every check as a table, for notebooks."""
        rows = [(check.name, check.outcome, check.detail) for check in self.checks]
        headline = " ".join(self.said())
        return html_table(str(Message(headline)), ("check", "outcome", "detail"), rows)

    def failures(self) -> list[Check]:
        """Return the checks that fail.

        Examples
        --------
        >>> ids = Check("ids", "fails", "node 3 is missing")
        >>> [check.name for check in Verdict("recomputed", "All is well.", [ids]).failures()]
        ['ids']
        """
        return [check for check in self.checks if check.outcome == "fails"]

    def lines(self) -> list[Message]:
        r"""Return the verdict for people: the answer, what stays open, and a line a check.

        The guarantee is said where it holds, and nowhere else: a forged one is not repeated.

        Examples
        --------
        >>> print("\n".join(Verdict("recomputed", "All is well.", []).lines()))
        The guarantee holds: all is well (all 0 checks hold).
        """
        return [*self.said(), *(Message(_line(check)) for check in self.checks)]

    def said(self) -> list[Message]:
        """Return the answer, and below it what was not checked, by what is missing for it."""
        # The answer first; then what is known if the guarantee stays open; then what was not
        # checked.
        lines = [self._first_line()]
        if self.answer == "undecided" and self.undecided:
            lines += [
                f"Recomputed from the files: {check.detail}."
                for check in self.checks
                if check.name in self.promised and check.outcome == "holds"
            ]
        if self.answer != "fails":
            lines += self.not_checked()
        return [Message(line) for line in lines]

    def _first_line(self) -> str:
        if self.answer == "fails":
            return self._what_fails()
        if self.unknown_method is not None:
            name = option("trust_method", "NAME")
            return (
                f"Undecided: the method {shown(self.unknown_method)} is unknown to this version. "
                f"To trust its texts and parameters, use {name}."
            )
        if self.undecided:
            return self._what_is_undecided()
        if self.answer == "undecided":
            unchecked = sum(check.outcome == "not checked" for check in self.checks)
            were = f"{counted(unchecked, 'check')} {'was' if unchecked == 1 else 'were'} not made"
            return f"Undecided: {were}, and all are required. {self._what_holds()}"
        return self._what_holds()

    def _what_holds(self) -> str:
        if self.word == "not claimed":
            why = f": what the manifest states protects nobody, {self.empty}" if self.empty else ""
            return (
                f"No guarantee is claimed{why}; no other statement of the release was found false "
                f"({self._sum()})."
            )
        if self.word == "by construction":
            return (
                f"No check fails ({self._sum()}). No file can show whether the guarantee holds: "
                f"it depends on how the release was made. {self.sentence}"
            )
        sentence = self.held.removesuffix(".")
        return f"The guarantee holds: {sentence[0].lower()}{sentence[1:]} ({self._sum()})."

    @property
    def held(self) -> str:
        """The guarantee, with conditions, as far as checks show it: the rest needs the original."""
        # The sentence also states what only the original shows: without it, its core is said.
        shown_by = {check.name: check.outcome == "holds" for check in self.checks}
        whole = all(shown_by.get(name, False) for name in self.promised)
        sentence = self.sentence if whole or not self.core else self.core
        return f"{sentence} {self.conditions}".rstrip()

    def _what_is_undecided(self) -> str:
        first, *rest = self.undecided
        why = first.detail
        if why.startswith(OPEN) and first.needs:
            needs = _NAMES.get(first.needs, first.needs)
            why = f"{why}, which cannot be checked without {needs}"
        more = f", {_named(rest)}" if rest else ""
        return f"Undecided: {why} ({first.name}{more}; {self._sum()})."

    def _what_fails(self) -> str:
        """Return the first line for a failure: the guarantee, the folder, a stray file, or else.

        A folder that is not as it was published is said with what is known of the data in it.
        """
        failures = self.failures()
        n = len(failures)
        count = f"{n} of {counted(len(self.checks), 'check')} {'fails' if n == 1 else 'fail'}"
        # From most to least serious: the guarantee itself is untrue; the folder changed after it
        # was published; a stray file of an operating system; anything else.
        false = [one for one in failures if one.name in self.promised]
        changed = sorted(
            (one for one in failures if one.name in OF_THE_FOLDER),
            key=lambda one: one.name != OF_THE_FOLDER[0],
        )
        stray = [one for one in failures if one.name == STRAY]
        if false:
            beside = " The folder is not as it was published, either." if changed else ""
            return (
                f"The guarantee is not true: {false[0].detail} ({false[0].name}; {count}).{beside}"
            )
        if len(stray) == n:
            return f"A stray file is in the folder: {stray[0].detail}.{self._in_the_data()}"
        first = (changed or failures)[0]
        what = "The folder is not as it was published" if changed else "Verification failed"
        return f"{what}: {first.detail} ({first.name}; {count}).{self._in_the_data()}"

    def _in_the_data(self) -> str:
        """Return whether the guarantee holds in the data that is there; it fails nowhere."""
        if self.word == "not claimed":
            return ""
        if self.word == "by construction":
            return " No file can show whether the guarantee holds."
        made = {check.name for check in self.checks if check.outcome == "holds"}
        if self.decisive and made.issuperset(self.decisive):
            return f" The guarantee that {MANIFEST} states holds in the data file."
        return " Whether the guarantee holds in the data file was not checked."

    def _sum(self) -> str:
        n, failed = len(self.checks), len(self.failures())
        unchecked = sum(check.outcome == "not checked" for check in self.checks)
        if not failed and not unchecked:
            return f"all {counted(n, 'check')} hold" if n != 1 else "1 check holds"
        parts = [f"{n - failed - unchecked} of {counted(n, 'check')} hold"]
        if failed:
            parts.append(f"{failed} fail{'s' if failed == 1 else ''}")
        if unchecked:
            parts.append(f"{unchecked} not checked")
        return ", ".join(parts)


# What the answer means for the command line, and how checks are worded.
EXIT_CODES: dict[Answer, int] = {"holds": 0, "fails": 1, "undecided": 4}
"""The exit code of `graphveil verify`, by the answer."""

OPEN = "whether "
"""How the detail of a check begins that says what stays open where it is not made."""

STRAY = "no stray files"
OF_THE_FOLDER = (
    *("data", "manifest", "seal", "owner's record", "files", "no other files", "description"),
    *("counts", "no links", "no extended attributes"),
)
"""The checks that say whether a folder is as it was published; the first says most."""

OF_EVERY_RELEASE = ("order says nothing", "no original ids")
"""The checks of what is stated of every release: what stays open of them is said last."""

_NAMES = {ORIGINAL: "the original"}
"""What is missing, in words; other needs are in words already."""


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


# Making checks: functions return them without names, and their callers name them.
def named(checks: Mapping[str, Check]) -> list[Check]:
    """Return checks with their names set."""
    return [msgspec.structs.replace(check, name=name) for name, check in checks.items()]


def holds(detail: str) -> Check:
    """Return a check that holds."""
    return Check("", "holds", detail)


def fails(detail: str) -> Check:
    """Return a check that fails."""
    return Check("", "fails", detail)


def not_checked(detail: str, *, needs: str | None = None) -> Check:
    """Return a check that was not made, and why."""
    return Check("", "not checked", detail, needs)


def judged(problems: Sequence[str], otherwise: str) -> Check:
    """Return a check that fails with the first problems, or holds with the other sentence."""
    if not problems:
        return holds(otherwise)
    more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
    return fails("; ".join(problems[:3]) + more)


def beyond(name: str, size: int, limit_bytes: int) -> str:
    """Return that a file is not read because its content exceeds the limit."""
    return f"{name} contains {size} bytes, above the limit of {limit_bytes}"


def row_of(file: DataFile | None, number: int, *, what: str = "row") -> str:
    """Return the place of a row, counted from 0: its line in a text file, else its number.

    Of files without lines, the first row is row 1.
    """
    if file is None or file.format in ("parquet", "graphml"):
        return f"{what} {number + 1}" + ("" if file is None else f" of {file.name}")
    return f"line {number + 2} of {file.name}"


def shown(value: object) -> str:
    r"""Return a foreign value for a message: quoted, on one line, at most 80 characters.

    >>> print(shown("a\tb"))
    'a\tb'
    """
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:76]}..."


def one_line(error: BaseException) -> str:
    """Return the text of an error on one line, without control characters, at most 160 long."""
    # Messages of libraries quote the release, so their control characters are escaped.
    text = re.sub(r"\s+", " ", str(error)).strip() or type(error).__name__
    text = text.encode("ascii", "backslashreplace").decode()
    text = re.sub(r"[\x00-\x1f\x7f]", "?", text)
    return text if len(text) <= 160 else f"{text[:157]}..."


def listed(members: list[int], size: int) -> str:
    """Return the first five of some node ids, and dots if there are more."""
    return ", ".join(map(str, members[:5])) + (", ..." if size > 5 else "")
