"""The three tests of a release: a line an adversary, made of rows, answered by rule.

The answer to a question of the three tests: one of five words, by rule and never by hand.

The questions of the three tests, by kind of data: which figure of which attack answers them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from graphveil.claims.guarantees import (
    AdaptiveAnonymity,
    AnyGuarantee,
    EdgeDP,
    KAnonymity,
    NodeDP,
    SmoothKAnonymity,
    StructuralKAnonymity,
)
from graphveil.core.rows import Row, Rows
from graphveil.verbs.report.charts import Mark, odds_of_hundred, of_hundred, percent, plain
from graphveil.verify.verdict import Verdict

Word = Literal["No, recomputed", "Bounded", "Yes, measured", "Not shown", "Not tested"]

COLORS: dict[Word, str] = {
    "No, recomputed": "no",
    "Bounded": "no",
    "Yes, measured": "yes",
    "Not shown": "not",
    "Not tested": "not",
}
"""The class of the pill of each word: its color never speaks alone."""


class Evidence(NamedTuple):
    """What is known of one question.

    Parameters
    ----------
    recomputed
        Whether it is asked of the guarantee's own adversary, and the guarantee was just recomputed
        for everybody.
    bounded
        Whether a guarantee that holds by construction bounds it.
    value
        What an attacker reached; None where nothing was tried.
    low
        The lower end of its 95 % interval; None where the figure rests on no draw.
    guess
        What is reached without the release; None where there is no such guess, which counts as 0.
    """

    recomputed: bool = False
    bounded: bool = False
    value: float | None = None
    low: float | None = None
    guess: float | None = None


def word_of(evidence: Evidence) -> Word:
    """Return the answer that the evidence allows, and no stronger one.

    A promise stands before a figure: recomputed, or bounded where it holds by construction. Of a
    figure that rests on draws the whole interval must lie above the guess.

    Examples
    --------
    >>> word_of(Evidence(recomputed=True, value=0.03, guess=0.001))
    'No, recomputed'
    >>> word_of(Evidence(value=0.3, low=0.2, guess=0.1))
    'Yes, measured'
    >>> word_of(Evidence(value=0.3, low=0.1, guess=0.1))
    'Not shown'
    >>> word_of(Evidence(bounded=True)), word_of(Evidence())
    ('Bounded', 'Not tested')
    """
    if evidence.recomputed:
        return "No, recomputed"
    if evidence.bounded:
        return "Bounded"
    if evidence.value is None:
        return "Not tested"
    least = evidence.value if evidence.low is None else evidence.low
    return "Yes, measured" if least > (evidence.guess or 0.0) else "Not shown"


Test = Literal["singled out", "linked", "inferred"]

HEADINGS: dict[Test, tuple[str, str]] = {
    "singled out": (
        "Can a person be singled out?",
        "Share of people who are pointed at rightly.",
    ),
    "linked": (
        "Can two data sets be linked?",
        "An outsider holds other data on the same people, or another release.",
    ),
    "inferred": (
        "Can something be inferred about a person?",
        "What a reader of the release learns of somebody.",
    ),
}


class Subject(NamedTuple):
    """One line of a test.

    Parameters
    ----------
    test
        The test.
    who
        The adversary, in the words of a reader; ``{0}`` is what the pattern captures.
    label
        The same in a picture.
    attack, part
        The figure: the attack's name, and a pattern of its parts. Every part that fits is a line.
    says
        What a figure means, with ``{n}`` for "31 of 100".
    left_out
        The part that says the same of people who are left out; empty where there is none.
    harm
        The part that says the difference; the answer is by it.
    most
        Whether only the part of the largest figure is shown, and said of how many draws it is.
    worst
        Whether its last line says who is worst off by the attack.
    if_measured
        Whether nothing is said of it without a figure: few data have what it asks about.
    """

    test: Test
    who: str
    label: str
    attack: str
    part: str
    says: str
    left_out: str = ""
    harm: str = ""
    most: bool = False
    worst: bool = False
    if_measured: bool = False


GUESSED = "{n} people are pointed at rightly"
STRONGEST_DRAW = "(?:, largest of the draws)?"

OF_NETWORKS = (
    Subject(
        "singled out",
        "someone who knows how many ties a person had in the original",
        "number of ties",
        "candidate-set",
        r"degree, right guess",
        GUESSED,
    ),
    Subject(
        "singled out",
        "someone who knows that, and in how many closed triangles",
        "ties and closed triangles",
        "candidate-set",
        r"degree and triangles, right guess",
        GUESSED,
    ),
    Subject(
        "singled out",
        "someone who knows how many ties the person and each of their contacts had",
        "ties of everyone they know",
        "candidate-set",
        r"vrq, right guess",
        GUESSED,
        worst=True,
    ),
    Subject(
        "singled out",
        "someone who knows how many ties led away from a person, and how many to that person",
        "ties out and in",
        "candidate-set",
        r"ties out and in, right guess",
        GUESSED,
        if_measured=True,
    ),
    Subject(
        "singled out",
        "someone who knows how many ties led away and back, and how many people and ties are near",
        "ties and people around",
        "candidate-set",
        r"ties and people around, right guess",
        GUESSED,
        if_measured=True,
    ),
    Subject(
        "singled out",
        "someone who knows how many ties of each kind a person had",
        "ties of each kind",
        "candidate-set",
        r"ties of each kind, right guess",
        GUESSED,
        if_measured=True,
    ),
    Subject(
        "singled out",
        "someone who knows the published attributes of a person, and {0}",
        "attributes, and {0}",
        "candidate-set",
        r"(degree|ties out and in|ties of each kind) with attributes, right guess",
        GUESSED,
        if_measured=True,
    ),
    Subject(
        "singled out",
        "someone who knows the published attributes of the person's neighbors",
        "attributes of the neighbors",
        "neighbor-attributes",
        r"attributes of the neighbors, right guess",
        GUESSED,
        if_measured=True,
    ),
    Subject(
        "singled out",
        "someone who knows the published attributes of the person and of the neighbors",
        "own attributes and those of the neighbors",
        "neighbor-attributes",
        r"attributes of the neighbors with attributes, right guess",
        GUESSED,
        if_measured=True,
        worst=True,
    ),
    Subject(
        "linked",
        "someone who holds a copy of the network",
        "a copy of the whole network",
        "seeded-matching",
        r"overlap 1(?: with [a-z, ]+?)?, nobody known.*: right",
        "{n} people are pointed at rightly, though nobody is known beforehand",
    ),
    Subject(
        "linked",
        "someone who holds a copy of the network and knows {0} people in the release",
        "a copy, {0} people known",
        "seeded-matching",
        rf"overlap 1(?: with [a-z, ]+?)?, (\d+) known.*: right{STRONGEST_DRAW}",
        GUESSED,
        most=True,
        if_measured=True,
    ),
    Subject(
        "linked",
        "someone who holds a part of the network, or knows some people",
        "a part of the network",
        "seed-propagation",
        rf"overlap .*: right{STRONGEST_DRAW}",
        GUESSED,
        most=True,
    ),
    Subject(
        "linked",
        "someone who holds a part of the network and has much time",
        "a part of it, and much time",
        "alignment",
        rf"overlap .*: right{STRONGEST_DRAW}",
        GUESSED,
        most=True,
    ),
    Subject(
        "inferred",
        "someone who looks at the neighbors of a person whose {0} is suppressed",
        "{0}, suppressed",
        "attribute-inference",
        r"(.+), suppressed: neighbors",
        "of {n} people it is guessed rightly",
        if_measured=True,
    ),
    Subject(
        "inferred",
        "someone who knows the class of a person and reads {0}, which is attached",
        "{0}, attached",
        "homogeneity",
        r"(.+): commonest value of the class",
        "{n} people have the commonest value of their group",
        if_measured=True,
    ),
    Subject(
        "inferred",
        "someone who looks for ties that are false",
        "which ties are false",
        "fake-edge",
        r"flagged, precision",
        "{n} ties that look false are false, which leaves the rest more believable",
    ),
    Subject(
        "inferred",
        "someone who knows most ties, and reads the rest from the release",
        "further ties of known people",
        "edge-gain",
        r"precision.*",
        "{n} ties that it shows are true",
    ),
    Subject(
        "inferred",
        "someone who asks whether two given people are tied",
        "one given tie",
        "edge-membership",
        r"hits",
        "{n} true ties are published",
    ),
    Subject(
        "inferred",
        "someone who knows who is who, all other ties and the method, and asks for one tie",
        "one tie, all others known",
        "tie-membership",
        r"one tie",
        "of one tie and one pair without, the right one is told {n} times",
        if_measured=True,
    ),
)

OF_FEATURES = (
    Subject(
        "singled out",
        "someone who knows {0} items of a person",
        "{0} items known",
        "linkage",
        r"(\d+) known, 0 false: own row",
        GUESSED,
        worst=True,
    ),
    Subject(
        "singled out",
        "someone who holds the whole original table",
        "the whole original table",
        "matching",
        r"true pair, mean",
        GUESSED,
    ),
    Subject(
        "singled out",
        "someone who has the release, and knows which values its columns can have",
        "the release",
        "singling-out",
        r"true of one person",
        "of {n} groups of equal rows something is said that is true of exactly one person",
        if_measured=True,
    ),
    Subject(
        "linked",
        "someone who has the original and runs the method {0} times",
        "the original, {0} runs",
        "matching",
        r"re-run (\d+) times, right guess",
        GUESSED,
        if_measured=True,
    ),
    Subject(
        "linked",
        "someone whose file has {0} items of a person, one of them wrong",
        "{0} items, one wrong",
        "linkage",
        r"(\d+) known, 1 false: own row",
        GUESSED,
    ),
    Subject(
        "linked",
        "someone who has another release of the same people",
        "another release",
        "intersection",
        r"alone in the joint class",
        "{n} people are alone in what both releases say",
    ),
    Subject(
        "inferred",
        "someone who reads a published item and believes it",
        "a published item",
        "class-truth",
        r"entries true, mean",
        "of the people whom it may be about, it is true of {n}",
    ),
    Subject(
        "inferred",
        "someone in the data, who knows the own row",
        "the own row",
        "insider",
        r"whole row read by another of the class",
        "the whole row of {n} people is read",
        if_measured=True,
    ),
    Subject(
        "inferred",
        "someone who knows how common values are, and reads what is hidden",
        "what is hidden",
        "minimality",
        r"hidden cells, not the commonest value of the column",
        "{n} hidden cells are not the commonest value of their column",
        if_measured=True,
    ),
    Subject(
        "inferred",
        "someone who knows how the method chose",
        "the method's choices",
        "refinement",
        r"cells with a value ruled out or unlikely, right guess",
        "of cells of which they say something, {n} are guessed",
        if_measured=True,
    ),
    Subject(
        "inferred",
        "someone who asks whether a person took part",
        "who took part",
        "membership",
        r"a whole row",
        "of one who took part and one who did not, the right one is told {n} times",
    ),
    Subject(
        "inferred",
        "someone who asks for one item of a person",
        "one item",
        "item-membership",
        r"one item of people inside",
        "of one who has it and one who has not, the right one is told {n} times",
        left_out=r"one item of people left out",
    ),
    Subject(
        "inferred",
        "someone who knows all the rest, asks which of two items a person has, and runs the method",
        "one of two items",
        "item-membership",
        r"one of two items",
        "of one who has it and one who has the other, the right one is told {n} times",
        if_measured=True,
    ),
    Subject(
        "inferred",
        "someone who knows {0} items and asks for rare others, because the person took part",
        "rare items, {0} known",
        "linkage",
        r"(\d+) known: rare other items, recall of people inside",
        "{n} of their rare other items are told",
        left_out="{0} known: rare other items, recall of people left out",
        harm="{0} known: rare other items, recall, harm of being inside",
    ),
    Subject(
        "inferred",
        "someone who reads a column that is published beside the release",
        "an attached column",
        "homogeneity",
        r"commonest value of the class",
        "{n} people have the commonest value of their group",
    ),
    Subject(
        "inferred",
        "someone who asks whether a person has a given item",
        "one given item",
        "entry-membership",
        r"hits",
        "{n} true items are published",
    ),
)

HOW = {"exact": "counted over everybody", "estimate": "estimated", "sampled": "drawn"}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One adversary: figures as shares in 0..1, None for what is not there."""

    test: Test
    who: str
    evidence: Evidence
    reason: str
    label: str = ""
    before: float | None = None
    low: float | None = None
    high: float | None = None
    left_out: float | None = None
    worst: float | None = None
    known: str = ""
    command: str | None = None

    @property
    def word(self) -> Word:
        """The answer."""
        return word_of(self.evidence)

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
    def interval(self) -> str:
        """The 95 % interval in words; empty where there is none."""
        if self.low is None or self.high is None:
            return ""
        return f"{percent(self.low)} to {percent(self.high)}"


