"""The verb evaluate: what a release kept of the original."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.core.errors import UsageError
from graphveil.core.parameters import PerColumn
from graphveil.core.rows import Rows
from graphveil.evaluate.comparison import Comparison, TableComparison
from graphveil.evaluate.measuring import compared, known_metrics, measured, of_population
from graphveil.release import Release, read_release
from graphveil.verbs.read import as_release, original_data

if TYPE_CHECKING:
    from graphveil.evaluate.comparison import Attached
    from graphveil.methods.generalize.frames import ReadAgain


def evaluate_release(  # noqa: PLR0913  each is an option that a caller names
    release: Release[Any] | str | Path,
    original: Any,
    *,
    metrics: Sequence[str] | None = None,
    seed: int | None = None,
    test: Any = None,
    label: str | None = None,
    attached: Attached | None = None,
    as_sample: bool = False,
    population: int | None = None,
) -> Rows:
    """Return what the release kept of the original, as tidy rows.

    Parameters
    ----------
    release
        A release, or the folder of one.
    original
        The data it was made from, an object of another library that holds it, or the name of its
        file, which is read as the owner's record says. A table stands for its `one_hot` features
        where the release is of users by features, a graph for the neighbors of everyone where it
        was released so.
    metrics
        Names of `METRICS`, which commas may separate, or ``top-m-filter`` for the eleven of that
        paper. If not given: all that read this kind of data and need not be asked for by name,
        heavy ones only up to 200,000 edges or 10,000,000 entries of the original and of the
        release.
    seed
        For metrics that sample; entropy where not given.
    test
        People whom the release was not made from, as data of the original's kind: tasks
        (`classification`, `recommendation`) are tested on them.
    label
        The column that `classification` tells: of the test people, and of the release or of
        `attached`.
    attached
        That column for the people of the original, where it is published next to the release.
    as_sample
        Whether each row that compares says, where its metric costs linear time, what share of the
        edges, entries or rows is as far off when it is kept at random (`graphveil.felt` puts it in
        words). 28 samples of the original are compared with it.
    population
        For a table: how many people its rows are a simple random sample of. Then
        `reidentification-risk` also estimates how unique rows are among them.

    Returns
    -------
    Rows
        One row for each figure; what was not measured is in `Rows.not_measured`, with the reason.

    Raises
    ------
    ParameterError
        Where a metric is unknown, or the population is smaller than the table.
    UsageError
        Where no release is given, original and release are of different kinds or sizes, the
        owner's record is of another original, a metric reads another kind, or test people are in
        the original.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = gv.KDegree(k=2).anonymize(graph)
    >>> evaluation = evaluate_release(release, original=graph, metrics=["edges-kept"])
    >>> [(row.part, row.value) for row in evaluation]
    [('count', 3.0), ('share', 1.0)]
    """
    metrics = known_metrics(metrics)
    release = as_release(release, wanted_by="evaluate")
    name = "release" if isinstance(release, Release) else release.name
    read = release if isinstance(release, Release) else read_release(release)
    pair = of_population(compared(read, original_data(release, original), seed), population)
    pair = with_levels(pair, read)
    if test is not None:
        from graphveil.evaluate.held_back import held_back  # noqa: PLC0415  few hold people back

        exact = read.generalized is not None
        people = held_back(test, pair.original, label=label, attached=attached, exact=exact)
        pair = dataclasses.replace(pair, held_back=people)
    elif label is not None or attached is not None:
        raise UsageError(
            "predicting a label requires held-back people. Give them as test (--test FILE)."
        )
    return measured(name, pair, metrics, as_sample=as_sample)


def with_levels(pair: Comparison[Any], release: Release[Any]) -> Comparison[Any]:
    """Return an original next to its release; of tables with the levels of the owner's record."""
    if not isinstance(pair, TableComparison) or (
        release.generalized is not None and release.private is None
    ):
        return pair
    table: TableComparison = pair
    rules: dict[str, dict[str, str]] = {"levels": {}, "dates": {}}
    described = () if release.generalized is None else release.generalized.columns
    ruled = any(column.levels not in (None, "stars") for column in described)
    for name, of_columns in rules.items():
        given = release.private.withheld.get(name) if release.private else None
        if ruled and given:  # otherwise it is a column of levels that people asked for
            of_columns.update(PerColumn.parse(str(given)))

    def again() -> ReadAgain:
        from graphveil.methods.generalize.frames import ReadAgain  # noqa: PLC0415  of tables alone

        known = [table.released.columns[at] for at in table.known]
        return ReadAgain(table.original.to_arrow(), known, rules["levels"], rules["dates"])

    return dataclasses.replace(table, claimed=table.claimed._replace(levels=again))
