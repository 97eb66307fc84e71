"""What `smooth-k` and `suppress-k` share: clusters of rows, each released as one class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from graphveil.anonymizer import Anonymizer, Draft
from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.data import Bipartite, Table
from graphveil.errors import ParameterError, UsageError
from graphveil.methods.equal_rows.drafting import draft_of
from graphveil.methods.equal_rows.rows import Labels, Rows, collapse
from graphveil.methods.equal_rows.rule import Profiles, Rule, profiles
from graphveil.methods.smooth_k.clustering import Clustering, Facility, Greedy, Refinement
from graphveil.parameters import parameter
from graphveil.randomness import Randomness
from graphveil.release import Release, read_release

OWN: dict[str, dict[str, Any]] = {
    "greedy": {"seed_order": "auto", "refine": True},
    "facility": {
        "beta": 2.0,
        "cost_factor": None,
        "runs": 10,
        "assign": "nearest",
        "cut": False,
        "refine": False,
    },
}
"""The parameters that only one algorithm has, or whose default it sets."""

REFINING: dict[str, Any] = {"passes": 6, "candidates": 4, "list_cap": None, "anneal": None}
"""The parameters of the local search."""

ORDERING: dict[str, Any] = {"order": "minhash", "rounds": 0}
"""The parameters of chunks."""


@dataclass(frozen=True, kw_only=True)
class Clustered(Anonymizer[Bipartite]):
    """What `smooth-k` and `suppress-k` share: clusters of rows, each released as one class."""

    accepts: ClassVar[type[Bipartite]] = Bipartite
    cost: ClassVar[str] = (
        "near-linear in the rows with chunk_rows; else up to quadratic where features are common"
    )
    example: ClassVar[Mapping[str, Any]] = {"k": 8}
    nests: ClassVar[bool] = True
    runs_on_disk: ClassVar[bool] = True
    own: ClassVar[Mapping[str, Mapping[str, Any]]] = OWN

    k: int = parameter(text="smallest class of equal rows", minimum=2)
    algorithm: Literal["greedy", "facility"] = parameter(
        default="greedy", text="greedy growth and local search, or facility location (published)"
    )
    seed_order: Literal["auto", "degree", "cost"] | None = parameter(
        default=None, text="greedy: which rows clusters grow from first", unset="auto"
    )
    beta: float | None = parameter(
        default=None,
        text="facility: costs look at beta*k nearest rows",
        minimum=1,
        maximum=1e6,
        unset="2",
    )
    cost_factor: float | None = parameter(
        default=None,
        text="facility: of the opening costs",
        minimum=0,
        maximum=1e6,
        unset="2/(beta-1)",
    )
    runs: int | None = parameter(
        default=None, text="facility: random runs, the cheapest counts", minimum=1, unset="10"
    )
    assign: Literal["nearest", "arrival"] | None = parameter(
        default=None, text="facility: rows go to the nearest facility, or stay", unset="nearest"
    )
    cut: bool | None = parameter(
        default=None,
        text="facility: cut clusters to at most 2k-1 rows",
        unset="only with suppress-k",
    )
    refine: bool | None = parameter(
        default=None, text="local search afterwards", unset="with greedy, not with facility"
    )
    passes: int | None = parameter(
        default=None, text="local search: passes over all rows at most", minimum=1, unset="6"
    )
    candidates: int | None = parameter(
        default=None,
        text="local search: clusters tried for a row",
        minimum=1,
        maximum=1000,
        unset="4",
    )
    list_cap: int | None = parameter(
        default=None, text="local search: entries read of a feature's list", minimum=1, unset="all"
    )
    anneal: float | None = parameter(
        default=None,
        text="local search: temperature of annealing, .3 is good",
        minimum=0,
        unset="no annealing",
    )
    chunk_rows: int | None = parameter(
        default=None, text="rows of a chunk, each chunk by itself", minimum=4, unset="all"
    )
    order: Literal["minhash", "label-propagation", "none"] | None = parameter(
        default=None, text="chunks: how like rows come together", unset="minhash"
    )
    rounds: int | None = parameter(
        default=None, text="chunks: further rounds of local search", minimum=0, unset="0"
    )

    def __post_init__(self) -> None:
        """Check every parameter, and give those of the algorithm chosen their defaults."""
        super().__post_init__()
        mine = self.own[self.algorithm]
        named = [name for fields in self.own.values() for name in fields]
        foreign = {name: None for name in named if name not in mine}
        chunked = self.chunk_rows is not None
        self._settle(
            foreign, applies=False, why=f"belongs to the other algorithm than {self.algorithm}"
        )
        self._settle(mine, applies=True)
        self._settle(
            REFINING, applies=bool(self.refine), why="is of the local search, which is off"
        )
        self._settle(ORDERING, applies=chunked, why="is about chunks and needs chunk_rows")
        if self.chunk_rows is not None and self.chunk_rows < 2 * self.k:
            raise ParameterError(
                f"chunk_rows={self.chunk_rows} is below 2k={2 * self.k}. Raise it, or leave it out."
            )
        if self.beta is not None and self.beta <= 1 and self.cost_factor is None:
            raise ParameterError("beta=1 has no cost_factor of its own. Give cost_factor.")

    def _settle(self, defaults: Mapping[str, Any], *, applies: bool, why: str = "") -> None:
        """Give parameters that apply their defaults, and refuse those that do not."""
        for name, default in defaults.items():
            value = getattr(self, name)
            if applies and value is None:
                object.__setattr__(self, name, default)
            elif not applies and value is not None:
                raise ParameterError(f"{name}={value} {why}. Leave it out.")

    @property
    def rows_needed(self) -> int:
        """The fewest rows for which the promise can be kept: k."""
        return self.k

    @property
    def rule(self) -> Rule:
        """Which features a cluster keeps."""
        raise TypeError(f"{type(self).__name__} does not say what a cluster keeps")

    @property
    def guarantee(self) -> KAnonymity | SmoothKAnonymity:
        """What is promised."""
        raise TypeError(f"{type(self).__name__} does not say what it promises")

    def clustering(self) -> Clustering:
        """Return what puts the rows of one chunk together, as a value that can be pickled."""
        return Clustering(
            k=self.k, rule=self.rule, algorithm=self._algorithm(), refinement=self.refinement()
        )

    def refinement(self) -> Refinement | None:
        """Return the local search, or None where it is off."""
        if self.passes is None or self.candidates is None:
            return None
        return Refinement(
            k=self.k,
            rule=self.rule,
            passes=self.passes,
            candidates=self.candidates,
            list_cap=self.list_cap,
            anneal=self.anneal,
        )

    def _algorithm(self) -> Greedy | Facility:
        if self.seed_order is not None:
            return Greedy(seed_order=self.seed_order)
        if self.beta is None or self.runs is None or self.assign is None or self.cut is None:
            raise AssertionError("the parameters of facility were not settled")
        return Facility(
            beta=self.beta,
            cost_factor=self.cost_factor,
            runs=self.runs,
            assign=self.assign,
            cut=self.cut,
            together=bool(self.refine),
        )

    def anonymize(
        self,
        data: Bipartite | Table,
        *,
        seed: int | None = None,
        nested_in: Release | str | Path | None = None,
    ) -> Release:
        """Return a release of the data that keeps the promise, under new ids in a new order.

        Parameters
        ----------
        data
            Users by features; of a table its one-hot encoding is released.
        seed
            None draws from the operating system's entropy. A seed is a secret of the owner.
        nested_in
            An earlier release of the same people, or its folder, with the private record beside
            it: its classes are put together, none is parted. Who sees both releases is left with
            no fewer people than the earlier class of a person, but may learn more of that class.

        Raises
        ------
        UsageError
            Where the data is of another kind, or the earlier release is of other people or
            without its linkage.
        InfeasibleError
            Where the data has fewer than k rows.

        Warns
        -----
        GraphveilWarning
            What the owner should know before publishing.
        """
        self.check(data)
        taken = self._encoded(data)
        if nested_in is None:
            return self._release(taken, self._anonymize, seed)
        if self.chunk_rows is not None:
            raise UsageError("a nested release is made of the whole data. Leave chunk_rows out.")
        from graphveil.methods.smooth_k.nesting import (  # noqa: PLC0415  compiled, when needed
            classes_of,
        )

        earlier = nested_in if isinstance(nested_in, Release) else read_release(nested_in)
        first = classes_of(earlier, taken)
        return self._release(taken, partial(self._nested, first=first), seed)

    def _nested(self, data: Bipartite, randomness: Randomness, *, first: Labels) -> Draft:
        from graphveil.methods.smooth_k.nesting import (  # noqa: PLC0415  as above
            nested_clusters,
        )

        rows = collapse(data)
        rng = randomness.stream("nested clusters")
        labels = nested_clusters(rows, first, k=self.k, rule=self.rule, rng=rng)
        return self._draft(data, rows, labels, randomness)

    def _labels(self, data: Bipartite, rows: Rows, randomness: Randomness) -> Labels:
        """Return the cluster of every row."""
        if self.chunk_rows is None:
            return self.clustering()(rows, randomness.stream("clusters"))
        from graphveil.methods.smooth_k.chunks import (  # noqa: PLC0415  processes, when needed
            in_chunks,
        )

        return in_chunks(
            data,
            k=self.k,
            chunk_rows=self.chunk_rows,
            order=self.order or "minhash",
            rounds=self.rounds or 0,
            cluster=self.clustering(),
            refine=self.refinement(),
            randomness=randomness,
        )

    def held(self, data: Bipartite, found: Profiles, randomness: Randomness) -> NDArray[np.bool_]:
        """Return which features every cluster publishes."""
        del data, randomness
        return found.kept(self.rule)

    def _anonymize(self, data: Bipartite, randomness: Randomness) -> Draft:
        rows = collapse(data)
        return self._draft(data, rows, self._labels(data, rows, randomness), randomness)

    def _draft(self, data: Bipartite, rows: Rows, labels: Labels, randomness: Randomness) -> Draft:
        """Return what these clusters publish, and what it costs."""
        found = profiles(rows, labels)
        held = self.held(data, found, randomness)
        return draft_of(data, labels, found, held, self.guarantee)
