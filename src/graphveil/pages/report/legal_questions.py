"""The three tests of a release: a line for each attacker, answered by rule and never by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from graphveil.attacks.registry import ATTACKS
from graphveil.attacks.row_selection import strongest
from graphveil.attacks.wording import (
    QUESTIONS,
    Counted,
    Question,
    Said,
    least_shown,
    reworded,
    words_of,
)
from graphveil.claims.guarantees import (
    ONE_OF,
    AdaptiveAnonymity,
    AnyGuarantee,
    EdgeDP,
    KAnonymity,
    NodeDP,
    SmoothKAnonymity,
    StructuralKAnonymity,
    SuperNodeAnonymity,
)
from graphveil.claims.knowledge import ROWS_AS_ROWS
from graphveil.core.rows import ANY, Row, Rows
from graphveil.core.text import Wording, capital, per_hundred, percent, plain
from graphveil.data import Data
from graphveil.pages.charts import Mark, odds_of_hundred
from graphveil.verbs.attack import concerns
from graphveil.verify.verdict import Verdict

Word = Literal[
    "No (verified)",
    "Bounded",
    "Yes (recomputed)",
    "Fails (recomputed)",
    "Yes (measured)",
    "No attack succeeded",
    "Not tested",
]

COLORS: dict[Word, str] = {
    "No (verified)": "no",
    "Bounded": "no",
    "Yes (recomputed)": "yes",
    "Fails (recomputed)": "yes",
    "Yes (measured)": "yes",
    "No attack succeeded": "not",
    "Not tested": "not",
}
"""The class of the pill of each word: its color never speaks alone."""


class Evidence(NamedTuple):
    """What is known of one question."""

    recomputed: bool = False
    bounded: bool = False
    # the size of a class that is below what is guaranteed; None where none was found
    too_small: int | None = None
    value: float | None = None  # what an attacker reached; None where nothing was tried
    # the lower end of its 95% interval; None where the figure rests on no draw
    low: float | None = None
    # what is reached without the release; None where there is no such guess, which counts as 0
    guess: float | None = None


def verdict_for(evidence: Evidence) -> Word:
    """Return the answer that the evidence allows, and no stronger one.

    A guarantee stands before a figure: recomputed, or bounded where it holds by construction. Of a
    figure that depends on draws the whole interval must lie above the guess.
    """
    if evidence.too_small is not None:
        return "Yes (recomputed)" if evidence.too_small == 1 else "Fails (recomputed)"
    if evidence.recomputed:
        return "No (verified)"
    if evidence.bounded:
        return "Bounded"
    if evidence.value is None:
        return "Not tested"
    least = evidence.value if evidence.low is None else evidence.low
    return "Yes (measured)" if least > (evidence.guess or 0.0) else "No attack succeeded"


ONE_DRAW = ", in one sample; another may give more"

ROUNDED = 1e-9
"""What a mean may lie above its bound by rounding."""

HOW = {"exact": "counted for all people", "estimate": "estimated", "sampled": "sampled"}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One attacker: figures as shares in 0..1, None for what is not there.

    ``who`` says what becomes of them, too, where it is the attacker of a guarantee; ``adversary``
    is then who they are.
    """

    test: Question
    who: str
    adversary: str = ""
    evidence: Evidence
    reason: str
    label: str = ""
    before: float | None = None
    low: float | None = None
    high: float | None = None
    left_out: float | None = None
    worst: float | None = None
    # the largest share that the guarantee allows; None where it does not cover what is known
    most: float | None = None
    # whether it says how true the release is, and not what more is learned
    as_published: bool = False
    known: str = ""
    command: str | None = None
    # what the table of unique people says of this attacker; empty where nothing
    below: str = ""

    @property
    def word(self) -> Word:
        """The answer."""
        return verdict_for(self.evidence)

    @property
    def color(self) -> str:
        """The class of its pill."""
        return COLORS[self.word]

    @property
    def mark(self) -> Mark | None:
        """The line in a picture; None without a figure."""
        if self.evidence.value is None:
            return None
        seen = self.evidence
        return Mark(self.label, seen.value or 0.0, self.before, self.low, self.high, seen.guess)

    @property
    def cap(self) -> str:
        """The largest share that the guarantee allows, in words; empty where there is none."""
        return "" if self.most is None else f"at most {_of_hundred(self.most)}% by the guarantee"

    @property
    def interval(self) -> str:
        """The 95% interval in words; empty where there is none."""
        if self.low is None or self.high is None:
            return ""
        return f"{percent(self.low)} to {percent(self.high)}"


