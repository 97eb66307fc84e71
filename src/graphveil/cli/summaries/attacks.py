"""What an attacker still learns, by the questions of WP29 05/2014: rows become a line a question.

Singling out, linking and inferring, each beside a guess without the release. The answer follows
from the figures by rule: *yes* where the figure, or its 95 % interval, lies above the guess, else
*not shown*, since an attack that fails proves nothing.

What attacks reached on releases of each method, as the documentation has it.

The ranges come from the raw rows of ``benchmarks/attacks``, and a test computes them again from
there. They say what to expect, and bound nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from graphveil.cli.summaries.line import Answer, Group, Line, of_hundred
from graphveil.core.rows import Row, Rows


class Reached(NamedTuple):
    """What one attack reached on releases of one method.

    Parameters
    ----------
    low, high
        The smallest and the largest share of people who were re-identified.
    by
        The attack.
    at
        The strengths of the releases; empty where the method has none.
    """

    low: float
    high: float
    by: str
    at: str


SOMEONE = {
    "seeded-matching": (
        "someone who has a whole copy of the network, and knows at most 20 people",
        "networks of 242 to 1,226 people",
    ),
    "linkage": ("someone who knows 8 items of a person", "2,000 people"),
    "matching": ("someone who has the original and runs the method again", "187 people"),
}
"""What the adversary of each attack knows, and how many people the releases had."""

REACHED = {
    "asymmetric-response": (
        Reached(0.0, 1.0, "seeded-matching", "epsilon 2 to 7.11"),
        Reached(0.023, 0.963, "linkage", "epsilon 2 to 8"),
    ),
    "degree-prior-response": (Reached(0.337, 1.0, "seeded-matching", "epsilon 2 to 7.11"),),
    "degree-triangle-model": (Reached(0.0, 0.033, "seeded-matching", "epsilon 1 to 4"),),
    "density-explore-reconstruct": (Reached(0.0, 0.072, "seeded-matching", "epsilon 2 to 7.11"),),
    "dp-1k": (Reached(0.0, 0.033, "seeded-matching", "epsilon 2 to 7.11"),),
    "hrg-mcmc": (Reached(0.0, 0.025, "seeded-matching", "epsilon 2 to 7.11"),),
    "k-degree": (Reached(0.939, 1.0, "seeded-matching", "k=2 to 20"),),
    "mixing-prior-response": (Reached(0.29, 1.0, "seeded-matching", "epsilon 2 to 7.11"),),
    "randomized-response": (
        Reached(0.0, 1.0, "seeded-matching", "epsilon 2 to 7.11"),
        Reached(0.168, 0.977, "linkage", "epsilon 2 to 8"),
    ),
    "rename": (
        Reached(0.947, 1.0, "seeded-matching", ""),
        Reached(0.57, 0.977, "linkage", ""),
        Reached(0.914, 0.914, "matching", ""),
    ),
    "structural": (Reached(0.0, 1.0, "seeded-matching", "k=2 to 20"),),
    "top-m-filter": (Reached(0.013, 1.0, "seeded-matching", "epsilon 2 to 7.11"),),
    "mondrian": (Reached(0.007, 0.196, "linkage", "k=2 to 16"),),
    "smooth-k": (Reached(0.029, 0.498, "linkage", "k=2 to 16"),),
    "suppress-k": (Reached(0.024, 0.29, "linkage", "k=2 to 16"),),
    "adaptive": (Reached(0.447, 0.779, "matching", "levels 2 to 20"),),
    "cluster-k": (Reached(0.043, 0.472, "matching", "k=2 to 20"),),
}
"""What was reached, by the name of the method."""


def documented(method: str, attacks: set[str]) -> str:
    """Return what attacks of these reached on releases of a method; empty where nothing was run.

    Parameters
    ----------
    method
        Its name.
    attacks
        Those that read this kind of data.

    Examples
    --------
    >>> documented("k-degree", {"seeded-matching"})[:43]
    'Documented, of k-degree (k=2 to 20): someon'
    >>> documented("k-degree", {"linkage"})
    ''
    """
    fitting = [one for one in REACHED.get(method, ()) if one.by in attacks]
    if not fitting:
        return ""
    low, high, by, at = fitting[0]
    who, people = SOMEONE[by]
    ends = dict.fromkeys((of_hundred(low), of_hundred(high)))
    strength = f" ({at})" if at else ""
    share = " to ".join(ends)
    return f"Documented, of {method}{strength}: {who}, re-identified {share} of 100, on {people}."


POINTED = "Can someone be pointed at?"
LINKED = "Can people be linked with another file on them?"
INFERRED = "What does the release tell of a person?"
HEADINGS = (POINTED, LINKED, INFERRED)
"""The questions: singling out, linkability, inference."""

NOTHING_SHOWN = (
    "No attack that was run re-identifies more people than a guess without the release does. An "
    "attack that fails proves nothing."
)

_COPY = re.compile(
    r"overlap ([\d.]+)(?: with ([a-z, ]+?))?(?:, ([\d.]+) of the people)?"
    r"(?:, (nobody|\d+) known)?(?:, best of.*|, capped.*)?: right$"
)
IN_ONE, COMMONEST = "in a class of one value", "commonest value of the class"
"""Parts of `homogeneity`; of networks they stand behind the name of the column."""

_KNOWN = re.compile(r"(\d+) known, (\d+) false: own row$")
_EPSILON = re.compile(r"epsilon, lower bound")


class _Asked(NamedTuple):
    """What a row answers: under which question, in which words, and of whom the figure is."""

    heading: str
    words: str
    who: str = ""
    """Of re-identification: the one who does it, for a sentence."""
    least: float | None = None
    """Where draws differ much, the share in the weakest; the row is then that of the strongest."""
    by: str = ""
    """What draws differ by, or that there was one alone, for the sentence."""


def strength(row: Row) -> Answer:
    """Return whether a figure lies above the guess without the release.

    Parameters
    ----------
    row
        A row of an attack, with a value.

    Examples
    --------
    >>> strength(Row(release="a", question="b", value=0.2, guess=0.1, low=0.05, high=0.3))
    'not shown'
    """
    guess = row.guess or 0.0
    value = row.value or 0.0
    least = value if row.low is None else row.low
    return "yes" if least > guess else "not shown"


def groups(rows: Rows) -> tuple[Group, ...]:
    """Return a line a question that these rows answer, under the three headings.

    Parameters
    ----------
    rows
        Rows of attacks.

    Examples
    --------
    >>> part = "degree, right guess"
    >>> row = Row(release="a", question="candidate-set", part=part, value=0.014, guess=0.002)
    >>> [group] = groups(Rows([row]))
    >>> group.heading, group.lines[0].question, group.lines[0].figure, group.lines[0].answer
    ('Can someone be pointed at?', 'by someone who knows how many ties a person has', '1.4', 'yes')
    """
    asked = list(_asked(rows))
    return tuple(
        Group(heading=heading, lines=tuple(_line(one, row) for one, row in of_this))
        for heading in HEADINGS
        if (of_this := [(one, row) for one, row in asked if one.heading == heading])
    )


def headline(rows: Rows) -> str:
    """Return the most that anybody learns of who is who, in one sentence.

    Examples
    --------
    >>> row = Row(
    ...     release="a", question="seeded-matching", value=0.724, guess=0.002,
    ...     part="overlap 1, nobody known, best of 5 starts: right",
    ... )
    >>> headline(Rows([row]))
    'Someone who has a copy of the network re-identifies 72.4 of 100 people (a guess without \
the release: 0.2).'
    """
    asked = list(_asked(rows))
    people = [(one, row) for one, row in asked if one.who and strength(row) == "yes"]
    if people:
        one, row = max(people, key=lambda pair: pair[1].value or 0.0)
        return _line(one, row).sentence
    if any(one.who for one, _ in asked):
        return NOTHING_SHOWN
    if asked:
        return _line(*asked[0]).sentence
    return "No attack could be run." if not rows else "See --all: no question is answered by these."


def _line(asked: _Asked, row: Row) -> Line:
    if row.unit == "epsilon":
        figure, guess = f"{row.value:.2f}", ""
    else:
        figure = of_hundred(row.value or 0.0)
        guess = "" if row.guess is None else of_hundred(row.guess)
    if asked.least is not None:
        figure = f"{of_hundred(asked.least)} to {figure}"
    beside = f" (a guess without the release: {guess})" if guess else ""
    sentence = f"{asked.words}: {figure} of 100{beside}."
    if asked.who:
        sentence = f"Someone {asked.who} re-identifies {figure} of 100 people{asked.by}{beside}."
    return Line(
        question=asked.words,
        figure=figure,
        unit="epsilon" if row.unit == "epsilon" else "of 100",
        sentence=sentence[0].upper() + sentence[1:],
        guess=guess,
        answer=strength(row),
    )


def _asked(rows: Rows) -> Iterator[tuple[_Asked, Row]]:
    """Yield the rows that answer a question; of many settings of one attack, the worst ones."""
    for name, chosen in _CHOSEN.items():
        yield from chosen([row for row in rows if row.question == name])


def _parts(*wanted: tuple[str, _Asked]) -> Callable[[list[Row]], Iterator[tuple[_Asked, Row]]]:
    """Return what chooses rows by their parts."""

    def chosen(rows: list[Row]) -> Iterator[tuple[_Asked, Row]]:
        by_part = {row.part: row for row in rows}
        for part, asked in wanted:
            if part in by_part:
                yield asked, by_part[part]

    return chosen


def _apart(least: Row, mean: Row, most: Row) -> bool:
    """Whether a mean of draws says too little of the strongest one."""
    low, middle, high = (row.value or 0.0 for row in (least, mean, most))
    return high - low > DIFFER or (high >= 2 * middle and high - middle > DOUBLED)


def _copies(rows: list[Row]) -> Iterator[tuple[_Asked, Row]]:
    """Yield, for nobody known and for known people, the copy by which most are re-identified.

    Where its draws differ much, that is the strongest of them: a mean of all or nothing is neither.
    """
    best: dict[bool, tuple[_Asked, Row]] = {}
    by_part = {row.part: row for row in rows}
    for row in rows:
        match = _COPY.fullmatch(row.part)
        if match is None:
            continue
        known = match[4] not in {None, "nobody"}
        least, most = (by_part.get(f"{row.part}, {name} of the draws") for name in EXTREMES)
        apart = least is not None and most is not None and _apart(least, row, most)
        shown = most if most is not None and apart else row
        if known not in best or (shown.value or 0.0) > (best[known][1].value or 0.0):
            who = f"who has {_copy(match)}{f' and knows {match[4]} people' if known else ''}"
            asked = _Asked(LINKED, f"by someone {who}", who)
            if least is not None and shown is not row:
                by = "who is known" if known else "which ties the copy has"
                asked = asked._replace(least=least.value, by=f", depending on {by}")
            elif known and row.sample_size == 1:
                asked = asked._replace(words=f"{asked.words}, one draw", by=ONE_DRAW)
            best[known] = asked, shown
    yield from (best[known] for known in sorted(best))


def _copy(match: re.Match[str]) -> str:
    overlap, people = float(match[1]), float(match[3] or 1)
    whom = "the network" if people == 1 else f"{100 * people:g} % of the people"
    words = f"a copy of {whom}{f' with {match[2]}' if match[2] else ''}"
    return words if overlap == 1 else f"{words}, {100 * overlap:g} % of its ties right"


def _items(rows: list[Row]) -> Iterator[tuple[_Asked, Row]]:
    """Yield what the most items that were tried re-identify, all right and with wrong ones."""
    best: dict[bool, tuple[int, _Asked, Row]] = {}
    for row in rows:
        match = _KNOWN.fullmatch(row.part)
        if match is None or row.value is None:
            continue
        known, wrong = int(match[1]), int(match[2])
        who = f"who knows {known} item{'s' if known > 1 else ''} of a person"
        who += f" and {wrong} wrong one{'s' if wrong > 1 else ''}" if wrong else ""
        heading = LINKED if wrong else POINTED
        large = row.sample_size is None or row.sample_size >= FEWEST_TARGETS
        off = wrong > 0
        if large and (off not in best or known > best[off][0]):
            best[off] = known, _Asked(heading, f"by someone {who}", who), row
    yield from ((asked, row) for _, asked, row in best.values())


EXTREMES = "least", "largest"
DIFFER, DOUBLED = 0.1, 0.02
"""Both ends of the draws are said where they lie so far apart; or where the strongest is twice the
mean, and so much above it."""

ONE_DRAW = " in one draw of who is known"

FEWEST_TARGETS = 20
"""Settings of fewer targets stand in the rows alone."""


def _epsilons(rows: list[Row]) -> Iterator[tuple[_Asked, Row]]:
    for row in rows:
        if _EPSILON.match(row.part):
            words = "which ties or items are there: epsilon is at least"
            yield _Asked(INFERRED, words), row


def _further_ties(rows: list[Row]) -> Iterator[tuple[_Asked, Row]]:
    for row in rows:
        which = "that are right" if row.part.startswith("precision") else "of all unknown ones"
        words = f"further ties, read off by who knows most: {which}"
        yield _Asked(INFERRED, words), row


def _re_runs(rows: list[Row]) -> Iterator[tuple[_Asked, Row]]:
    for row in rows:
        if row.part.endswith("seed unknown, right guess"):
            words = "which of two items is a person's, by running the method again"
            yield _Asked(INFERRED, words), row


def _of_classes(rows: list[Row]) -> Iterator[tuple[_Asked, Row]]:
    """Yield for how many people the class has one value of the column, or of which column."""
    for row in rows:
        name, _, how = row.part.rpartition(": ")
        if row.part == IN_ONE:
            yield _Asked(INFERRED, "people whose class has one value of the attached column"), row
        elif how == IN_ONE:
            yield _Asked(INFERRED, f"people whose class has one value of {name}, attached"), row
        elif how == COMMONEST:
            yield _Asked(INFERRED, f"{name} of people, guessed by the others of the class"), row


def _of_neighbors(rows: list[Row]) -> Iterator[tuple[_Asked, Row]]:
    for row in rows:
        name, _, how = row.part.rpartition(", ")
        if how == "suppressed: neighbors":
            yield (
                _Asked(INFERRED, f"{name} where it is suppressed, by what neighbors are like"),
                row,
            )


def _knows(what: str) -> _Asked:
    return _Asked(POINTED, f"by someone who knows {what}", f"who knows {what}")


_ONE_ITEM = _parts(
    ("one item of people inside", _Asked(INFERRED, "which of two items is a person's")),
    (
        "one item of people left out",
        _Asked(INFERRED, "the same of people who were left out of the data"),
    ),
)
_EITHER_ITEM = _parts(
    ("one of two items", _Asked(INFERRED, "which of two items is a person's, all else known")),
    (
        "one of two items, found at 1 % false alarms",
        _Asked(INFERRED, "people whose item is told, at 1 false alarm in 100"),
    ),
)


def _one_item(rows: list[Row]) -> Iterator[tuple[_Asked, Row]]:
    """Yield who makes releases; before it who reads the one alone, where that tells more.

    Much of the latter may be known of people who were left out, so it is not in place of the other.
    """
    alone, again = ([*some(rows)] for some in (_ONE_ITEM, _EITHER_ITEM))
    if not again or (alone and (alone[0][1].value or 0.0) > (again[0][1].value or 0.0)):
        yield from alone
    yield from again


_AGAIN = "who has the original and runs the method again"
_PAIRS = _parts(
    ("true pair, mean", _Asked(POINTED, "chance to pick a person's own record, on average")),
    ("true pair, largest", _Asked(POINTED, "chance to pick a person's own record, at worst")),
    ("re-run, right guess", _Asked(LINKED, f"by someone {_AGAIN}", _AGAIN)),
)
_TIMES = re.compile(r"re-run (\d+) times, right guess")


def _matching(rows: list[Row]) -> Iterator[tuple[_Asked, Row]]:
    yield from _PAIRS(rows)
    for row in rows:
        if times := _TIMES.fullmatch(row.part):
            often = f"who has the original and runs the method {times[1]} times"
            yield _Asked(LINKED, f"by someone {often}", often), row


_CHOSEN: dict[str, Callable[[list[Row]], Iterator[tuple[_Asked, Row]]]] = {
    "candidate-set": _parts(
        ("degree, right guess", _knows("how many ties a person has")),
        ("degree and triangles, right guess", _knows("how many ties and triangles a person has")),
        ("vrq, right guess", _knows("how many ties each neighbor of a person has")),
        (
            "ties out and in, right guess",
            _knows("how many ties lead away from a person, and how many back"),
        ),
        (
            "ties and people around, right guess",
            _knows("how many ties out and in, and how many people and ties are around a person"),
        ),
        ("ties of each kind, right guess", _knows("how many ties of each kind a person has")),
        (
            "degree with attributes, right guess",
            _knows("the published attributes of a person, and how many ties"),
        ),
        (
            "ties out and in with attributes, right guess",
            _knows("the published attributes of a person, and how many ties out and in"),
        ),
        (
            "ties of each kind with attributes, right guess",
            _knows("the published attributes of a person, and how many ties of each kind"),
        ),
    ),
    "matching": _matching,
    "linkage": _items,
    "seeded-matching": _copies,
    "alignment": _copies,
    "seed-propagation": _copies,
    "intersection": _parts(
        ("alone in the joint class", _Asked(LINKED, "alone, by two releases together")),
    ),
    "membership": _parts(
        ("a whole row", _Asked(INFERRED, "which of two rows took part")),
        (
            "a whole row, found at 1 % false alarms",
            _Asked(INFERRED, "people who took part, at 1 false alarm in 100"),
        ),
    ),
    "item-membership": _one_item,
    "singling-out": _parts(
        (
            "true of one person",
            _Asked(POINTED, "classes of which a statement is true of exactly one person"),
        ),
    ),
    "insider": _parts(
        (
            "whole row read by another of the class",
            _Asked(INFERRED, "people whose whole row another of their class reads"),
        ),
    ),
    "minimality": _parts(
        (
            "hidden cells, not the commonest value of the column",
            _Asked(INFERRED, "hidden cells that are uncommon, beside all cells"),
        ),
        (
            "hidden cells of the secret's column, people who have it",
            _Asked(INFERRED, "people with the secret, where it is hidden"),
        ),
    ),
    "refinement": _parts(
        (
            "cells with a value ruled out or unlikely, right guess",
            _Asked(INFERRED, "hidden cells, by what the method chose not to do"),
        ),
    ),
    "class-truth": _parts(
        (
            "entries that the class makes certain",
            _Asked(INFERRED, "entries that are certain of all of a known class"),
        ),
    ),
    "homogeneity": _of_classes,
    "attribute-inference": _of_neighbors,
    "neighbor-attributes": _parts(
        (
            "attributes of the neighbors, right guess",
            _knows("the published attributes of a person's neighbors"),
        ),
        (
            "attributes of the neighbors with attributes, right guess",
            _knows("the published attributes of a person, and of the neighbors"),
        ),
    ),
    "re-run": _re_runs,
    "fake-edge": _parts(
        ("AUC, best in hindsight", _Asked(INFERRED, "which of an added and a real tie is real")),
    ),
    "edge-gain": _further_ties,
    "tie-membership": _parts(
        ("one tie", _Asked(INFERRED, "which tie is there, by who knows who is who")),
    ),
    "edge-membership": _epsilons,
    "entry-membership": _epsilons,
    "edge-re-run": _epsilons,
}
"""What chooses the rows of an attack that answer a question, in the order of the lines."""
