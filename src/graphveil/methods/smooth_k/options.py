"""How rows are put together: algorithms, local search and chunks, as types of parameters.

Exclusive options are types: a field of one algorithm does not exist in the other. On the command
line and in files the fields stand flat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from graphveil.core.errors import ParameterError
from graphveil.core.parameters import Options, parameter

Order = Literal["minhash", "label-propagation", "none"]


@dataclass(frozen=True, kw_only=True)
class LocalSearch(Options):
    """Rows move between clusters while that keeps more of the data.

    Parameters
    ----------
    passes
        The maximum number of passes over all rows, without annealing.
    candidates
        How many clusters are tried for a row: 1 to 1,000.
    list_cap
        How many entries are read from each feature's list of clusters. Default: all. On huge data
        200 saves time and costs little.
    anneal
        The temperature at which annealing starts; 20 passes then accept some losses, fewer and
        fewer. Default: no annealing.

    Raises
    ------
    ParameterError
        If a field is out of range.

    Notes
    -----
    graphveil's own; Esfandiari et al. have no local search. It maximizes the Jaccard index of
    original and release by Dinkelbach's method (see `graphveil.methods.smooth_k.local_search`).

    Examples
    --------
    >>> import graphveil as gv
    >>> slow = gv.SmoothK(k=8, algorithm=gv.Greedy(refine=gv.LocalSearch(anneal=0.3)))
    >>> slow.parameters()["anneal"]
    0.3
    """

    label: ClassVar[str] = "local search"

    passes: int = parameter(
        default=6, text="maximum number of passes over all rows", minimum=1, private=True
    )
    candidates: int = parameter(
        default=4, text="number of clusters tried per row", minimum=1, maximum=1000, private=True
    )
    list_cap: int | None = parameter(
        default=None,
        text="entries read from each feature's list",
        minimum=1,
        unset="all",
        private=True,
    )
    anneal: float | None = parameter(
        default=None,
        text="annealing temperature; 0.3 works well",
        minimum=0,
        unset="no annealing",
        private=True,
    )


REFINE = "run local search afterwards"
"""The help text of the local search, the same for both algorithms."""


@dataclass(frozen=True, kw_only=True)
class Greedy(Options):
    """Clusters of k rows are grown one after the other, then refined by local search.

    Parameters
    ----------
    seed_order
        Clusters grow from the rows with most features first (``"degree"``), or from those with the
        nearest neighbors first (``"cost"``). ``"auto"`` is by degree, and tries both if all rows
        have about as many features. If nothing may be added, ``"auto"`` also puts the rows of a
        table together by the columns that a class publishes, the finest first.
    refine
        The local search, or None for none.

    Raises
    ------
    ParameterError
        If a field is out of range.

    Notes
    -----
    graphveil's own algorithm (see `graphveil.methods.smooth_k.greedy_growth`).

    Examples
    --------
    >>> import graphveil as gv
    >>> quick = gv.SmoothK(k=8, algorithm=gv.Greedy(seed_order="degree", refine=None))
    >>> quick.parameters()["refine"]
    False
    """

    label: ClassVar[str] = "greedy"

    seed_order: Literal["auto", "degree", "cost"] = parameter(
        default="auto", text="rows from which clusters grow first"
    )
    refine: LocalSearch | None = parameter(default=LocalSearch(), text=REFINE)


@dataclass(frozen=True, kw_only=True)
class Facility(Options):
    """The published algorithm: facility location, without local search unless it is asked for.

    Parameters
    ----------
    beta
        Opening a facility at a row costs in proportion to the row's distances to its ``beta * k``
        nearest rows.
    cost_factor
        The factor of these costs. Default: ``2 / (beta - 1)``, as published.
    runs
        How many random runs compete; the cheapest one counts.
    assign
        ``"nearest"``: a row goes to its nearest facility in the end. ``"arrival"``: it stays where
        it went on arrival.
    cut
        Whether clusters are cut to at most 2k-1 rows. Default: only if nothing may be added
        (`SuppressK`). The published cut is arbitrary; before local search equal rows stay together
        as far as they can, which is a better start.
    refine
        The local search, or None for none.

    Raises
    ------
    ParameterError
        If a field is out of range, or if beta is 1 and `cost_factor` is not set.

    Notes
    -----
    Esfandiari et al., *Smooth Anonymity for Sparse Graphs*, section 5.3 as modified in appendix D:
    beta 2 and 10 runs of Meyerson's algorithm are the published settings.

    Examples
    --------
    >>> import graphveil as gv
    >>> published = gv.SmoothK(k=8, algorithm=gv.Facility(runs=3)).parameters()
    >>> published["algorithm"], published["runs"], published["refine"]
    ('facility', 3, False)
    """

    label: ClassVar[str] = "facility"

    beta: float = parameter(
        default=2.0,
        text="costs depend on the beta*k nearest rows",
        minimum=1,
        maximum=1e6,
        private=True,
    )
    cost_factor: float | None = parameter(
        default=None,
        text="factor of the opening costs",
        minimum=0,
        maximum=1e6,
        unset="2/(beta-1)",
        private=True,
    )
    runs: int = parameter(
        default=10, text="number of random runs; the cheapest one counts", minimum=1, private=True
    )
    assign: Literal["nearest", "arrival"] = parameter(
        default="nearest", text="rows go to the nearest facility, or stay as they arrived"
    )
    cut: bool | None = parameter(
        default=None, text="cut clusters to at most 2k-1 rows", unset="only with suppress-k"
    )
    refine: LocalSearch | None = parameter(default=None, text=REFINE)

    def __post_init__(self) -> None:
        """Check every field, and that costs are defined."""
        super().__post_init__()
        # 2 / (beta - 1) has no value at 1.
        if self.beta <= 1 and self.cost_factor is None:
            raise ParameterError("beta=1 has no default cost_factor. Set cost_factor.")


@dataclass(frozen=True, kw_only=True)
class Chunks(Options):
    """Similar rows are brought together in chunks, and every chunk is anonymized by itself.

    Parameters
    ----------
    rows
        About how many rows a chunk has: at least 2k.
    order
        How similar rows are brought together: ``"minhash"`` (published), ``"label-propagation"``,
        or ``"none"``, in the order of the data.
    rounds
        How often clusters are exchanged between chunks and refined again afterwards.

    Raises
    ------
    ParameterError
        If a field is out of range.

    Notes
    -----
    Esfandiari et al., *Smooth Anonymity for Sparse Graphs*, appendix D: 8 min-hashes per row, rows
    sorted by them. Label propagation and rounds are graphveil's own (see
    `graphveil.methods.smooth_k.chunks`).

    Examples
    --------
    >>> import graphveil as gv
    >>> gv.SmoothK(k=8, chunks=gv.Chunks(rows=100_000)).parameters()["chunk_rows"]
    100000
    """

    label: ClassVar[str] = "chunks"

    rows: int = parameter(
        text="rows per chunk; each chunk is anonymized by itself",
        minimum=4,
        unset="all rows, or fewer if all at once would take long",
        flat="chunk_rows",
        private=True,
    )
    order: Order = parameter(
        default="minhash", text="how similar rows are brought together", private=True
    )
    rounds: int = parameter(
        default=0, text="additional rounds of local search", minimum=0, private=True
    )