@dataclass(frozen=True, kw_only=True)
class Answers:
    """One of the three tests: what it asks, and its lines."""

    test: Test
    lines: tuple[Line, ...]

    @property
    def heading(self) -> str:
        """The question."""
        return HEADINGS[self.test][0]

    @property
    def caption(self) -> str:
        """What its figures are."""
        return HEADINGS[self.test][1]

    @property
    def has_left_out(self) -> bool:
        """Whether a line has a figure of people who were left out."""
        return any(line.left_out is not None for line in self.lines)

    @property
    def has_worst(self) -> bool:
        """Whether a line has a figure of those who are worst off."""
        return any(line.worst is not None for line in self.lines)

    @property
    def strongest(self) -> Line:
        """The line that answers the question in short: the largest figure shown, else the first."""
        shown = [line for line in self.lines if line.word == "Yes, measured"]
        return max(shown, key=lambda line: line.evidence.value or 0.0) if shown else self.lines[0]

    @property
    def in_short(self) -> str:
        """The answer, and by whom and why; of a promise also what it leaves open."""
        line = self.strongest
        if line.word == "Not tested":
            return f"{line.word}: {line.reason}."
        answer = f"{line.word}, by {_first_clause(line.who)}: {line.reason}."
        others = [other for other in self.lines if other is not line]
        if line.word in {"No, recomputed", "Bounded"} and others:
            who = others[0].who
            rest = "Anything else" if who == "anybody" else f"By {_first_clause(who)}"
            answer += f" {rest}: {others[0].word.lower()}."
        return answer


