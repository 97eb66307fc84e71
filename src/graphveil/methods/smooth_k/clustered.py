"""What `smooth-k` and `suppress-k` share: clusters of rows, each released as one class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import AttachedColumns
from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.claims.ledger import Ledger
from graphveil.core import warnings as owner_warnings
from graphveil.core.errors import ParameterError, UsageError
from graphveil.core.parameters import Columns, parameter
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite, Graph, Table
from graphveil.methods.base import MethodResult, SourceName
from graphveil.methods.equivalence_classes.rule import (
    CollapsedRows,
    Labels,
    Profiles,
    Rule,
    collapse,
    columns_of,
    draft_of,
    profiles_of,
)
from graphveil.methods.roles import (
    WithRoles,
    attached_columns_parameter,
    known_columns_parameter,
    label_columns_parameter,
)
from graphveil.methods.smooth_k.options import (
    COMPARED,
    Chunks,
    Clustering,
    Facility,
    Greedy,
    chunks_demanded,
)
from graphveil.release import Release, nesting_of, read_release


@dataclass(frozen=True, kw_only=True)
class Clustered(WithRoles[Bipartite]):
    """What `smooth-k` and `suppress-k` share: clusters of rows, each released as one class."""

    accepts = (Bipartite, Table, Graph)
    cost: ClassVar[str] = (
        "near-linear in the rows; if features are common, large data is anonymized in chunks"
    )
    example: ClassVar[Mapping[str, Any]] = {"k": 8}
    nests: ClassVar[bool] = True
    sources: ClassVar[tuple[SourceName, ...]] = ("memory", "rows")
    cuts: ClassVar[bool] = False
    """Whether clusters of facility location are cut where nothing is said."""

    k: int = parameter(text="smallest class of equal rows", minimum=2)
    known: Columns | None = known_columns_parameter()  # noqa: RUF009  a field
    attach: Columns | None = attached_columns_parameter()  # noqa: RUF009  a field
    label: Columns | None = label_columns_parameter()  # noqa: RUF009  a field
    algorithm: Greedy | Facility = parameter(
        default=Greedy(),
        text=("greedy growth with local search, or facility location (as published)"),
    )
    chunks: Chunks | None = parameter(
        default=None, text="anonymize the rows in independent chunks", unset="depends on the data"
    )

    def __post_init__(self) -> None:
        """Check every parameter, and those of chunks against the others."""
        super().__post_init__()
        if isinstance(self.algorithm, Facility) and self.algorithm.cut is None:
            settled = replace(self.algorithm, cut=self.cuts)
            object.__setattr__(self, "algorithm", settled)
        if self.chunks is None:
            return
        if self.chunks.rows < 2 * self.k:
            raise ParameterError(
                f"chunk_rows={self.chunks.rows} is below 2k={2 * self.k}. Raise or omit it."
            )
        if self.chunks.rounds and self.algorithm.refine is None:
            raise ParameterError(
                f"rounds={self.chunks.rounds} needs the local search. Turn it on, or set rounds=0."
            )

    @property
    def rows_needed(self) -> int:
        """The fewest rows for which the promise can be kept: k."""
        return self.k

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """Which features a cluster keeps."""

    @property
    @abstractmethod
    def guarantee(self) -> KAnonymity | SmoothKAnonymity:
        """What is promised."""

    def columns_of(self, names: Iterable[object]) -> NDArray[np.int32] | None:
        """Return the column of every feature, where rows are put together by columns.

        `names`: of all features, in order.
        """
        greedy = isinstance(self.algorithm, Greedy) and self.algorithm.seed_order == "auto"
        return columns_of(list(names)) if greedy and self.rule.theta == 1 else None

    def _collapsed(self, data: Bipartite) -> CollapsedRows:
        return collapse(data)._replace(columns=self.columns_of(data.feature_labels()))

    def groups(self, data: Bipartite, rng: np.random.Generator) -> Labels:
        """Return the cluster of every row, each of at least k; the data is not cut in chunks."""
        return self.clustering()(self._collapsed(data), rng)

    def clustering(self) -> Clustering:
        """Return what puts the rows of one chunk together, as a value that can be pickled."""
        return Clustering(k=self.k, rule=self.rule, algorithm=self.algorithm)

    def anonymize(
        self,
        data: Any,
        *,
        seed: int | None = None,
        ledger: Ledger | None = None,
        nested_in: Release[Any] | str | Path | None = None,
    ) -> Release[Bipartite]:
        """Return a release of the data that keeps the promise, under new ids in a new order.

        Parameters
        ----------
        data
            Users by features, also as an object of another library (SciPy, pandas, polars, DuckDB,
            Arrow). Of a table, a table with the same columns is released.
        seed
            None draws from the operating system's entropy. A seed is a secret of the owner.
        ledger
            As of every method: it takes a claim that does not add up only where it is told to.
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
        users = self.prepared(data)
        if nested_in is None:
            return self._release(users, self._anonymize, seed, ledger)
        if self.chunks is not None:
            raise UsageError("a nested release is made from the entire data. Remove chunk_rows.")
        if self.roles.are_given:
            raise UsageError("a nested release takes no roles of columns. Remove them.")
        from graphveil.methods.smooth_k.nesting import (  # noqa: PLC0415  compiled, when needed
            first_classes,
        )

        earlier = nested_in if isinstance(nested_in, Release) else read_release(nested_in)
        if any(isinstance(one, AttachedColumns) for one in earlier.conditions):
            raise UsageError(
                "the earlier release has attached columns, which its classes are not about. "
                "Nest in one without them."
            )
        first = first_classes(earlier, users)
        draw = partial(self._nested, first=first)
        return self._release(users, draw, seed, ledger, nesting_of(earlier))

    def _nested(self, data: Bipartite, randomness: Randomness, *, first: Labels) -> MethodResult:
        from graphveil.methods.smooth_k.nesting import (  # noqa: PLC0415  as above
            nested_clusters,
        )

        rows = collapse(data)
        rng = randomness.stream("nested clusters")
        labels = nested_clusters(rows, first, k=self.k, rule=self.rule, rng=rng)
        return self._draft(data, rows, labels, randomness)

    def _anonymize(self, data: Bipartite, randomness: Randomness) -> MethodResult:
        rows = self._collapsed(data)
        compared = rows.comparisons // (COMPARED if rows.has_popular_features else 1)
        chunks = self.chunks or chunks_demanded(data.n_users, compared, k=self.k)
        labels = self._labels(data, rows, chunks, randomness)
        draft = self._draft(data, rows, labels, randomness)
        if self.chunks is not None or chunks is None:
            return draft
        return draft._replace(
            advice=(*draft.advice, *owner_warnings.in_chunks(chunks.rows, data.n_users))
        )

    def _labels(
        self, data: Bipartite, rows: CollapsedRows, chunks: Chunks | None, randomness: Randomness
    ) -> Labels:
        """Return the cluster of every row."""
        clustering = self.clustering()
        if chunks is None:
            return clustering(rows, randomness.stream("clusters"))
        from graphveil.methods.smooth_k.chunks import (  # noqa: PLC0415  processes, when needed
            in_chunks,
        )

        return in_chunks(
            data,
            chunks=chunks,
            cluster=clustering,
            refine=clustering.refined if chunks.rounds else None,
            columns=rows.columns,
            randomness=randomness,
        )

    def _draft(
        self, data: Bipartite, rows: CollapsedRows, labels: Labels, randomness: Randomness
    ) -> MethodResult:
        """Return what these clusters publish, and what it costs."""
        profiles = profiles_of(rows, labels)
        published = self.published(profiles, randomness)
        return draft_of(data, labels, profiles, published, self.k)

    def published(self, profiles: Profiles, _randomness: Randomness) -> NDArray[np.bool_]:
        """Return which pairs of a cluster and a feature are published."""
        return profiles.kept(self.rule)