@dataclass(frozen=True, kw_only=True)
class Answers:
    """One of the three tests: what it asks, and its lines."""

    test: Question
    lines: tuple[Line, ...]
    counted: Counted = "people"

    @property
    def heading(self) -> str:
        """The question."""
        return reworded(QUESTIONS[self.test].heading, self.counted)

    @property
    def caption(self) -> str:
        """What its figures are."""
        return reworded(QUESTIONS[self.test].caption, self.counted)

    @property
    def has_left_out(self) -> bool:
        """Whether a line has a figure of people who were omitted."""
        return any(line.left_out is not None for line in self.lines)

    @property
    def has_worst(self) -> bool:
        """Whether a line has a figure of those who are worst off."""
        return any(line.worst is not None for line in self.lines)

    @property
    def strongest(self) -> Line:
        """The line that answers the question in short: the largest figure shown, else the first."""
        if self.lines[0].evidence.too_small is not None:
            return self.lines[0]
        shown = [line for line in self.lines if line.word == "Yes (measured)"]
        shown = [line for line in shown if not line.as_published] or shown
        return max(shown, key=lambda line: line.evidence.value or 0.0) if shown else self.lines[0]

    @property
    def in_short(self) -> str:
        """The answer, and by whom and why; of a guarantee also what it leaves open."""
        line = self.strongest
        if line.word == "Not tested":
            way_out = " (add --original FILE)" if line.reason == NEEDS_ORIGINAL else ""
            return f"{line.word}: {line.reason}{way_out}."
        within = [other for other in self.lines if other.most is not None and other is not line]
        more = ""
        if line.word == "No (verified)" and within:
            more = f"; {max(within, key=lambda one: one.evidence.value or 0.0).reason}"
        answer = f"{line.word}, by {line.adversary or line.who}: {line.reason}{more}."
        others = [other for other in self.lines if other is not line and other not in within]
        if line.word in {"No (verified)", "Bounded"} and others:
            who = others[0].who
            rest = "Anything else" if who == "anybody" else f"By {who}"
            answer += f" {rest}: {others[0].word.lower()}."
        return answer


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What was measured for the tests, all of it optional."""

    after: Rows | None = None
    before: Rows | None = None
    worst: Mapping[str, float] | None = None
    times: Mapping[str, str] | None = None
    # what is typed before the name of an attack to have it run; None where only the owner can
    command: str | None = None
    counted: Counted = "people"
    of_table: bool = False
    # what the table of unique people says of any other knowledge; empty where nothing
    below: str = ""
    # what was recomputed of this release and holds for everybody; None where nothing was
    held: AnyGuarantee | None = None
    # how the surface says it: a page of people and connections, the terminal of nodes and edges
    word: Wording = str


NO_ATTACK = "this version has no such attack for this kind of data"
NEEDS_ORIGINAL = "needs the original"
ONLY_OWNER = "only the data owner can test this, with the original"


def answers_of(
    guarantee: AnyGuarantee, verdict: Verdict, kind: type[Data], findings: Findings
) -> tuple[Answers, ...]:
    """Return the three tests, each with at least one line."""
    promised = promised_line(guarantee, verdict, findings.word)
    lines: dict[Question, list[Line]] = {test: [] for test in QUESTIONS}
    if promised is not None:
        lines[promised.test].append(promised)
        findings = replace(findings, held=guarantee if promised.evidence.recomputed else None)
    if findings.after is None and findings.command is None:
        for test in QUESTIONS:
            one = Line(test=test, who="anybody", evidence=Evidence(), reason=ONLY_OWNER)
            if test == "singled out":
                one = replace(one, who="someone with any other knowledge", below=findings.below)
            lines[test].append(one)
    else:
        for entry in ATTACKS.values():
            for said in entry.said if concerns(entry, kind, guarantee) else ():
                lines[said.question] += lines_of(
                    entry.name, said, findings, also=kind is entry.also
                )
    for test, some in lines.items():
        if not some:
            some.append(Line(test=test, who="anybody", evidence=Evidence(), reason=NO_ATTACK))
    return tuple(
        Answers(test=test, lines=tuple(some), counted=findings.counted)
        for test, some in lines.items()
    )


def marks_of(rows: Rows) -> list[Mark]:
    """Return the marks of the questions that these rows of attacks answer, each once."""
    findings, names = Findings(after=rows), {row.question for row in rows}
    lines = (
        line
        for name in ATTACKS
        for said in (ATTACKS[name].said if name in names else ())
        for line in lines_of(name, said, findings)
    )
    marks = {line.mark.label: line.mark for line in lines if line.mark is not None}
    return list(marks.values())


def promised_line(guarantee: AnyGuarantee, verdict: Verdict, word: Wording = str) -> Line | None:
    """Return the line of the guarantee's own attacker; None where nothing is known of everybody."""
    if verdict.exit_code:
        return _broken_line(guarantee, verdict, word)
    if isinstance(guarantee, EdgeDP | NodeDP):
        return Line(
            test="inferred",
            who=word(guarantee.threat_model),
            adversary=word(guarantee.adversary),
            evidence=Evidence(bounded=True),
            reason=word(bound_in_words(guarantee)),
        )
    number = number_of(guarantee)
    if number is None or number < 2:
        return None
    share = guarantee.share if isinstance(guarantee, StructuralKAnonymity) else 1.0
    some = (
        f"verified for at least {percent(share)} of the people; nothing is guaranteed for the "
        "others"
    )
    what = "rows" if getattr(guarantee, "person", None) in ROWS_AS_ROWS else "people"
    others = f"at least {number} {what} remain possible, whoever it is"
    if isinstance(guarantee, KAnonymity | SmoothKAnonymity):  # a value may be untrue of its row
        others = f"at least {number} {what} fit, or none, whoever it is"
    if isinstance(guarantee, SuperNodeAnonymity):  # which no file can show
        others = f"at least {number} {what} remain possible if ids were assigned at random"
    return Line(
        test="singled out",
        who=word(guarantee.threat_model),
        adversary=word(guarantee.adversary),
        evidence=Evidence(recomputed=share == 1, bounded=share < 1),
        reason=others if share == 1 else some,
    )