def _first_clause(who: str) -> str:
    """Return whom a threat model is about, without what becomes of them.

    Examples
    --------
    >>> _first_clause("Someone who knows a row, is left with 5 rows. What else is known is open.")
    'someone who knows a row'
    """
    text = who.partition(" is left with")[0].partition(". ")[0].rstrip(".,")
    return text[0].lower() + text[1:]


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What was measured for the tests, all of it optional.

    Parameters
    ----------
    after, before
        Rows of attacks on the release, and on the original under new ids.
    worst
        By attack, the mean risk of the hundredth of people who are worst off.
    times
        By attack that was not run, how long it takes, in words.
    command
        What is typed before the name of an attack to have it run; None where only the owner can.
    """

    after: Rows | None = None
    before: Rows | None = None
    worst: Mapping[str, float] | None = None
    times: Mapping[str, str] | None = None
    command: str | None = None


ONE_DRAW = ", in one draw: another may give more"
NO_ATTACK = "this version has no attack for it on this kind of data"
ONLY_OWNER = "only its owner can test this, with the original"


def answers_of(
    guarantee: AnyGuarantee, verdict: Verdict, subjects: Sequence[Subject], figures: Figures
) -> tuple[Answers, ...]:
    """Return the three tests, each with at least one line.

    Parameters
    ----------
    guarantee, verdict
        What is promised, and what was just recomputed of it.
    subjects
        The questions of this kind of data.
    figures
        What was measured.
    """
    promised = promised_line(guarantee, verdict)
    tests = []
    for test in HEADINGS:
        lines = [promised] if promised is not None and promised.test == test else []
        mine = [subject for subject in subjects if subject.test == test]
        if figures.after is None and figures.command is None:
            lines.append(_untested_by_all(test))
        else:
            lines += [line for subject in mine for line in _lines(subject, figures)]
        if not lines:
            lines.append(Line(test=test, who="anybody", evidence=Evidence(), reason=NO_ATTACK))
        tests.append(Answers(test=test, lines=tuple(lines)))
    return tuple(tests)


def marks_of(rows: Rows, subjects: Sequence[Subject]) -> list[Mark]:
    """Return the marks of the questions that these rows of attacks answer, each once.

    Parameters
    ----------
    rows
        Rows of attacks.
    subjects
        The questions.
    """
    figures = Figures(after=rows)
    lines = (line for subject in subjects for line in _lines(subject, figures))
    marks = {line.mark.label: line.mark for line in lines if line.mark is not None}
    return list(marks.values())


def _untested_by_all(test: Test) -> Line:
    who = "someone who knows anything else" if test == "singled out" else "anybody"
    return Line(test=test, who=who, evidence=Evidence(), reason=ONLY_OWNER)


def promised_line(guarantee: AnyGuarantee, verdict: Verdict) -> Line | None:
    """Return the line of the guarantee's own adversary; None where nothing holds of everybody."""
    if verdict.exit_code:
        return None
    if isinstance(guarantee, EdgeDP | NodeDP):
        return Line(
            test="inferred",
            who=guarantee.threat_model,
            evidence=Evidence(bounded=True),
            reason=bound_in_words(guarantee),
        )
    number = number_of(guarantee)
    if number is None or number < 2:
        return None
    share = guarantee.share if isinstance(guarantee, StructuralKAnonymity) else 1.0
    some = (
        f"recomputed for at least {percent(share)} of the people, nothing is promised of the rest"
    )
    others = f"at least {number} are left, whoever it is"
    return Line(
        test="singled out",
        who=guarantee.threat_model,
        evidence=Evidence(recomputed=share == 1, bounded=share < 1),
        reason=others if share == 1 else some,
    )


