"""What an owner should know before publishing: one class for each warning.

A filter can name each of them:

::

    import warnings
    import graphveil as gv

    warnings.filterwarnings("ignore", category=gv.warnings.KnownNetworkWarning)
    warnings.filterwarnings("error", category=gv.warnings.UnprotectedWarning)

All of them are `GraphveilWarning`. They go to stderr and into the private record, never into the
manifest. A method returns its advice as text that knows its class (`Advice`);
`graphveil.core.warning_channel.warn` is the one channel through which all of it goes. The command
line shows the two of the highest `rank` and keeps the others as remarks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Self

from graphveil.core.errors import GraphveilWarning
from graphveil.core.hints import option
from graphveil.core.text import counted


def __dir__() -> list[str]:
    """Return the names of the warnings."""
    return [name for name in globals() if name.endswith("Warning")]


class IdsPublishedWarning(GraphveilWarning):
    """Ids of people are published as names of items."""

    rank: ClassVar[int] = 0


class UnprotectedWarning(GraphveilWarning):
    """People are left without protection, or a goal was missed."""

    rank: ClassVar[int] = 0


class StaleFilesWarning(GraphveilWarning):
    """A run that ended early left data of people next to a release."""

    rank: ClassVar[int] = 0


class DiskSpillWarning(GraphveilWarning):
    """Other machines keep rows of people on their disks, or send them, without encryption."""


class OtherReleasesWarning(GraphveilWarning):
    """Another release of the same input is next to this one."""

    rank: ClassVar[int] = 1


class KnownNetworkWarning(GraphveilWarning):
    """Someone who has a copy of the network may re-identify people."""

    rank: ClassVar[int] = 1


class AttachedColumnWarning(GraphveilWarning):
    """A column is published next to a release, which does not protect it."""

    rank: ClassVar[int] = 1


class FormulaWarning(GraphveilWarning):
    """A spreadsheet would run what a cell says, or read an interval as a date."""

    rank: ClassVar[int] = 1


class PublicListWarning(GraphveilWarning):
    """A list of people or items counts as public, and epsilon does not cover it."""

    rank: ClassVar[int] = 1


class NoGuaranteeWarning(GraphveilWarning):
    """Nothing is guaranteed, or nothing is left that could be read."""

    rank: ClassVar[int] = 1


class PeopleAsItemsWarning(GraphveilWarning):
    """Items are people, and the guarantee does not cover the rows that list them."""

    rank: ClassVar[int] = 1


class KeyWarning(GraphveilWarning):
    """Ids are made with a key, which must be kept secret."""

    rank: ClassVar[int] = 1


class LedgerWarning(GraphveilWarning):
    """What a ledger adds up differs by what is protected."""

    rank: ClassVar[int] = 1


class ManyAdditionsWarning(GraphveilWarning):
    """So many edges are added that they can be distinguished from real ones."""


class FalseEntriesWarning(GraphveilWarning):
    """Much of what is released is expected to be false."""


class CertainEntriesWarning(GraphveilWarning):
    """Whoever knows the class of a person knows much of that person for certain."""


class MembershipWarning(GraphveilWarning):
    """Someone who knows a whole row may infer that the person took part."""


class SingledOutWarning(GraphveilWarning):
    """A little knowledge singles people out, since only the ids changed."""


class SeedWarning(GraphveilWarning):
    """A seed was given, which must be kept secret."""


class HeldBackWarning(GraphveilWarning):
    """Nobody can say whether test people are in the original."""


class EmptyClassWarning(GraphveilWarning):
    """Many rows are released without any feature."""

    rank: ClassVar[int] = 3


class LostClusteringWarning(GraphveilWarning):
    """Most closed groups of the network are gone."""

    rank: ClassVar[int] = 3


class GoalMissedWarning(GraphveilWarning):
    """Another goal, or other edits, would cost less."""

    rank: ClassVar[int] = 3


class LevelsWarning(GraphveilWarning):
    """What people asked for costs much."""

    rank: ClassVar[int] = 3


class ChunksWarning(GraphveilWarning):
    """Rows were anonymized in parts, each by itself."""

    rank: ClassVar[int] = 3


class DroppedWarning(GraphveilWarning):
    """Something that was read is omitted."""

    rank: ClassVar[int] = 3


class DroppedColumnsWarning(GraphveilWarning):
    """Attributes or weights are omitted, and joining them back undoes the protection."""

    rank: ClassVar[int] = 3


class DroppedModelWarning(GraphveilWarning):
    """A task is too large for one of its models."""

    rank: ClassVar[int] = 3


class Advice(str):
    """Text for the owner of the data that knows the class it is warned of with.

    Parameters
    ----------
    text
        What is said.
    kind
        The class.

    Examples
    --------
    >>> Advice("keep it secret", SeedWarning).kind.__name__
    'SeedWarning'
    """

    __slots__ = ("kind",)
    kind: type[GraphveilWarning]

    def __new__(cls, text: str, kind: type[GraphveilWarning]) -> Self:
        """Keep the class next to the text."""
        advice = super().__new__(cls, text)
        advice.kind = kind
        return advice

    def __getnewargs__(self) -> tuple[str, type[GraphveilWarning]]:  # type: ignore[override]  # of text with a class
        """Pickle the class along."""
        return (str(self), self.kind)


SEED = Advice(
    "a seed was given. Anyone who knows it and nearly all of the data can test guesses about "
    "the rest by re-running the method; keep the seed secret",
    SeedWarning,
)

COPY = Advice(
    "an attacker with a copy of (part of) the network may re-identify most people from its "
    "structure; this method does not prevent that (the limits of the release say how many were "
    "re-identified in our tests)",
    KnownNetworkWarning,
)

PEOPLE_AS_ITEMS = Advice(
    "items are people with the ids they have as users. The guarantee covers a person's own row, "
    "not the rows that list the person; an attacker who knows those may find the person",
    PeopleAsItemsWarning,
)


def ids_as_things(n: int, n_items: int) -> tuple[str, ...]:
    """Return the advice where ids of users are published as names of items; none where none is.

    >>> ids_as_things(0, 9), ids_as_things(2, 9)[0][:29]
    ((), '2 of 9 items are ids of users')
    """
    if not n:
        return ()
    ids = (
        f"{n:,} of {counted(n_items, 'item', spec=',')} are ids of users, and are published "
        "unchanged"
    )
    published = (
        "since items are declared to be things. If the items are people, their ids are published"
    )
    return (Advice(f"{ids}, {published}", IdsPublishedWarning),)


class Bound(NamedTuple):
    """A share above which the owner is warned.

    `share`: the largest share that nothing is said of; `words`: what is said, around ``part``,
    ``whole`` and ``percent``; `kind`: the class of the warning.

    >>> MANY_ADDITIONS.passed_by(5, 100)
    ()
    >>> MANY_UNPROTECTED.passed_by(1, 3)[0].partition(":")[0]
    '1 of 3 people (33.3%) are not protected'
    """

    share: float
    words: str
    kind: type[GraphveilWarning]

    def passed_by(self, part: int, whole: int) -> tuple[str, ...]:
        """Return the advice on so many of so many; none where they are few."""
        share = part / max(whole, 1)
        if share <= self.share:
            return ()
        percent, any_edits = f"{100 * share:.1f}%", option("edits", "any")
        words = self.words.format(part=part, whole=whole, percent=percent, any_edits=any_edits)
        return (Advice(words, self.kind),)


MANY_ADDITIONS = Bound(
    0.05,
    "the added edges are {percent} of the input's edges; that many can be distinguished from real "
    "ones. Try {any_edits}",
    ManyAdditionsWarning,
)
"""Of added edges, among those of the input."""

MANY_UNPROTECTED = Bound(
    0.05,
    "{part:,} of {whole:,} people ({percent}) are not protected: the guarantee does not cover "
    "them. The private record lists them. Allow more changes, lower k, or protect against less "
    "knowledge (measure) to leave fewer",
    UnprotectedWarning,
)
"""Of people without protection, whatever was asked."""

LARGE_EMPTY_CLASS = Bound(
    0.10,
    "{percent} of the rows were released without any feature. They form one class about which "
    "the release says nothing",
    EmptyClassWarning,
)
"""Of rows that are released without features."""

MANY_CERTAIN = Bound(
    0.50,
    "{percent} of the published entries are true of everyone in their class, so anyone who "
    "knows a person's class knows these about the person",
    CertainEntriesWarning,
)
"""Of published entries whose feature every row of the class has in the original."""

MUCH_LOST, LEAST_CLUSTERING = 0.5, 0.05
"""The share of clustering whose loss the owner is warned of, where there was this much."""


def lost_clustering(before: float, after: float) -> tuple[str, ...]:
    """Return the advice on a release whose circles of friends are gone; none where most are left.

    `before, after`: the mean local clustering of the original and of the release.

    >>> lost_clustering(0.4, 0.3)
    ()
    >>> lost_clustering(0.4, 0.05)[0].partition(".")[0]
    'clustering (how often two neighbors of a node are connected) fell from 40% to 5%'
    """
    if before < LEAST_CLUSTERING or after > (1 - MUCH_LOST) * before:
        return ()
    lost = (
        "clustering (how often two neighbors of a node are connected) fell from "
        f"{100 * before:.0f}% to {100 * after:.0f}%. Do not study groups with this release. To "
        f"keep more: {option('preserve_triangles', value=True)}, {option('edits', 'any')} or a "
        "smaller k"
    )
    return (Advice(lost, LostClusteringWarning),)


def in_chunks(chunk_rows: int, n_rows: int) -> tuple[str, ...]:
    """Return the advice on a release whose rows were anonymized in chunks without being asked to.

    >>> in_chunks(35_000, 400_000)[0].partition(":")[0]
    'the 400,000 rows were anonymized in independent chunks of about 35,000'
    """
    chunked = (
        f"the {counted(n_rows, 'row', spec=',')} were anonymized in independent chunks of about "
        f"{chunk_rows:,}: some features are common, and one chunk would take half a minute or much "
        "longer. The guarantee is the same; usually less is kept. Use "
        f"{option('chunk_rows', n_rows)} for a single chunk"
    )
    return (Advice(chunked, ChunksWarning),)


MATCHED_FROM = 1.5
"""From which strength of true edges against noise on the owner of a noisy network is warned."""


def strength_of_ties(nodes: int, edges: float, chances: tuple[float, float]) -> float:
    """Return how strong the true edges of a person are against false ones, in a noisy network.

    `nodes`: their number, at least 2; `edges`: the number of edges, as it was released: a noisy
    one, never the true one; `chances`: of a pair that is not an edge, and of one that is, to be
    published. A person of mean degree d has d p1 true edges left. With someone else, of
    whose pairs the share q is published, d q are common by chance, give or take sqrt(d q (1 - q)).
    The difference in such deviations, divided by sqrt(2 ln n), which the largest of n of them
    reaches: above 1 the right person fits best, if everybody else is known.

    >>> round(strength_of_ties(1133, 5451, (0.119, 0.881)), 1)
    1.9
    """
    zero, one = chances
    degree = min(max(2 * edges / nodes, 0.0), nodes - 1.0)
    share = (degree * one + (nodes - 1 - degree) * zero) / (nodes - 1)
    spread = share * (1 - share)
    if degree == 0 or spread <= 0:
        return 0.0
    return (one - share) * math.sqrt(degree / spread / (2 * math.log(nodes)))


def noisy_copy(nodes: int, edges: float, chances: tuple[float, float]) -> tuple[str, ...]:
    """Return the advice on noise so weak that a copy of the network can be matched; else none.

    Arguments are as in `strength_of_ties`.

    >>> noisy_copy(1133, 5451, (0.27, 0.73))
    ()
    >>> noisy_copy(1133, 5451, (0.119, 0.881))[0].partition(":")[0]
    'about 8 of 10 edges per node are kept, and 134 false ones hide them too little. An attacker \
with a copy of (part of) the network may re-identify most people (in our tests at epsilon 3'
    """
    if nodes < 2 or strength_of_ties(nodes, edges, chances) < MATCHED_FROM:
        return ()
    degree = min(max(2 * edges / nodes, 0.0), nodes - 1.0)
    true, false = degree * chances[1], (nodes - 1 - degree) * chances[0]
    weak = (
        f"about {true:.0f} of {degree:.0f} edges per node are kept, and {false:.0f} false ones "
        "hide them too little. An attacker with a copy of (part of) the network may re-identify "
        "most people (in our tests at epsilon 3: 54 and 89% in two networks)"
    )
    return (Advice(weak, KnownNetworkWarning),)


def attached_to_network(names: Sequence[str], alone: int, n: int) -> tuple[str, ...]:
    """Return the advice on attributes that are published outside the guarantee of a network.

    `names`: the attributes; `alone`: the people who are unique by all that is published of them
    and how many edges they have; `n`: all people.

    >>> attached_to_network(["town"], 3, 12)[0].partition(":")[0]
    'town is published outside the guarantee'
    """
    listed, are = ", ".join(names), "are" if len(names) > 1 else "is"
    who = f"{alone:,} of {counted(n, 'person', spec=',')} ({100 * alone / max(n, 1):.1f}%)"
    words = (
        f"{listed} {are} published outside the guarantee: {who} are unique by these attributes "
        f"and their degree. Include the attributes in the guarantee ({option('known')}) or drop "
        f"them ({option('drop')})"
    )
    return (Advice(words, AttachedColumnWarning),)


_LEAST_SHOWN = 0.0005
"""The smallest share that is not rounded to nothing."""


def attached_column(name: str, share: float) -> str:
    """Return the advice on a column that is published next to a release.

    `name`: the column's; `share`: of people in classes whose members all have one value of it.

    >>> attached_column("income", 0.25).partition(":")[0]
    "the column 'income' is published unprotected next to the release"
    """
    told = f"{100 * share:.1f}%" if share >= _LEAST_SHOWN else "less than 0.1%"
    return Advice(
        f"the column {name!r} is published unprotected next to the release: for {told} of the "
        "people everyone in the class has the same value, so knowing the class reveals it",
        AttachedColumnWarning,
    )


SMALL_K, SPARSE_JACCARD = 8, 0.75
"""Below both, taking part may be inferred."""


def taking_part(k: int, jaccard: float) -> tuple[str, ...]:
    """Return the advice on a release with classes so small and so much lost; none otherwise.

    `k`: the smallest class; `jaccard`: the entries of both original and release over those of
    either.

    >>> taking_part(8, 0.5), taking_part(4, 0.75)
    ((), ())
    """
    if k >= SMALL_K or jaccard >= SPARSE_JACCARD:
        return ()
    inferred = (
        f"with k={k} below {SMALL_K} and this much suppressed, an attacker who knows a person's "
        f"complete row may infer whether the person is in the data. Try k={SMALL_K} or more"
    )
    return (Advice(inferred, MembershipWarning),)
