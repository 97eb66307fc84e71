"""What earlier states of the program wrote of a method in manifests, where that differs from now.

A release stays as it was written, so what its manifest says is compared with these as a whole too.
Who changes the texts of a method, or gives it another parameter, adds an entry for what was before.
"""

from __future__ import annotations

from typing import NamedTuple


class Earlier(NamedTuple):
    """One earlier state of a method.

    Parameters
    ----------
    lacks
        The parameters that it did not have: a run was as with their defaults of now.
    limits
        Its text on limits; None where that is the one of now.
    """

    lacks: tuple[str, ...] = ()
    limits: str | None = None


NOW = Earlier()
"""Nothing differs."""

EARLIER: dict[str, tuple[Earlier, ...]] = {
    "randomized-response": (
        Earlier(
            limits="It does not hide how many people and items there are, nor how the items are "
            "named. With a large epsilon most of what is published is true, and who knows "
            "some of it of a person may find that person and the rest; epsilons of several "
            "releases add up. Not attacked by us."
        ),
    ),
    "rename": (
        Earlier(
            limits="It hides ids, not people. Who knows a little of a person, such as the number "
            "of ties of the neighbours or some items, may find that person and read the "
            "rest. Not attacked by us."
        ),
    ),
    "structural": (
        Earlier(
            lacks=("effort",),
            limits="It does not stop who holds the graph: on arenas-email, all nodes 2-anonymous "
            "after 21 % of the edges were deleted, a copy and 20 known people name 84 % of the "
            "rest at 99.5 % precision (measured in a reference prototype).",
        ),
    ),
}
"""The earlier states of every method that has some."""