def number_of(guarantee: AnyGuarantee) -> int | None:
    """Return how many look alike at least; None where the promise is of another sort."""
    if isinstance(guarantee, KAnonymity | SmoothKAnonymity | StructuralKAnonymity):
        return guarantee.k
    return guarantee.level if isinstance(guarantee, AdaptiveAnonymity) else None


def bound_in_words(guarantee: EdgeDP | NodeDP) -> str:
    """Return how sure somebody can become, who was not sure at all.

    Examples
    --------
    >>> bound_in_words(EdgeDP(epsilon=1.0))
    'of one tie or item: who is sure at 1 : 1 can become sure at most at 2.72 : 1, 73 of 100'
    """
    odds = math.exp(guarantee.epsilon)
    what = "one tie or item" if isinstance(guarantee, EdgeDP) else "all of one person together"
    if odds > 1e6:
        return f"of {what}: more than a million : 1, which bounds nothing that matters"
    most = f"{plain(odds)} : 1, {odds_of_hundred(odds)}"
    return f"of {what}: who is sure at 1 : 1 can become sure at most at {most}"


def _lines(subject: Subject, figures: Figures) -> Iterator[Line]:
    """Yield a line for every part that fits; one that says why where there is none."""
    rows = [
        (row, match.groups())
        for row in figures.after or ()
        if row.question == subject.attack
        and (match := re.fullmatch(subject.part, row.part)) is not None
    ]
    if subject.most and rows:
        rows = [max(rows, key=lambda pair: pair[0].value or 0.0)]
    for row, captured in rows:
        yield _measured(subject, row, captured, figures, last=row is rows[-1][0])
    if not rows and not subject.if_measured and _has_a_say(subject, figures):
        yield _untested(subject, figures)


