"""The methods `smooth-k` and `suppress-k`: clusters of rows, each released as one class.

Esfandiari, Epasto, Mirrokni & Munoz Medina, *Smooth Anonymity for Sparse Graphs*. Both methods put
rows into clusters of at least k and release all rows of a cluster as the same row. They differ in
the keep rule: smooth k-anonymity (Definition 3.5) publishes the features that at least half of the
cluster has, or a larger share theta; k-anonymity by suppression (Definition 3.4) those that all of
it has.

Departures from the paper:

- Definition 3.5 prints the released entries E' in the second condition, which then always holds.
  The text and this package count the original entries E.
- The default puts rows together by greedy growth and local search, which are graphveil's own.
  `Facility` selects the published algorithm (section 5.3 as modified in appendix D).
- Exactly half of a cluster keeps a feature unless ``ties="drop"``.
- Without `chunks`, data that would take long is divided into the largest chunks that fit a budget.

Why the guarantee holds: it depends on the sizes of clusters and on the keep rule alone, whatever
put the rows together. All rows of a cluster are released as equal rows, and there are at least k.
Clusters that publish the same features merge into one class. A published feature is true of at
least theta of every cluster in that class, so it is true of at least theta of the class. Neither
chunks nor a poor search can break this; they only keep less of the data.

How it works, and where: equal rows are collapsed and the keep rule is applied in
`graphveil.methods.equivalence_classes.rule`; rows are divided in `chunks`, put into clusters in
`clusters` (which names the algorithms), and a second release is nested in `nesting`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from graphveil.claims.conditions import AnyCondition, AttachedColumns, TrueOfMoreThanHalf
from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.claims.ledger import Ledger
from graphveil.core import warnings as owner_warnings
from graphveil.core.errors import ParameterError, UsageError
from graphveil.core.hints import option
from graphveil.core.parameters import Columns, parameter
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite, Graph, Table
from graphveil.methods import roles as table_roles
from graphveil.methods.base import SourceName
from graphveil.methods.card import MethodCard, reached_by_k
from graphveil.methods.equivalence_classes import rule as rules
from graphveil.methods.smooth_k.options import Chunks, Facility, Greedy
from graphveil.release import Release, nesting_of, read_release
from graphveil.release.draft import Draft

if TYPE_CHECKING:
    from graphveil.methods.smooth_k.clusters import Clustering

MOST_COMPARISONS = 10_000_000_000
"""The comparisons of rows (`CollapsedRows.comparisons`) up to which all rows are one chunk: about
half a minute of work."""

COMPARED = 5
"""If features are popular, rows are met through their rarest features (`rarest_first`), and only
some comparisons are made. So the number of comparisons is divided by this before it is held against
the budget. Such a chunk may take up to two minutes; a larger value means larger chunks, which keep
more of the data and take longer. How 5 was chosen is not recorded."""

FEWEST_ROWS, FEWEST_CLUSTERS, ROUNDED_TO = 10_000, 100, 1_000
"""Chunks that the data demands have at least this many rows, and at least k times `FEWEST_CLUSTERS`
rows. Above that, the number of rows is rounded down to a multiple of `ROUNDED_TO`. Smaller chunks
would keep noticeably less."""


def chunks_demanded(n_rows: int, comparisons: int, *, k: int) -> Chunks | None:
    """Return chunks that bound the work; None if all rows at once are little work.

    Parameters
    ----------
    n_rows
        The number of rows.
    comparisons
        How many comparisons all rows at once take. In chunks with a share of the rows, each row is
        compared with about that share of the others, so all chunks together take that share.
    k
        The smallest cluster.

    Returns
    -------
    Chunks or None
        Chunks of a round number of rows.
    """
    if comparisons <= MOST_COMPARISONS:
        return None
    rows = n_rows * MOST_COMPARISONS // comparisons // ROUNDED_TO * ROUNDED_TO
    rows = max(rows, FEWEST_ROWS, FEWEST_CLUSTERS * k)
    return Chunks(rows=rows) if rows < n_rows else None


CLUSTERED_FIELDS: Mapping[str, Any] = {
    "cost": "near-linear in the rows; if features are common, large data is anonymized in chunks",
    "example": {"k": 8},
    "nests": True,
}
"""Fields of the cards of the methods that derive from `Clustered`."""


@dataclass(frozen=True, kw_only=True)
class Clustered(table_roles.WithRoles[Bipartite]):
    """What `smooth-k` and `suppress-k` have in common: clusters of rows, released as classes.

    A method derives from it by its `rule`, its `guarantee` and, if it adds randomness, `published`.
    The fields are described in `SmoothK`.
    """

    accepts = (Bipartite, Table, Graph)
    sources: ClassVar[tuple[SourceName, ...]] = ("memory", "rows")
    cuts: ClassVar[bool] = False
    """Whether clusters of facility location are cut if the parameter `cut` is not set."""

    k: int = parameter(text="smallest class of equal rows", minimum=2)
    known: Columns | None = table_roles.known_columns_parameter()  # noqa: RUF009  a field
    attach: Columns | None = table_roles.attached_columns_parameter()  # noqa: RUF009  a field
    label: Columns | None = table_roles.label_columns_parameter()  # noqa: RUF009  a field
    may_narrow: float | None = table_roles.may_narrow_parameter()
    algorithm: Greedy | Facility = parameter(
        default=Greedy(),
        text="greedy growth with local search, or facility location (as published)",
    )
    chunks: Chunks | None = parameter(
        default=None, text="anonymize the rows in independent chunks", unset="depends on the data"
    )

    def __post_init__(self) -> None:
        """Check every parameter, and those of chunks against the others."""
        super().__post_init__()
        # The default of `cut` depends on the method, so it is settled here.
        if isinstance(self.algorithm, Facility) and self.algorithm.cut is None:
            settled = replace(self.algorithm, cut=self.cuts)
            object.__setattr__(self, "algorithm", settled)
        if self.chunks is None:
            return
        # Chunks are nearly equal, and may be smaller than asked for: from 2k on, each has at
        # least k rows.
        if self.chunks.rows < 2 * self.k:
            raise ParameterError(
                f"chunk_rows={self.chunks.rows} is below 2k={2 * self.k}. Raise or omit it."
            )
        if self.chunks.rounds and self.algorithm.refine is None:
            raise ParameterError(
                f"rounds={self.chunks.rounds} needs the local search. Turn it on, or set rounds=0."
            )

    @property
    @abstractmethod
    def rule(self) -> rules.Rule:
        """Which features a cluster keeps."""

    @property
    @abstractmethod
    def guarantee(self) -> KAnonymity | SmoothKAnonymity:
        """What is guaranteed."""

    def columns_of(self, names: Iterable[object]) -> NDArray[np.int32] | None:
        """Return the column of every feature if rows are put together by columns, else None.

        That is the case with suppression alone, the automatic order of seeds, and features that are
        all named ``column=value``.
        """
        greedy = isinstance(self.algorithm, Greedy) and self.algorithm.seed_order == "auto"
        return rules.columns_of(list(names)) if greedy and self.rule.theta == 1 else None

    def _collapsed(self, data: Bipartite) -> rules.CollapsedRows:
        return rules.collapse(data)._replace(columns=self.columns_of(data.feature_labels()))

    def groups(self, data: Bipartite, rng: np.random.Generator) -> rules.Labels:
        """Return the cluster of every row, all rows as one chunk: int32, shape (n,)."""
        return self.clustering()(self._collapsed(data), rng)

    def clustering(self) -> Clustering:
        """Return what clusters the rows of one chunk, as a value that can be pickled."""
        from graphveil.methods.smooth_k import clusters  # noqa: PLC0415  compiled code

        return clusters.Clustering(k=self.k, rule=self.rule, algorithm=self.algorithm)

    def anonymize(
        self,
        data: Any,
        *,
        seed: int | None = None,
        ledger: Ledger | None = None,
        nested_in: Release[Any] | str | Path | None = None,
    ) -> Release[Bipartite]:
        """Return a release of the data that keeps the guarantee, under new ids in a new order.

        Parameters
        ----------
        data
            User-item data (`Bipartite`), a `Table` or a `Graph`, also as an object of another
            library (SciPy, pandas, polars, DuckDB, Arrow). For a table, a table with the same
            columns is released; a graph is read as its adjacency rows.
        seed
            An integer; the same seed gives the same release. Default: entropy of the operating
            system. A seed is a secret of the owner.
        ledger
            As for every method: it accepts a claim that does not add up only if asked to.
        nested_in
            An earlier release of the same people, or its folder, with the private record next to
            it. Its classes are put together and never divided. An attacker who sees both releases
            is left with no fewer people than the earlier class of a person, but may learn more
            about that class.

        Returns
        -------
        Release
            The released data, its guarantee and conditions, and the private record for the owner.

        Raises
        ------
        UsageError
            If the data is of another kind; or if the earlier release is of other people, has no
            linkage or has attached columns, or is combined with `chunks` or roles of columns.
        InfeasibleError
            If the data has fewer than k rows.

        Warns
        -----
        GraphveilWarning
            What the owner should know before publishing.

        Examples
        --------
        >>> from graphveil import Bipartite, SmoothK
        >>> data = Bipartite.from_lists([["rye", "tea"], ["rye", "tea"], ["ale", "tea"], ["ale"]])
        >>> release = SmoothK(k=2).anonymize(data, seed=1)
        >>> release.guarantee.k, release.data.n_users
        (2, 4)
        """
        from graphveil.release.making import make_release  # noqa: PLC0415  help needs no release

        # Without an earlier release: cluster and publish.
        users = self.prepared(data)
        if nested_in is None:
            return make_release(self, users, self.draft, seed=seed, ledger=ledger)
        if self.chunks is not None:
            raise UsageError("a nested release is made from the entire data. Remove chunk_rows.")
        if self.roles.are_given:
            raise UsageError("a nested release takes no roles of columns. Remove them.")
        if getattr(users, "units", None) is not None:
            raise UsageError(
                "a nested release counts rows, but people or households have several rows. Remove "
                f"{option('nested_in')}, or use {option('person', 'row')} to count rows."
            )
        # Nested: the classes of the earlier release are the units that are put together.
        from graphveil.methods.smooth_k.nesting import earlier_classes  # noqa: PLC0415  compiled, when needed

        # Attached columns may divide a class of the earlier release, so its classes would not be
        # enough.
        earlier = nested_in if isinstance(nested_in, Release) else read_release(nested_in)
        if any(isinstance(condition, AttachedColumns) for condition in earlier.conditions):
            raise UsageError(
                "the earlier release has attached columns, which its classes are not about. "
                "Nest in one without them."
            )
        classes = earlier_classes(earlier, users)
        draft = partial(self._nested, classes=classes)
        return make_release(
            self, users, draft, seed=seed, ledger=ledger, nested_in=nesting_of(earlier)
        )

    def _nested(
        self, data: Bipartite, randomness: Randomness, *, classes: rules.Labels
    ) -> Draft[Any]:
        from graphveil.methods.smooth_k.nesting import nested_clusters  # noqa: PLC0415  as above

        rows = rules.collapse(data)
        rng = randomness.stream("nested clusters")
        labels = nested_clusters(rows, classes, k=self.k, rule=self.rule, rng=rng)
        return self._draft(data, rows, labels, randomness)

    def draft(self, data: Bipartite, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        # Step 1: chunks, if the owner set them or the work demands them.
        rows = self._collapsed(data)
        compared = rows.comparisons // (COMPARED if rows.has_popular_features else 1)
        chunks = self.chunks or chunks_demanded(data.n_users, compared, k=self.k)
        # Step 2: the cluster of every row. One chunk needs no order of rows and no engine.
        clustering = self.clustering()
        if chunks is None:
            labels = clustering(rows, randomness.stream("clusters"))
            return self._draft(data, rows, labels, randomness)
        from graphveil.methods.smooth_k.chunks import in_chunks  # noqa: PLC0415  processes, when needed

        labels = in_chunks(
            data,
            chunks=chunks,
            cluster=clustering,
            refine=clustering.refined if chunks.rounds else None,
            columns=rows.columns,
            randomness=randomness,
        )
        # Step 3: what the clusters publish, with a warning if nobody asked for chunks.
        draft = self._draft(data, rows, labels, randomness)
        if self.chunks is not None:
            return draft
        return draft.warning(*owner_warnings.in_chunks(chunks.rows, data.n_users))

    def _draft(
        self,
        data: Bipartite,
        rows: rules.CollapsedRows,
        labels: rules.Labels,
        randomness: Randomness,
    ) -> Draft[Any]:
        """Return what these clusters publish, with its cost for the private record."""
        profiles = rules.profiles_of(rows, labels)
        published = self.published(profiles, randomness)
        adds = self.rule.theta < 1
        return rules.draft_of(data, labels, profiles, published, self.k, adds=adds)

    def published(self, profiles: rules.Profiles, _randomness: Randomness) -> NDArray[np.bool_]:
        """Return which pairs of a cluster and a feature are published: bool, one per pair."""
        return profiles.kept(self.rule)


def noisy(
    profiles: rules.Profiles, rule: rules.Rule, rate: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which pairs reach their threshold plus a random number: bool, one per pair.

    The number is g >= 0 with probability proportional to ``exp(-rate * g)``: a geometric variate.
    An entry of exactly the least number of rows would reveal, to an attacker who knows all others
    of the class, what the last member has; after noise the threshold is not certain. This is not
    differential privacy.

    Parameters
    ----------
    profiles
        The counts of every cluster.
    rule
        The keep rule without noise.
    rate
        `SmoothK.threshold_noise`; a smaller rate raises thresholds more.
    rng
        The random stream.
    """
    # NumPy counts trials from 1 on, with success probability 1 - exp(-rate): one less is g.
    noise = rng.geometric(-np.expm1(-rate), size=profiles.counts.size) - 1
    return np.asarray(profiles.counts >= rule.least(profiles.sizes)[profiles.clusters] + noise)