TOO_SMALL = re.compile(r"\bholds ([\d,]+) \w+, fewer than\b")
"""How the check of classes says the size of the smallest, where that is below k."""


def _broken_line(guarantee: AnyGuarantee, verdict: Verdict, word: Wording) -> Line | None:
    """Return the line of a guarantee of which a class was found to be too small."""
    for check in verdict.failures():
        found = TOO_SMALL.search(check.detail)
        if found is None or check.name not in verdict.promised or number_of(guarantee) is None:
            continue
        return Line(
            test="singled out",
            who=word(capital(guarantee.adversary)),
            adversary=word(guarantee.adversary),
            evidence=Evidence(too_small=int(found[1].replace(",", ""))),
            reason=word(check.detail),
        )
    return None


def number_of(guarantee: AnyGuarantee) -> int | None:
    """Return how many look the same at least; None where the guarantee is of another sort."""
    if isinstance(
        guarantee, KAnonymity | SmoothKAnonymity | StructuralKAnonymity | SuperNodeAnonymity
    ):
        return guarantee.k
    return guarantee.level if isinstance(guarantee, AdaptiveAnonymity) else None


def unit_of(guarantee: EdgeDP | NodeDP) -> str:
    """Return what an epsilon is for."""
    if isinstance(guarantee, EdgeDP):
        return f"one {ONE_OF[guarantee.of]}"
    return "all edges or items of one person"


def bound_in_words(guarantee: EdgeDP | NodeDP) -> str:
    """Return how sure someone can become, who was not sure at all.

    >>> bound_in_words(EdgeDP(epsilon=1.0))
    'for one edge or item: an attacker at even odds can reach at most 2.72 to 1, 73 of 100'
    """
    odds, what = math.exp(guarantee.epsilon), unit_of(guarantee)
    if odds > 1e6:
        return f"for {what}: odds above a million to 1, which bounds nothing in practice"
    most = f"{plain(odds)} to 1, {odds_of_hundred(odds)}"
    return f"for {what}: an attacker at even odds can reach at most {most}"


def lines_of(attack: str, said: Said, findings: Findings, *, also: bool = False) -> Iterator[Line]:
    """Yield a line for every row that fits; one that says why where there is none."""
    rows = [row for row in findings.after or () if row.question == attack and said.fits(row)]
    if not said.label:
        return
    said = said.about(findings.counted, of_table=findings.of_table, word=findings.word)
    if said.take is strongest and rows:
        rows = [max(rows, key=lambda row: row.value or 0.0)]
    for row in rows:
        yield _measured(said, row, findings, last=row is rows[-1])
    if not rows and not said.if_measured and not also and _has_a_say(attack, findings):
        yield _untested(attack, said, findings)


