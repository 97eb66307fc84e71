"""The answer to a question of the three tests: one of five words, by rule and never by hand."""

from __future__ import annotations

from typing import Literal, NamedTuple

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
