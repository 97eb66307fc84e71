"""Whether the directions of ties matter: what data says of them, and what its arcs show."""

from __future__ import annotations

from typing import NamedTuple

from graphveil.errors import DataError
from graphveil.wording import Directed, option


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

    Examples
    --------
    >>> Ties(n=3, mutual=1, said=None).matter, Ties(n=3, mutual=0, said=None).matter
    (True, False)
    >>> Ties(n=3, mutual=0, said=True).matter, Ties(n=3, mutual=3, said=True).matter
    (True, False)
    """

    n: int
    mutual: int
    said: bool | None = None

    @property
    def matter(self) -> bool:
        """Whether an undirected graph forgets a direction."""
        if self.said is None:
            return 0 < self.mutual < self.n
        return self.said and self.mutual < self.n

    @property
    def refusal(self) -> str:
        """What is said where directions are not to be forgotten."""
        percent = 100 * self.mutual / self.n
        share = f"{self.mutual:,} of {self.n:,} ties are mutual ({percent:.1f} %)"
        why = "ties are directed" if self.said else "ties seem to be directed"
        return (
            f"{why}: {share}. Graphs here are undirected; to forget the directions, say "
            f"{option('directed', 'symmetrize')}."
        )

    def check(self, directed: Directed) -> None:
        """Refuse ties whose directions matter, unless they are to be forgotten.

        Raises
        ------
        DataError
            Where they matter and `directed` is not ``symmetrize``.
        """
        if directed not in ("refuse", "symmetrize"):
            raise DataError(f"directed={directed!r} is unknown. Use refuse or symmetrize.")
        if self.matter and directed == "refuse":
            raise DataError(self.refusal)