def _has_a_say(subject: Subject, figures: Figures) -> bool:
    """Whether something is known of a question without a figure: a reason, a time, or a way."""
    if figures.after is None:
        return True
    missing = {name.split(": ")[0] for name in figures.after.not_measured}
    return subject.attack in missing or subject.attack in (figures.times or {})


def _measured(
    subject: Subject, row: Row, captured: Sequence[str], figures: Figures, *, last: bool
) -> Line:
    """Return the line of a figure; the last one of its question says who is worst off."""
    rows = figures.after or Rows([])
    before = _row(figures.before, subject.attack, row.part)
    outside = _row(rows, subject.attack, subject.left_out.format(*captured))
    harm = _row(rows, subject.attack, subject.harm.format(*captured))
    reason = subject.says.format(n=of_hundred(row.value or 0.0))
    if subject.most and row.sample_size:
        reason += (
            ONE_DRAW if row.sample_size == 1 else f", in the strongest of {row.sample_size} draws"
        )
    evidence = Evidence(value=row.value, low=row.low, guess=row.guess)
    drawn = "" if row.sample_size is None else f": {row.sample_size:,}"
    if harm is not None:
        evidence = evidence._replace(low=_shifted(row, harm), guess=outside.value if outside else 0)
        reason += f"; because they took part: {_signed(harm)}"
    elif outside is not None:
        reason += f"; {of_hundred(outside.value or 0.0)} for people who were left out"
    return Line(
        test=subject.test,
        who=subject.who.format(*captured),
        label=subject.label.format(*captured),
        evidence=evidence,
        before=None if before is None else before.value,
        low=row.low,
        high=row.high,
        left_out=None if outside is None else outside.value,
        worst=(figures.worst or {}).get(subject.attack) if subject.worst and last else None,
        known=f"{HOW[row.known]}{drawn}",
        reason=reason,
    )


