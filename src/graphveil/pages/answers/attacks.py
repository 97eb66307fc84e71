"""What an attacker still learns, by the questions of WP29 05/2014: a line a question.

*Yes* where a figure, or its 95% interval, lies above the guess; else *not shown*, since an attack
that fails proves nothing. What attacks reached elsewhere comes from ``benchmarks/attacks``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from graphveil.attacks.registry import ATTACKS
from graphveil.attacks.row_selection import Taken
from graphveil.attacks.wording import (
    QUESTIONS,
    Counted,
    Question,
    Said,
    above_guess,
    reworded,
    words_of,
)
from graphveil.core.rows import Row, Rows
from graphveil.core.text import Wording, per_hundred
from graphveil.evaluate.wording import Answer, Group, Line


class Reached(NamedTuple):
    """What one attack reached on releases of one method."""

    low: float
    high: float
    by: str
    at: str  # the strengths of the releases; empty where the method has none


SOMEONE = {
    "seeded-matching": (
        "an attacker who has a complete copy of the network and knows at most 20 nodes",
        "networks of 242 to 1,226 nodes",
    ),
    "group-assignment": (
        "an attacker who has a complete copy of the network and knows at most 20 nodes",
        "networks of 81 to 200 nodes",
    ),
    "linkage": ("an attacker who knows 8 items of a person", "2,000 people"),
    "matching": ("an attacker who has the original and runs the method again", "187 people"),
}
"""What the attacker of each attack knows, and how many people the releases had."""

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
    "super-nodes": (Reached(0.076, 0.554, "group-assignment", "k=2 to 5"),),
    "top-m-filter": (Reached(0.013, 1.0, "seeded-matching", "epsilon 2 to 7.11"),),
    "mondrian": (Reached(0.007, 0.196, "linkage", "k=2 to 16"),),
    "smooth-k": (Reached(0.029, 0.498, "linkage", "k=2 to 16"),),
    "suppress-k": (Reached(0.024, 0.29, "linkage", "k=2 to 16"),),
    "adaptive": (Reached(0.447, 0.779, "matching", "levels 2 to 20, compatibility=bipartite"),),
    "cluster-k": (Reached(0.043, 0.472, "matching", "k=2 to 20"),),
}
"""What was reached, by the name of the method."""


def documented(method: str, attacks: set[str]) -> str:
    """Return what attacks of these reached on releases of a method; empty where nothing was run."""
    fitting = [one for one in REACHED.get(method, ()) if one.by in attacks]
    if not fitting:
        return ""
    low, high, by, at = fitting[0]
    who, people = SOMEONE[by]
    ends = dict.fromkeys((per_hundred(low), per_hundred(high)))
    strength = f" ({at})" if at else ""
    share = " to ".join(ends)
    return (
        f"In our benchmarks of {method}{strength}: {who} re-identified {share} of 100, on {people}."
    )


NOTHING_SHOWN = (
    "No attack that was run re-identifies more people than guessing does. A failed attack "
    "proves nothing."
)

ONE_DRAW = " in one sample of the known nodes"


def strength(row: Row) -> Answer:
    """Return whether a figure lies above the guess without the release."""
    return "yes" if above_guess(row) else "not shown"


def groups(
    rows: Rows, counted: Counted = "people", *, of_table: bool = False, word: Wording = str
) -> tuple[Group, ...]:
    """Return a line a question that these rows answer, under the three headings.

    Of several attacks by the same attacker it is that of the largest figure. `word`: how the
    surface says it.
    """
    asked: dict[Question, dict[str, tuple[float, Line]]] = {question: {} for question in QUESTIONS}
    for said, taken in _shown(rows):
        line = _line(said, taken, counted, of_table=of_table, word=word)
        value = taken.row.value or 0.0
        before = asked[said.question].get(line.question)
        if before is None or value > before[0]:
            asked[said.question][line.question] = value, line
    return tuple(
        Group(
            heading=reworded(QUESTIONS[question].short, counted),
            lines=tuple(line for _, line in lines.values()),
        )
        for question, lines in asked.items()
        if lines
    )


def headline(
    rows: Rows, counted: Counted = "people", *, of_table: bool = False, word: Wording = str
) -> str:
    """Return the most that anybody learns of which node is whose, in one sentence."""
    found = strongest(rows, counted, of_table=of_table, word=word)
    if found is not None:
        return found.sentence
    shown = list(_shown(rows))
    if any(said.re_identifies for said, _ in shown):
        return reworded(NOTHING_SHOWN, counted)
    if shown:
        return _line(*shown[0], counted, of_table=of_table, word=word).sentence
    return (
        "No attack was run."
        if not rows
        else ("See --all: these attacks answer none of the three questions.")
    )


class Strongest(NamedTuple):
    """The attack that re-identifies most people, or that picks their own record most often."""

    share: float
    sentence: str


def strongest(
    rows: Rows, counted: Counted = "people", *, of_table: bool = False, word: Wording = str
) -> Strongest | None:
    """Return the attack that re-identifies most; None if none is better than guessing.

    A mean probability of picking a person's own record counts as the share of people who would be
    re-identified by one pick each.
    """
    people = [one for one in _shown(rows) if one[0].re_identifies or one[0].picks]
    right = [one for one in people if above_guess(one[1].row)]
    if not right:
        return None
    said, taken = max(right, key=lambda pair: pair[1].row.value or 0.0)
    sentence = _line(said, taken, counted, of_table=of_table, word=word).sentence
    return Strongest(taken.row.value or 0.0, sentence)


def _shown(rows: Rows) -> Iterator[tuple[Said, Taken]]:
    """Yield what the terminal shows of these rows, attack by attack."""
    names = {row.question for row in rows}
    for name in ATTACKS:
        every = [row for row in rows if row.question == name] if name in names else []
        for said in ATTACKS[name].said if every else ():
            fitting = [row for row in every if said.fits(row)]
            if said.line is not None:
                yield from ((said, taken) for taken in said.take(fitting, every))


def _line(said: Said, taken: Taken, counted: Counted, *, of_table: bool, word: Wording) -> Line:
    said, (row, least) = said.about(counted, of_table=of_table, word=word), taken
    words = words_of(row.setting, of_table=of_table, word=word)
    figure = f"{row.value:.2f}" if row.unit == "epsilon" else per_hundred(row.value or 0.0)
    guess = "" if row.guess is None or row.unit == "epsilon" else per_hundred(row.guess)
    figure = figure if least is None else f"{per_hundred(least)} to {figure}"
    beside = f" (guessing without the release: {guess})" if guess else ""
    who = said.who.format(**words)
    question = said.line.format(**words) if said.line else f"by an attacker {who}"
    sentence = f"{question}: {figure} of 100{beside}."
    if said.picks:
        sentence = f"An attacker {who} has a {question}: {figure} of 100{beside}."
    if said.re_identifies:
        draws = ""
        if least is not None:
            at = row.setting
            by = "which nodes are known" if at.known else "which edges the copy has"
            if not at.known and {at.overlap, at.people} <= {None, 1}:
                by = "how equal nodes are distinguished"
            draws = word(f", depending on {by}")
        elif row.setting.known and row.setting.overlap is not None and row.sample_size == 1:
            question, draws = f"{question}, one sample", word(ONE_DRAW)
        sentence = f"An attacker {who} re-identifies {figure} of 100 {counted}{draws}{beside}."
    return Line(
        question=question,
        figure=figure,
        unit="epsilon" if row.unit == "epsilon" else "of 100",
        sentence=sentence[0].upper() + sentence[1:],
        guess=guess,
        answer=strength(row),
    )