SMOOTH_K_CARD = MethodCard(
    when="Data is sparse, and a few false entries are acceptable if far more entries are kept.",
    promise=(
        "Every row equals at least k-1 others; each entry is true of at least theta of its class."
    ),
    source=(
        "Esfandiari, Epasto, Mirrokni & Munoz Medina, Smooth Anonymity for Sparse Graphs; "
        "greedy growth and local search are graphveil's own"
    ),
    limits="What the members of a class have in common.",
    reached=reached_by_k(
        "In our tests, {one}% of the published entries were true of everyone in their class; "
        "an attacker who knew 8 items of a person found that person's class in {other}% of the "
        "cases ({people} people, k={k}, theta=1/2).",
        (2, 84, 96, "2,000"),
        (8, 77, 83, "32,561"),
        (16, 38, 67, "2,000"),
        theta="1/2",
    ),
    **CLUSTERED_FIELDS,
)
"""All that is only said of `SmoothK`."""


@dataclass(frozen=True, kw_only=True)
class SmoothK(Clustered):
    """Every row equals at least k-1 others; each entry is true of at least theta of its class.

    Rows are put together in clusters of at least k. A cluster publishes, for all of its rows, the
    features that at least the share theta of them have, and no others. So some entries are lost and
    some are created. The default grows clusters greedily and refines them by local search;
    `Facility` is the published algorithm.

    Parameters
    ----------
    k
        The smallest class of equal rows, at least 2.
    known
        For tables: the columns that an attacker may know, in which rows are equal. Default: all.
    attach
        For tables: columns that are published unchanged, outside of the guarantee.
    label
        Attached columns that a model is to predict.
    may_narrow
        The share of the hidden cells of a known column that attached columns may narrow to one
        value, beyond chance: the answer to the question that a run asks above 0.05.
    theta
        The share of a cluster that must have a feature: a fraction in [1/2, 1], exact.
    ties
        ``"keep"`` or ``"drop"`` features of exactly half of the rows; ``"drop"`` with theta 1/2
        only.
    algorithm
        ``Greedy(seed_order="auto", refine=LocalSearch(...))``, or the published one,
        ``Facility(beta=2, runs=10, ...)``.
    chunks
        ``Chunks(rows=100_000)`` to anonymize the rows in independent chunks. Default: all rows as
        one chunk or, if common features would make that take long, chunks as large as the budget
        allows; the private record then says so.
    threshold_noise
        A cluster keeps a feature from the least number of rows plus a random number on. The number
        is g with probability proportional to ``exp(-threshold_noise * g)``. It is then not certain
        for any feature that exactly the least number of rows have it. Default: no noise.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or two exclude each other.

    Notes
    -----
    Esfandiari et al., *Smooth Anonymity for Sparse Graphs*: the guarantee is Definition 3.5, with
    the original entries in its second condition, as the text says; `Facility` is section 5.3 as
    modified in appendix D. Greedy growth and local search are graphveil's own. Theorem 5.5 of the
    paper is about another algorithm and says nothing about these.

    Time grows with the sum of squared degrees of the features among the distinct rows of a chunk:
    near-linear in the rows if features are rare. Memory is linear in the entries of the chunks in
    work.

    On the command line and in files the fields of algorithms and chunks are flat, as in
    ``--algorithm facility --beta 2 --chunk-rows 100000``.

    Examples
    --------
    >>> from graphveil import Bipartite
    >>> data = Bipartite.from_lists([["rye", "tea"], ["rye", "tea"], ["ale", "tea"], ["ale"]])
    >>> release = SmoothK(k=2).anonymize(data)
    >>> sorted(set(map(tuple, release.data.to_lists()["items"].to_pylist())))
    [('ale', 'tea'), ('rye', 'tea')]
    """

    name: ClassVar[str] = "smooth-k"
    card: ClassVar[MethodCard] = SMOOTH_K_CARD

    theta: rules.Theta = parameter(
        default=rules.Theta(1, 2),
        text="share of a class that must have a feature for it to be published, 1/2 to 1",
    )
    ties: Literal["keep", "drop"] = parameter(
        default="keep", text="what to do with features of exactly half of a class (theta 1/2)"
    )
    threshold_noise: float | None = parameter(
        default=None,
        text="raise thresholds at random; a smaller value raises them more",
        minimum=1e-3,
        unset="no noise",
    )

    def __post_init__(self) -> None:
        """Check every parameter, and those that exclude each other."""
        super().__post_init__()
        if self.ties == "drop" and self.theta != rules.Theta(1, 2):
            raise ParameterError(
                "ties=drop concerns features of exactly half of a cluster, but theta is "
                f"{self.theta}. Remove one of the two."
            )

    @property
    def rule(self) -> rules.Rule:
        """Which features a cluster keeps: those that at least theta of its rows have."""
        return rules.Rule(self.theta, self.ties)

    @property
    def guarantee(self) -> SmoothKAnonymity:
        """Smooth k-anonymity with this k and theta, in the known columns."""
        return SmoothKAnonymity(k=self.k, theta=str(self.theta), known=self.roles.known or UNSET)

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What else holds: with ``ties="drop"`` entries are true of more than half."""
        drops = self.ties == "drop"
        true = (TrueOfMoreThanHalf(columns=self.roles.known or UNSET),) if drops else ()
        return (*super().conditions, *true)

    def published(self, profiles: rules.Profiles, randomness: Randomness) -> NDArray[np.bool_]:
        """Return which pairs are published, after noise.

        Parameters
        ----------
        profiles
            How many rows of each cluster have each feature.
        randomness
            That of the run.

        Returns
        -------
        numpy.ndarray
            bool, one for each pair of a cluster and a feature in `profiles`.

        Examples
        --------
        In both clusters, one of two rows has the first item, and both have the second. By default
        half of the rows are enough.

        >>> from graphveil.core.randomness import Randomness
        >>> profiles = rules.Profiles(
        ...     clusters=np.array([0, 0, 1, 1], dtype=np.int32),
        ...     features=np.array([0, 1, 0, 1], dtype=np.int32),
        ...     counts=np.array([1, 2, 1, 2]),
        ...     sizes=np.array([2, 2]),
        ... )
        >>> SmoothK(k=2).published(profiles, Randomness(1)).tolist()
        [True, True, True, True]
        >>> SmoothK(k=2, ties="drop").published(profiles, Randomness(1)).tolist()
        [False, True, False, True]
        """
        kept = profiles.kept(self.rule)
        # Noise only raises thresholds, so the keep rule and the guarantee hold as before.
        if self.threshold_noise is not None:
            rng = randomness.stream("thresholds")
            kept &= noisy(profiles, self.rule, self.threshold_noise, rng)
        return kept


SUPPRESS_K_CARD = MethodCard(
    when="Every published entry must be true; rare entries may be suppressed.",
    promise="Every row equals at least k-1 others; nothing was added.",
    source=(
        "Esfandiari, Epasto, Mirrokni & Munoz Medina, Smooth Anonymity for Sparse Graphs; "
        "greedy growth and local search are graphveil's own"
    ),
    limits="What the members of a class have in common: the entries that are published.",
    reached=reached_by_k(
        "In our tests these were {one}% of the original entries; an attacker who knew 8 items "
        "of a person found that person's class in {other}% of the cases ({people} people, "
        "k={k}).",
        (2, 91, 73, "2,000"),
        (8, 92, 69, "32,561"),
        (16, 72, 50, "2,000"),
    ),
    **CLUSTERED_FIELDS,
    counts_people=True,
)
"""All that is only said of `SuppressK`."""


@dataclass(frozen=True, kw_only=True)
class SuppressK(Clustered):
    """Every row equals at least k-1 others; nothing was added.

    Rows are put together in clusters of at least k. A cluster publishes the features that all of
    its rows have. The parameters are those of `SmoothK` without its thresholds. The rows of a table
    are put together by the columns that a class publishes, the finest first.

    Parameters
    ----------
    k
        The smallest class of equal rows, at least 2.
    known
        For tables: the columns that an attacker may know, in which rows are equal. Default: all.
    attach
        For tables: columns that are published unchanged, outside of the guarantee.
    label
        Attached columns that a model is to predict.
    may_narrow
        The share of the hidden cells of a known column that attached columns may narrow to one
        value, beyond chance: the answer to the question that a run asks above 0.05.
    algorithm
        ``Greedy(...)``, or ``Facility(...)``: the published non-smooth variant, which cuts clusters
        to at most 2k-1 rows unless ``cut=False`` is set.
    chunks
        As in `SmoothK`.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or two exclude each other.

    Notes
    -----
    Esfandiari et al., *Smooth Anonymity for Sparse Graphs*: k-anonymity by suppression is
    Definition 3.4; the non-smooth variant is the baseline of appendix D. The paper does not say how
    it cut clusters. Greedy growth, local search and the start by columns are graphveil's own.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> data = Bipartite.from_lists([["rye", "tea"], ["rye", "tea"], ["ale", "tea"], ["ale"]])
    >>> release = SuppressK(k=2).anonymize(data)
    >>> sorted(set(map(tuple, release.data.to_lists()["items"].to_pylist())))
    [('ale',), ('rye', 'tea')]
    """

    name: ClassVar[str] = "suppress-k"
    card: ClassVar[MethodCard] = SUPPRESS_K_CARD
    cuts: ClassVar[bool] = True

    @property
    def rule(self) -> rules.Rule:
        """Which features a cluster keeps: those that all of its rows have."""
        return rules.Rule(rules.Theta(1))

    @property
    def guarantee(self) -> KAnonymity:
        """k-anonymity with this k, in the known columns."""
        return KAnonymity(k=self.k, known=self.roles.known or UNSET)
