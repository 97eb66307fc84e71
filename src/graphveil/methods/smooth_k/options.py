"""How rows are put together: algorithms, local search and chunks, as types of parameters."""

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
        Passes over all rows at most.
    candidates
        How many clusters are tried for a row.
    list_cap
        How many entries are read of a feature's list of clusters; all where None. On huge data 200
        saves time and costs little.
    anneal
        The temperature at which annealing starts, none where None: it accepts some losses.

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


@dataclass(frozen=True, kw_only=True)
class Greedy(Options):
    """Clusters of k rows are grown one after the other, then refined by local search.

    Parameters
    ----------
    seed_order
        Clusters grow from the rows with most features first (``"degree"``), or from those with the
        nearest neighbors (``"cost"``); ``"auto"`` tries both where all rows have about as many
        features. Where nothing may be added, ``"auto"`` also puts rows of a table together by the
        columns that a class publishes, the finest first.
    refine
        The local search, or None for none.

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
    beta, cost_factor
        A facility at a row costs `cost_factor` times the row's distances to the ``beta * k``
        nearest rows; where None, ``2 / (beta - 1)``.
    runs
        How many random runs compete; the cheapest counts.
    assign
        Whether a row goes to its nearest facility in the end, or stays where it went on arrival.
    cut
        Whether clusters are cut to at most 2k-1 rows. Where None, they are if nothing may be added
        (`SuppressK`). Before local search equal rows stay together as far as they can: a better
        start. The published cut is arbitrary.
    refine
        The local search, or None for none.

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
        if self.beta <= 1 and self.cost_factor is None:
            raise ParameterError("beta=1 has no default cost_factor. Set cost_factor.")


@dataclass(frozen=True, kw_only=True)
class Chunks(Options):
    """Like rows are brought together in chunks, and every chunk is anonymized by itself.

    Parameters
    ----------
    rows
        About how many rows a chunk has: at least 2k.
    order
        How like rows come together: ``"minhash"`` (published), ``"label-propagation"``, or
        ``"none"``, as they stand.
    rounds
        How often clusters are exchanged between chunks and refined again afterwards.

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
