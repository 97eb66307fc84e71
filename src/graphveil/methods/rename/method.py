"""The method `rename`: new ids in a new order. It claims nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphveil.anonymizer import Anonymizer, MethodResult, NewIds
from graphveil.claims.condition import Condition
from graphveil.claims.conditions import AnyCondition, KeyedIds, SameData
from graphveil.claims.guarantees import AnyGuarantee, NotClaimed
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.data.kinds import kind_of
from graphveil.errors import InfeasibleError, UsageError, option
from graphveil.methods.rename.key import Key
from graphveil.parameters import parameter
from graphveil.randomness import Randomness
from graphveil.records.manifest import ID_COLUMN
from graphveil.warning_kinds import Advice, KeyWarning, SeedWarning

LINKED = Advice(
    "who has several files of this key sees the same person in all of them: what gives a person "
    "away in one file does so in all. Who has the key can test every original id that comes to "
    "mind: keep it as secret as the ids",
    KeyWarning,
)

REPEATABLE = Advice(
    "who knows the seed and the list of the original ids knows who is who", SeedWarning
)


@dataclass(frozen=True, kw_only=True)
class Rename(Anonymizer[Any]):
    """Nothing is promised: people get new ids in a new order, and the data stays as it is.

    Parameters
    ----------
    key
        A `Key`, the name of its file, or its 32 bytes: a person then has the same new id in every
        release that is made with it. None draws the ids of every release anew.

    Raises
    ------
    ParameterError
        Where the key is none.

    Notes
    -----
    Without a key the new ids are 0..n-1 in a uniformly random order. With one, the id of a person
    is an integer of 63 bits: the first 64 bits of HMAC-SHA256 of the original id under the key,
    without the last of them; people stand in the order of these.

    Examples
    --------
    >>> path = Graph.from_edges(["ann", "bob"], ["bob", "cyd"])
    >>> release = Rename().anonymize(path)
    >>> release.guarantee.sentence, release.data.n_edges
    ('Nothing is promised of this release.', 2)
    """

    name: ClassVar[str] = "rename"
    accepts: ClassVar[Any] = (Graph, Bipartite, Table, Network)
    promise: ClassVar[str] = (
        "Nothing is promised: people get new ids in a new order, and the data stays as it is."
    )
    source: ClassVar[str] = "pseudonymization, as in Art. 4(5) of the GDPR; HMAC as in RFC 2104"
    limits: ClassVar[str] = (
        "It hides ids, not people: someone who has a copy of the network re-identified 100 % of "
        "the people on a dense network of 242 people. Someone who knows 8 items of a person found "
        "the row of 58 % of the people in a table of 2,000 (measured by us)."
    )
    may_state: ClassVar[tuple[type[Condition], ...]] = (KeyedIds,)
    cost: ClassVar[str] = "linear in the edges, entries or cells"
    example: ClassVar[Mapping[str, Any]] = {}

    key: Key | None = parameter(
        default=None,
        text="file of a key: with it a person has the same new id in every release",
        unset="ids are drawn anew",
        private=True,
    )

    @property
    def guarantee(self) -> NotClaimed:
        """What is promised: nothing."""
        return NotClaimed(reasons=("renamed",))

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """That the data is the same, and where its ids come from."""
        return (SameData(), KeyedIds()) if self.key is not None else (SameData(),)

    def claimed(self, guarantee: AnyGuarantee | None, randomness: Randomness) -> AnyGuarantee:
        """Return what is claimed: nothing, with a seed or without; there is no noise."""
        del guarantee, randomness
        return self.guarantee

    def check(self, data: Data) -> None:
        """Refuse data whose people cannot get ids from the key.

        Raises
        ------
        UsageError
            Where the data is of another kind, or rows of a table have no ids.
        DataError
            Where a table has no columns.
        InfeasibleError
            Where there is nobody.
        InputError
            Where there is no key in the file.
        """
        super().check(data)
        if self.key is None:
            return
        self.key.secret()
        if not isinstance(data, Table):
            return
        if data.ids is None:
            raise UsageError(
                "a key makes new ids of old ones, and these rows have none but their numbers. "
                f"Name the column with the ids: {option('ids')}."
            )
        if ID_COLUMN in (name.lower() for name in data.columns):
            raise UsageError(
                f"new ids stand in a column {ID_COLUMN}, and there is one already. Rename it, or "
                f"say {option('ids', ID_COLUMN)}."
            )

    def _anonymize(self, data: Data, randomness: Randomness) -> MethodResult:
        if self.key is not None and randomness.seeded:
            raise UsageError("the key decides all ids, so a seed has no use. Leave it out.")
        from graphveil.methods.rename.residual_risk import left_open  # noqa: PLC0415  measures

        remaining = left_open(data)
        return MethodResult(
            data=data,
            cost={**kind_of(data).unchanged(data), **remaining.figures},
            advice=(*remaining.advice, *self._advice(data, randomness)),
        )

    def _advice(self, data: Data, randomness: Randomness) -> Iterator[str]:
        if randomness.seeded:
            yield REPEATABLE
        if self.key is None:
            return
        yield LINKED
        if self.key.is_open:
            readable = f"others than you can read the key in {self.key}. Say chmod 600"
            yield Advice(readable, KeyWarning)
        labels = data.labels()
        if labels.dtype.kind == "i" and np.array_equal(labels, np.arange(data.size)):
            numbered = (
                f"people are numbered 0 to {data.size - 1}: with a key these numbers must mean the "
                "same people in every file"
            )
            yield Advice(numbered, KeyWarning)

    def _new_ids(self, data: Data, randomness: Randomness) -> NewIds:
        if self.key is None:
            return super()._new_ids(data, randomness)
        ids = self.key.new_ids(data.labels())
        order = np.argsort(ids, kind="stable").astype(np.int64, copy=False)
        in_order = ids[order]
        if np.any(in_order[1:] == in_order[:-1]):
            raise InfeasibleError(
                "two people have the same new id with this key, by chance. Make another key."
            )
        return NewIds(order, in_order)
