"""The method `cluster-k`: clusters of k rows or more, which publish what they have in common.

The baseline of Choromanski, Jebara & Tang, *Adaptive Anonymity via b-Matching* (section 5):
k-anonymity by suppression of cells, whose compatibility graph is a union of cliques (Definition
2.1). The clusters are made in `clusters`, and large tables are divided in `blocks`. Departures:
local search and a start by columns, both graphveil's own, and blocks; the plain search is the
paper's baseline.

Why the guarantee holds: a cluster has k rows or more, and suppresses every column in which its rows
differ or have a missing cell. So its rows are released as equal rows, and nothing false is
published. Blocks are clustered by themselves, and each has at least k rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from msgspec import UNSET

from graphveil.claims.conditions import Condition, SuppressionHistogram
from graphveil.claims.guarantees import KAnonymity
from graphveil.core.parameters import Columns, parameter
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.data import Table
from graphveil.methods import roles as table_roles
from graphveil.methods.adaptive import blocks
from graphveil.methods.base import SourceName
from graphveil.methods.card import MethodCard, reached_by_k
from graphveil.release.draft import Draft

Search = Literal["plain", "agglomerative", "local", "forest"]


CARD = MethodCard(
    when="Every person needs the same k, and recipients may know other people's rows.",
    promise="Every row of the release equals at least k-1 others in all published features.",
    source=(
        "the baseline of Choromanski, Jebara & Tang, Adaptive Anonymity via b-Matching, NIPS 2013,"
        " with local search"
    ),
    limits="What the members of a class have in common: the cells that are published.",
    reached=reached_by_k(
        "In our tests these were {one}% of the cells ({people} people, k={k}). Re-identified "
        "in our tests: {other}% of the people by an attacker with the original table who ran "
        "the method again, about one in k ({people} people, k={k}).",
        (2, 87, 47, "187"),
        (5, 63, 19, "187"),
        (20, 32, 4.3, "187"),
    ),
    cost="rows times block size",
    example={"k": 5},
    counts_people=True,
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class ClusterK(table_roles.WithRoles[Table]):
    """Every row of the release equals at least k-1 others in all published features.

    Rows are put together into clusters of k or more, and a cluster shows the values that all of its
    rows have in common; everything else is ``*``. A missing cell counts as suppressed.

    Parameters
    ----------
    k
        The smallest class of equal rows, at least 2.
    known
        The columns that an attacker may know, in which rows are equal. Default: all.
    attach
        Columns that are published unchanged, outside of the guarantee.
    label
        Attached columns that a model is to predict.
    may_narrow
        The share of the hidden cells of a known column that attached columns may narrow to one
        value, beyond chance: the answer to the question that a run asks above 0.05.
    search
        ``"plain"`` merges the two clusters whose union costs least, the paper's baseline.
        ``"agglomerative"`` does so in six ways and keeps the best. ``"local"`` improves each of the
        six before, and clusters put together by the columns that they publish, the finest first: a
        row moves to another cluster, or two rows are exchanged. ``"forest"`` is for comparison:
        trees in which every row is linked to one of its nearest, divided.
    block_rows
        A table of more rows is divided into blocks of at most this many, in which rows are similar.
        Default: one block up to 2,000 rows, and blocks of 512 above. But ``"local"`` puts the rows
        of a larger table together by columns, all at once. If it cannot try all sets of columns, it
        clusters blocks too and publishes what suppresses less.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or two exclude each other.

    Notes
    -----
    The baseline of Choromanski, Jebara and Tang, *Adaptive Anonymity via b-Matching*, NIPS 2013,
    section 5. The cost of a cluster is its size times the columns in which its rows differ. Local
    search and the start by columns are graphveil's own. Time grows with the square of a block's
    rows. The forest is that of Aggarwal and others, *Approximation Algorithms for k-Anonymity*,
    2005, after a description of it.

    Examples
    --------
    >>> data = Table.from_columns({"sex": ["f", "f", "m", "m"], "age": [1, 2, 2, 2]})
    >>> release = ClusterK(k=2).anonymize(data)
    >>> sorted(release.data.to_arrow().to_pylist(), key=str)[-1]
    {'sex': 'm', 'age': 2}
    """

    name: ClassVar[str] = "cluster-k"
    accepts = (Table,)
    card: ClassVar[MethodCard] = CARD
    states: ClassVar[tuple[type[Condition], ...]] = (SuppressionHistogram,)
    """Every release states how many rows have how many stars; `blocks.draft_of` counts them."""
    sources: ClassVar[tuple[SourceName, ...]] = ("memory", "blocks")

    k: int = parameter(text="smallest class of equal rows", minimum=2)
    known: Columns | None = table_roles.known_columns_parameter()  # noqa: RUF009  a field
    attach: Columns | None = table_roles.attached_columns_parameter()  # noqa: RUF009  a field
    label: Columns | None = table_roles.label_columns_parameter()  # noqa: RUF009  a field
    may_narrow: float | None = table_roles.may_narrow_parameter()
    search: Search = parameter(
        default="local",
        text="plain: merge the cheapest; agglomerative: the best of six ways; local: improve "
        "each of these; forest: divide a forest",
    )
    block_rows: int | None = parameter(
        default=None,
        text="maximum rows per block; at least four times k",
        minimum=8,
        unset=f"all rows up to 2000, {blocks.BLOCK_ROWS} above that",
        private=True,
    )

    @property
    def guarantee(self) -> KAnonymity:
        """k-anonymity with this k, in the known columns."""
        return KAnonymity(k=self.k, known=self.roles.known or UNSET)

    def draft(self, data: Table, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        # Case 1: blocks alone, for the other searches, for a given size of blocks, and for a table
        # of up to `WHOLE_ROWS` rows, which is one block.
        if (
            self.search != "local"
            or self.block_rows is not None
            or data.n_rows <= blocks.WHOLE_ROWS
        ):
            return blocks.draft_of(data, self._in_blocks(data, randomness))
        # Case 2: a large table with local search. All rows are put together by the columns that
        # they publish: a set of columns (mask) forms clusters across all blocks.
        from graphveil.methods.adaptive.clusters import hidden_by, masked_start  # noqa: PLC0415  compiled code

        with stage("masks"):
            masked = masked_start(data.codes, self.k)
        if masked is None:
            return blocks.draft_of(data, self._in_blocks(data, randomness))
        outcome = blocks.BlockOutcome(hidden_by(data.codes, masked.labels), None, {})
        # Not every set of columns was tried, so blocks may suppress less: keep what suppresses
        # fewer cells. Both are k-anonymous, whichever it is.
        if not masked.all_masks:
            other = self._in_blocks(data, randomness)
            outcome = min(outcome, other, key=lambda candidate: int(candidate.hidden.sum()))
        return blocks.draft_of(data, outcome)

    def _in_blocks(self, data: Table, randomness: Randomness) -> blocks.BlockOutcome:
        """Return what blocks of the table publish, each clustered by itself."""
        # Blocks are those of `adaptive`, where levels and weights differ. Here everybody has the
        # level k, and every column the weight 1.
        return blocks.in_blocks(
            data.codes,
            np.full(data.n_rows, self.k, dtype=np.int64),
            np.ones(data.n_columns),
            most_rows=blocks.rows_of_block(self.block_rows, data.n_rows, self.k),
            work=Clustering(self.search),
            randomness=randomness,
        )


@dataclass(frozen=True)
class Clustering:
    """Put the rows of a block together; a value that can be pickled.

    Parameters
    ----------
    search
        As in `ClusterK`.
    """

    search: Search

    def __call__(self, block: blocks.RecordBlock) -> blocks.BlockSolution:
        """Return what the block publishes; its rows all have the same level."""
        from graphveil.methods.adaptive.clusters import clusters  # noqa: PLC0415  compiled code
        from graphveil.methods.adaptive.problem import mask_of, packed  # noqa: PLC0415  the same

        # Definition 2.1: a cluster is a clique. It publishes a cell if all its rows have it, so
        # `stars` (per cluster, bits per column) are the columns in which two of them differ.
        grouped = clusters(packed(block.codes), int(block.levels[0]), self.search, block.rng)
        hidden = mask_of(grouped.common.stars[grouped.labels], block.codes)
        return blocks.BlockSolution(np.packbits(hidden, axis=1))
