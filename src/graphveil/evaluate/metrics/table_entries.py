"""Metrics of tables."""

from __future__ import annotations

from functools import partial

from graphveil.core.text import number
from graphveil.data import Table
from graphveil.evaluate.comparison import TableComparison
from graphveil.evaluate.metric import Metric, Said

_table = partial(Metric[TableComparison], kind=Table, direction="lower is better")

ADAPTIVE = "Choromanski, Jebara and Tang, Adaptive Anonymity via b-Matching"

TABLE_METRICS: tuple[Metric[TableComparison], ...] = (
    _table(
        name="stars",
        definition="number of cells without a value (*) in the released columns: those missing in "
        "the original, and those missing or suppressed in the release",
        source=ADAPTIVE,
        cost="linear",
        compute="metrics.cells.stars",
        as_sample="every part",
        said=Said(
            "missing or suppressed cells",
            {"released": "original"},
            "cells are missing or suppressed (*)",
            place=2,
            spelled=number,
        ),
    ),
    _table(
        name="stars-added",
        definition="cells that the original has and the release suppresses",
        source=ADAPTIVE,
        needs_linkage=True,
        cost="linear",
        compute="metrics.cells.stars_added",
        as_sample="every part",
    ),
    _table(
        name="cells-shown",
        direction="higher is better",
        definition="utility: 1 - stars / (rows x columns), where stars are cells that are "
        "suppressed, or missing in the original; 1 if there are no cells",
        source=ADAPTIVE,
        cost="linear",
        compute="metrics.cells.utility",
        as_sample="every part",
        said=Said(
            "cells shown",
            "all",
            "of the cells",
            place=1,
            ending=" are published; the others are missing or suppressed (*)",
            headline=True,
        ),
    ),
    _table(
        name="cells-replaced",
        definition="cells of the release with a different value in the original; filled: cells "
        "with a value where the original has none",
        source="ours",
        needs_linkage=True,
        cost="linear",
        compute="metrics.cells.replaced",
        said=Said(
            "cells replaced",
            {"share": "filled share"},
            "of the published cells have a different value in the original",
            place=2,
            beside="; {} have none there",
        ),
    ),
    _table(
        name="stars-by-column",
        definition="share of each released column that is missing or suppressed",
        source="ours",
        cost="linear",
        compute="metrics.cells.stars_by_column",
        as_sample="every part",
        said=Said(
            "values of each column",
            {},
            "of the cells of {part} are missing or suppressed, the most of all columns",
            place=6,
        ),
    ),
    _table(
        name="stars-by-row",
        definition="number of missing or suppressed cells per row, and its distribution over rows",
        source="ours",
        compute="metrics.cells.stars_by_row",
        said=Said(
            "rows without a value",
            "nothing shown",
            "of the rows show no value: all of their cells are missing or suppressed",
            place=3,
        ),
    ),
    _table(
        name="class-sizes",
        definition="sizes of the equivalence classes of rows that are equal in the columns of "
        "the guarantee, with `*` as a value of its own; discernibility is the sum of their squares",
        source="Bayardo and Agrawal 2005 (discernibility); LeFevre et al. 2006 (average)",
        compute="metrics.cells.class_sizes",
        said=Said(
            "equal rows",
            {"released average": "original average"},
            "rows are equal on average",
            place=4,
            spelled=number,
        ),
    ),
    _table(
        name="column-entropy",
        definition="mean loss of information per cell of a column, in bits: the entropy of the "
        "values that the column shows, times the share of its cells that show one, "
        "before minus after",
        source="Shannon 1948",
        cost="linear",
        compute="metrics.cells.column_entropy",
        as_sample="every part",
        said=Said(
            "information in columns",
            "mean of columns",
            "bits of information are lost per column on average",
            place=5,
            spelled=number,
        ),
    ),
    _table(
        name="granularity",
        direction="higher is better",
        definition="1 minus the mean loss of the published known cells: a node loses the share of "
        "the other values below it, an interval its width as a share of the range, `*` everything",
        source="Iyengar, Transforming data to satisfy privacy constraints, KDD 2002",
        compute="metrics.cells.granularity",
    ),
    _table(
        name="granularity-bound",
        direction="higher is better",
        definition="proved bound for classes of k rows whose known cells are true nodes: the "
        "least loss at levels where k rows agree",
        source="ours",
        cost="heavy",
        compute="metrics.cells.granularity_bound",
        by_name=True,
    ),
    _table(
        name="reidentification-risk",
        definition="chance of picking the right row: of a person in the table (prosecutor) or the "
        "--population, of which it is taken as a random sample (journalist); on average (marketer)",
        source="El Emam 2013; Benedetti and Franconi 1998 (population)",
        compute="metrics.cells.risks",
    ),
)
