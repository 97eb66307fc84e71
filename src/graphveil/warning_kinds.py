"""A class for everything that an owner is warned of, so that each can be named in a filter.

::

    import warnings
    import graphveil as gv

    warnings.filterwarnings("ignore", category=gv.CopyWarning)
    warnings.filterwarnings("error", category=gv.UnprotectedWarning)

All of them are `GraphveilWarning`. A method hands its advice on as text that knows its class
(`Advice`), and `graphveil.errors.warn` is the one channel through which all of it goes. The command
line shows the two that weigh most (`rank`) and keeps the others as remarks.
"""

from __future__ import annotations

from typing import ClassVar, Self

from graphveil.errors import GraphveilWarning


class IdsPublishedWarning(GraphveilWarning):
    """Ids of people are published as names of items."""

    rank: ClassVar[int] = 0


class UnprotectedWarning(GraphveilWarning):
    """People are left without protection, or a goal was missed."""

    rank: ClassVar[int] = 0


class LeftoverWarning(GraphveilWarning):
    """A run that ended early left data of people beside a release."""

    rank: ClassVar[int] = 0


class SpillWarning(GraphveilWarning):
    """Other machines keep rows of people on their disks, or send them, without encryption."""


class OtherReleasesWarning(GraphveilWarning):
    """Another release of the same input lies beside this one."""

    rank: ClassVar[int] = 1


class CopyWarning(GraphveilWarning):
    """Someone who has a copy of the network may re-identify people."""

    rank: ClassVar[int] = 1


class AttachedColumnWarning(GraphveilWarning):
    """A column is published beside a release, which does not protect it."""

    rank: ClassVar[int] = 1


class FormulaWarning(GraphveilWarning):
    """A spreadsheet would run what a cell says."""

    rank: ClassVar[int] = 1


class PublicListWarning(GraphveilWarning):
    """A list of people or items counts as public, and epsilon does not cover it."""

    rank: ClassVar[int] = 1


class NoPromiseWarning(GraphveilWarning):
    """Nothing is promised, or nothing is left that could be read."""

    rank: ClassVar[int] = 1


class PeopleAsItemsWarning(GraphveilWarning):
    """Items are people, and the promise is about the rows that list them."""

    rank: ClassVar[int] = 1


class KeyWarning(GraphveilWarning):
    """Ids are made with a key, which must be kept secret."""

    rank: ClassVar[int] = 1


class LedgerWarning(GraphveilWarning):
    """What a ledger adds up differs by what is protected."""

    rank: ClassVar[int] = 1


class ManyAdditionsWarning(GraphveilWarning):
    """So many ties are added that they can be distinguished from real ones."""


class FalseEntriesWarning(GraphveilWarning):
    """Much of what is released is expected to be false."""


class CertainEntriesWarning(GraphveilWarning):
    """Whoever knows the class of a person knows much of that person for certain."""


class TakingPartWarning(GraphveilWarning):
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


class GoalWarning(GraphveilWarning):
    """Another goal, or other edits, would cost less."""

    rank: ClassVar[int] = 3


class LevelsWarning(GraphveilWarning):
    """What people asked for costs much."""

    rank: ClassVar[int] = 3


class ChunksWarning(GraphveilWarning):
    """Rows were anonymized in parts, each by itself."""

    rank: ClassVar[int] = 3


class DroppedWarning(GraphveilWarning):
    """Something that was read is left out."""

    rank: ClassVar[int] = 3


class LeftOutColumnsWarning(GraphveilWarning):
    """Attributes or weights are left out, and joining them back undoes the protection."""

    rank: ClassVar[int] = 3


class LeftOutModelWarning(GraphveilWarning):
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
        """Keep the class beside the text."""
        advice = super().__new__(cls, text)
        advice.kind = kind
        return advice

    def __getnewargs__(self) -> tuple[str, type[GraphveilWarning]]:  # type: ignore[override]  # of text with a class
        """Pickle the class along."""
        return (str(self), self.kind)