def _shifted(row: Row, harm: Row) -> float:
    """Return the lower end that the difference to people left out has, beside their figure."""
    outside = (row.value or 0.0) - (harm.value or 0.0)
    return outside + (harm.value or 0.0 if harm.low is None else harm.low)


def _signed(harm: Row) -> str:
    return f"{100 * (harm.value or 0.0):+.1f} of 100".replace("-", "−")


def _row(rows: Rows | None, question: str, part: str) -> Row | None:
    if rows is None or not part:
        return None
    return next((row for row in rows if (row.question, row.part) == (question, part)), None)


def _untested(subject: Subject, figures: Figures) -> Line:
    missing = {} if figures.after is None else figures.after.not_measured
    reasons = [why for name, why in missing.items() if name.split(": ")[0] == subject.attack]
    time = (figures.times or {}).get(subject.attack)
    reason = reasons[0] if reasons else f"takes about {time}" if time else "it was not run"
    if figures.after is None:
        reason = "needs the original"
    command = figures.command if figures.after is None else None
    if time is not None:
        command = f"{figures.command} --attacks {subject.attack}"
    return Line(
        test=subject.test,
        who=subject.who.format("some"),
        label=subject.label.format("some"),
        evidence=Evidence(),
        reason=reason,
        command=command,
    )
