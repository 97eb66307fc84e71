"""What an owner is told before publishing: warnings that several methods share.

They go to stderr and into the private record, never into the manifest.
"""

from __future__ import annotations

SEED = (
    "a seed was given: whoever knows it and nearly all of the data can test guesses about the "
    "rest by running the method again. Keep the seed secret"
)

COPY = (
    "who holds a copy of the graph, or of part of it, may name most nodes: k-anonymity of degrees "
    "or neighbourhoods does not stop matching by structure (40-97 % of the nodes on six graphs "
    "with 10-50 known people, measured in a reference prototype)"
)

MANY_ADDITIONS = 0.05
"""The share of added edges above which they can be told from real ones."""


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
    told_apart = (
        f"the added edges are {100 * share:.1f} % of the input's: so many can be told apart from "
        "real ones. Try edits=any"
    )
    return (told_apart,)
