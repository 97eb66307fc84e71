"""Whether the directions of ties matter: what data says of them, and what its arcs show."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

from graphveil.data.columns import plain
from graphveil.errors import DataError, option

MANY_TIES = 20
"""Where one tie in seven is mutual, so many without a mutual one are one list in 22."""

_DIRECTED_NAMES = frozenset(
    {
        ("from", "to"),
        ("fromnode", "tonode"),
        ("sender", "receiver"),
        ("sender", "recipient"),
        ("caller", "callee"),
        ("caller", "called"),
        ("follower", "followee"),
        ("follower", "followed"),
        ("payer", "payee"),
        ("lender", "borrower"),
        ("giver", "receiver"),
        ("seller", "buyer"),
        ("citing", "cited"),
        ("parent", "child"),
    }
)
"""Names of two columns that say who does it to whom; source and target say it of no tie."""

Directed = Literal["symmetrize", "refuse"]
"""What to do with ties whose directions matter: forget them, or refuse the data."""

Directions = Literal["keep", "symmetrize", "refuse"]
"""What to do with them in a network, which can keep them."""


class Ties(NamedTuple):
    """Pairs of nodes that some arc joins.

    Parameters
    ----------
    n
        The pairs.
    mutual
        Those with an arc in both directions.
    said
        Whether the data calls itself directed; None where it says nothing.
    names
        The names of the columns of both ends, where there are any.

    Examples
    --------
    >>> Ties(n=3, mutual=1, said=None).matter, Ties(n=3, mutual=0, said=None).matter
    (True, False)
    >>> Ties(n=3, mutual=0, said=True).matter, Ties(n=3, mutual=3, said=True).matter
    (True, False)
    >>> Ties(n=30, mutual=0, names=("from", "to")).matter, Ties(n=30, mutual=0).matter
    (True, False)
    """

    n: int
    mutual: int
    said: bool | None = None
    names: tuple[str, ...] = ()

    @property
    def matter(self) -> bool:
        """Whether an undirected graph forgets a direction."""
        if self.said is None:
            return 0 < self.mutual < self.n or self._named
        return self.said and self.mutual < self.n

    @property
    def _named(self) -> bool:
        """Whether the columns are named after a direction, and no tie of many is mutual."""
        ends = tuple(map(plain, self.names))
        directed = ends in _DIRECTED_NAMES or ends[::-1] in _DIRECTED_NAMES
        return directed and self.mutual == 0 and self.n >= MANY_TIES

    @property
    def refusal(self) -> str:
        """What is said where directions are not to be forgotten."""
        percent = 100 * self.mutual / self.n
        share = f"{self.mutual:,} of {self.n:,} ties are mutual ({percent:.1f} %)"
        why = "ties are directed" if self.said else "ties seem to be directed"
        if self.said is None and self._named:
            why = f"ties seem to be directed, by the names {' and '.join(self.names)}"
        return (
            f"{why}: {share}. Graphs here are undirected; to forget the directions, say "
            f"{option('directed', 'symmetrize')}."
        )

    def check(self, directed: Directions) -> None:
        """Refuse ties whose directions matter, unless they are to be forgotten.

        Raises
        ------
        DataError
            Where they matter and `directed` is ``refuse``.
        """
        if directed not in ("refuse", "symmetrize", "keep"):
            raise DataError(f"directed={directed!r} is unknown. Use refuse, symmetrize or keep.")
        if self.matter and directed == "refuse":
            raise DataError(self.refusal)


def column_of_types(names: Sequence[str], ends: Collection[int]) -> int | None:
    """Return which column says of each tie whether it is directed, as Gephi writes it.

    Parameters
    ----------
    names
        The columns.
    ends
        Those of the ends of a tie.

    Examples
    --------
    >>> column_of_types(["Source", "Target", "Type"], (0, 1))
    2
    """
    plain = [name.strip().lower() for name in names]
    column = plain.index("type") if "type" in plain else None
    return None if column in ends else column


def types_say_directed(types: Any) -> bool:
    """Return whether some of the types of ties in an Arrow column, as Gephi writes it, is directed.

    Examples
    --------
    >>> import pyarrow as pa
    >>> types_say_directed(pa.array(["Undirected", "Directed"])), types_say_directed(pa.array([1]))
    (True, False)
    """
    import pyarrow as pa  # noqa: PLC0415  heavy: not for help

    kind = types.type.value_type if pa.types.is_dictionary(types.type) else types.type
    textual = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    if not any(check(kind) for check in textual):
        return False
    words = types.unique().to_pylist()
    return any(word is not None and word.strip().lower() == "directed" for word in words)
