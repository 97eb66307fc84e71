"""The questions of the three tests, by kind of data: which figure of which attack answers them."""

from __future__ import annotations

from typing import Literal, NamedTuple

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
