"""What an owner should know before publishing: warnings that several methods share.

They go to stderr and into the private record, never into the manifest.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphveil.errors import warn

SEED = (
    "a seed was given: whoever knows it and nearly all of the data can test guesses about the "
    "rest by running the method again. Keep the seed secret"
)

COPY = (
    "who holds a copy of the graph, or of part of it, may name most nodes: k-anonymity of degrees "
    "or neighbourhoods does not stop matching by structure (40-97 % of the nodes on six graphs "
    "with 10-50 known people, measured in a reference prototype)"
)

PEOPLE_AS_ITEMS = (
    "items are people, under the ids that they have as users: the promise is about the row of "
    "a person, not about the rows that list the person. Who knows those may find the person"
)

MANY_ADDITIONS = 0.05
"""The share of added edges above which they can be distinguished from real ones."""


def many_additions(added: int, n_edges: int) -> tuple[str, ...]:
    """Return the advice on a release with so many added edges; none where they are few.

    Examples
    --------
    >>> many_additions(1, 100)
    ()
    """
    share = added / max(n_edges, 1)
    if share <= MANY_ADDITIONS:
        return ()
    distinguishable = (
        f"the added edges are {100 * share:.1f} % of the input's: so many can be "
        "distinguished from real ones. Try edits=any"
    )
    return (distinguishable,)


MANY_UNPROTECTED = 0.05
"""The share of people without protection above which the owner is warned, whatever was asked."""


def many_unprotected(unprotected: int, people: int) -> tuple[str, ...]:
    """Return the advice on a release that protects so few; none where nearly all are protected.

    Examples
    --------
    >>> many_unprotected(1, 100)
    ()
    >>> many_unprotected(1, 3)[0].partition(":")[0]
    '1 of 3 people (33.3 %) are left without protection'
    """
    share = unprotected / max(people, 1)
    if share <= MANY_UNPROTECTED:
        return ()
    left_out = (
        f"{unprotected:,} of {people:,} people ({100 * share:.1f} %) are left without protection: "
        "nothing is promised to them. The private record names them. More changes, a smaller k, or "
        "less knowledge to protect against (measure) would leave fewer"
    )
    return (left_out,)


MUCH_LOST, LEAST_CLUSTERING = 0.5, 0.05
"""The share of clustering whose loss the owner is warned of, where there was this much."""


def lost_clustering(before: float, after: float) -> tuple[str, ...]:
    """Return the advice on a release whose circles of friends are gone; none where most are left.

    Parameters
    ----------
    before, after
        The mean local clustering of the original and of the release.

    Examples
    --------
    >>> lost_clustering(0.4, 0.3)
    ()
    >>> lost_clustering(0.4, 0.05)[0].partition(".")[0]
    'how often two friends of a person are friends of each other fell from 40 % to 5 %'
    """
    if before < LEAST_CLUSTERING or after > (1 - MUCH_LOST) * before:
        return ()
    lost = (
        "how often two friends of a person are friends of each other fell from "
        f"{100 * before:.0f} % to {100 * after:.0f} %. Do not study groups or circles with this "
        "release; preserve_triangles, edits=any or a smaller k keep more"
    )
    return (lost,)


LARGE_EMPTY_CLASS = 0.10
"""The share of rows without features above which the owner is warned."""


def large_empty_class(empty: int, n_rows: int) -> tuple[str, ...]:
    """Return the advice on a release with so many rows without features; none where they are few.

    Examples
    --------
    >>> large_empty_class(10, 100)
    ()
    """
    share = empty / max(n_rows, 1)
    if share <= LARGE_EMPTY_CLASS:
        return ()
    warning = (
        f"{100 * share:.1f} % of the rows were released without any feature. They form one class, "
        "of which the release says nothing"
    )
    return (warning,)


MANY_CERTAIN = 0.50
"""The share of entries that are true of all of a class above which the owner is warned."""


def many_certain(certain: int, entries: int) -> tuple[str, ...]:
    """Return the advice on a release whose entries are so often true of everyone in their class.

    Parameters
    ----------
    certain
        The published entries whose feature every row of the class has in the original.
    entries
        The published entries.

    Examples
    --------
    >>> many_certain(50, 100)
    ()
    """
    share = certain / max(entries, 1)
    if share <= MANY_CERTAIN:
        return ()
    certainly = (
        f"{100 * share:.1f} % of the published entries are true of everyone in their class: who "
        "knows the class of a person knows these of that person for certain"
    )
    return (certainly,)


def in_chunks(chunk_rows: int, n_rows: int) -> tuple[str, ...]:
    """Return the advice on a release whose rows were anonymized in chunks without being asked to.

    Examples
    --------
    >>> in_chunks(35_000, 400_000)[0].partition(":")[0]
    'the 400,000 rows were anonymized in chunks of about 35,000, each by itself'
    """
    chunked = (
        f"the {n_rows:,} rows were anonymized in chunks of about {chunk_rows:,}, each by itself: "
        "as one they would take minutes or hours, since some features are very common. The promise "
        f"is the same, somewhat less is kept. chunk_rows={n_rows} takes all as one"
    )
    return (chunked,)


SMALL_K, SPARSE_JACCARD = 8, 0.75
"""Below both, taking part may be inferred."""


def taking_part(k: int, jaccard: float) -> tuple[str, ...]:
    """Return the advice on a release with classes so small and so much lost; none otherwise.

    Parameters
    ----------
    k
        The smallest class.
    jaccard
        The entries of both original and release over those of either.

    Examples
    --------
    >>> taking_part(8, 0.5), taking_part(4, 0.75)
    ((), ())
    """
    if k >= SMALL_K or jaccard >= SPARSE_JACCARD:
        return ()
    inferred = (
        f"with k={k} below {SMALL_K} and this much lost, who knows a person's whole row may infer "
        f"whether that person is in the data. Try k={SMALL_K} or more"
    )
    return (inferred,)


def warn_owner(advice: Sequence[str], *, seeded: bool) -> tuple[str, ...]:
    """Warn of all of these, and of a seed; return them for the private record.

    Parameters
    ----------
    advice
        What a method has to say.
    seeded
        Whether a seed was given.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     given = warn_owner(["mind the gap"], seeded=True)
    >>> len(caught), given == ("mind the gap", SEED)
    (2, True)
    """
    given = (*advice, *((SEED,) if seeded else ()))
    for text in given:
        warn(text)
    return given