def _has_a_say(attack: str, findings: Findings) -> bool:
    """Whether something is known of a question without a figure: a reason, a time, or a way."""
    if findings.after is None:
        return True
    missing = {row.question for row in findings.after.missing}
    return attack in missing or attack in (findings.times or {})


def _measured(said: Said, row: Row, findings: Findings, *, last: bool) -> Line:
    """Return the line of a figure; the last one of its question says who is worst off."""
    words = words_of(row.setting, of_table=findings.of_table, word=findings.word)
    before = _like(findings.before, row, row.figure)
    outside = _like(findings.after, row, said.left_out)
    harm = _like(findings.after, row, said.harm)
    reason = said.says.format(n=f"{per_hundred(row.value or 0.0, places=0)} of 100", **words)
    if said.take is strongest and row.sample_size:
        several = f", in the strongest of {row.sample_size} samples"
        reason += ONE_DRAW if row.sample_size == 1 else several
    least = None if row.value is None else least_shown(row)
    evidence = Evidence(value=row.value, low=least, guess=row.guess)
    drawn = "" if row.sample_size is None else f": {row.sample_size:,}"
    if harm is not None:
        evidence = evidence._replace(low=_shifted(row, harm), guess=outside.value if outside else 0)
        reason += f"; effect of being in the data: {_signed(harm)}"
    elif outside is not None:
        reason += (
            f"; {per_hundred(outside.value or 0.0, places=0)} of 100 for "
            f"{findings.counted} not in the data"
        )
    most = _most(said, row, findings.held)
    if most is not None:
        evidence = evidence._replace(recomputed=True)
        share = per_hundred(row.value or 0.0, places=0)
        reason = f"measured: {share} of 100, at most {_of_hundred(most)} by the guarantee"
    return Line(
        test=said.question,
        who=f"someone {said.who.format(**words)}{said.by}",
        label=said.label.format(**words) + said.by,
        evidence=evidence,
        most=most,
        as_published=said.as_published,
        before=None if before is None else before.value,
        low=row.low,
        high=row.high,
        left_out=None if outside is None else outside.value,
        worst=(findings.worst or {}).get(row.question) if said.worst and last else None,
        known=reworded(f"{HOW[row.known]}{drawn}", findings.counted),
        reason=reason,
    )


def _most(said: Said, row: Row, held: AnyGuarantee | None) -> float | None:
    """Return the largest share that the guarantee allows; None if it does not bound it."""
    number = None if held is None or not said.covered(held) else number_of(held)
    within = number is not None and (row.value or 0.0) <= 1 / number + ROUNDED
    return 1 / number if number and within else None


def _of_hundred(most: float) -> str:
    """Return a largest share as a number of 100, never rounded down.

    >>> _of_hundred(1 / 5), _of_hundred(1 / 3)
    ('20', '33.4')
    """
    return plain(math.ceil(1000 * most - ROUNDED) / 10)


def _shifted(row: Row, harm: Row) -> float:
    """Return the lower end that the difference to people omitted has, next to their figure."""
    outside = (row.value or 0.0) - (harm.value or 0.0)
    return outside + (harm.value or 0.0 if harm.low is None else harm.low)


def _signed(harm: Row) -> str:
    return f"{100 * (harm.value or 0.0):+.1f} of 100".replace("-", "−")


def _like(rows: Rows | None, row: Row, figure: str) -> Row | None:
    """Return the row of another figure, or of other data, in the same setting."""
    wanted = row.question, row.setting, figure
    fitting = (r for r in rows or () if (r.question, r.setting, r.figure) == wanted)
    return next(fitting, None) if figure else None


def _untested(attack: str, said: Said, findings: Findings) -> Line:
    missing = () if findings.after is None else findings.after.missing
    reasons = [row.reason for row in missing if row.question == attack]
    time = (findings.times or {}).get(attack)
    reason = reasons[0] if reasons else f"takes about {time}" if time else "it was not run"
    if findings.after is None:
        reason = NEEDS_ORIGINAL
    command = findings.command if findings.after is None else None
    if time is not None:
        command = f"{findings.command} --attacks {attack}"
    items = "some values" if findings.of_table else "some items"
    words = words_of(ANY) | {"known": "some", "items": items, "wrong_ones": "wrong ones"}
    return Line(
        test=said.question,
        who=f"someone {said.who.format(**words)}{said.by}",
        label=said.label.format(**words) + said.by,
        evidence=Evidence(),
        reason=findings.word(reason or ""),
        command=command,
    )
