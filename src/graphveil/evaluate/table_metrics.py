"""Metrics of tables: entries that say what each number is."""

from __future__ import annotations

from graphveil.data import Table
from graphveil.evaluate.comparison import TableComparison
from graphveil.evaluate.metric import Metric

ADAPTIVE = "Choromanski, Jebara and Tang, Adaptive Anonymity via b-Matching"

TABLE_METRICS: tuple[Metric[TableComparison], ...] = (
    Metric(
        name="stars",
        kind=Table,
        direction="lower is better",
        definition="suppressed cells of the released columns, before and after",
        source=ADAPTIVE,
        needs_linkage=False,
        cost="linear",
        compute="suppression.stars",
        as_sample="every part",
    ),
    Metric(
        name="stars-added",
        kind=Table,
        direction="lower is better",
        definition="cells that the original has and the release suppresses",
        source=ADAPTIVE,
        needs_linkage=True,
        cost="linear",
        compute="suppression.stars_added",
        as_sample="every part",
    ),
    Metric(
        name="cells-shown",
        kind=Table,
        direction="higher is better",
        definition="utility: 1 - stars / (rows x columns); 1 if there are no cells",
        source=ADAPTIVE,
        needs_linkage=False,
        cost="linear",
        compute="suppression.utility",
        as_sample="every part",
    ),
    Metric(
        name="stars-by-column",
        kind=Table,
        direction="lower is better",
        definition="the share of each released column that is suppressed",
        source="ours",
        needs_linkage=False,
        cost="linear",
        compute="suppression.stars_by_column",
        as_sample="every part",
    ),
    Metric(
        name="stars-by-row",
        kind=Table,
        direction="lower is better",
        definition="suppressed cells of a row, and how they are distributed over rows",
        source="ours",
        needs_linkage=False,
        cost="near-linear",
        compute="suppression.stars_by_row",
    ),
    Metric(
        name="class-sizes",
        kind=Table,
        direction="lower is better",
        definition="sizes of the classes of equal rows, `*` a value of its own; discernibility is "
        "the sum of their squares",
        source="Bayardo and Agrawal 2005 (discernibility); LeFevre et al. 2006 (average)",
        needs_linkage=False,
        cost="near-linear",
        compute="suppression.class_sizes",
    ),
    Metric(
        name="column-entropy",
        kind=Table,
        direction="lower is better",
        definition="by how many bits a cell of a column says less on average: the entropy of the "
        "values that it shows, times the share of its cells that show one, before less after",
        source="Shannon 1948",
        needs_linkage=False,
        cost="linear",
        compute="suppression.column_entropy",
        as_sample="every part",
    ),
)
