"""Pictures of results, each a function of what is already measured."""

from __future__ import annotations

from graphveil.core.errors import UsageError
from graphveil.core.rows import Rows
from graphveil.pages.figures import Classes, Plot, of_classes, of_rows
from graphveil.pages.sweep import figure_of
from graphveil.verbs.sweep.results import Sweep


def plot(results: Rows | Classes | Sweep, *, x: str | None = None, y: str | None = None) -> Plot:
    """Return a picture of results: SVG, PDF or PNG. Nothing is measured for it.

    Parameters
    ----------
    results
        Rows of `evaluate_release` or `attack_release`: shares before and after, next to a guess.
        What `measure` returned: how many people have at most so many look-alikes, without any id.
        A sweep: two figures of each of its points.
    x, y
        For a sweep alone, as `Sweep.frontier` takes them: ``k``, ``epsilon``, ``kept``, or a part
        of a metric or an attack. Default: a measured attack against what is kept.

    Returns
    -------
    Plot
        The picture; in a notebook it shows itself, and `Plot.write` writes it.

    Raises
    ------
    UsageError
        If there is nothing to show: no share among the rows, no people, or no point of the sweep
        with both figures; or if `x` or `y` is given for anything but a sweep.
    ParameterError
        If no point of the sweep has such a figure.

    Examples
    --------
    >>> import graphveil as gv
    >>> ring = gv.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
    >>> gv.plot(gv.measure(ring, k=2))
    Plot('Sizes of equivalence classes: 5 people', 6 steps)
    >>> release = gv.KDegree(k=2).anonymize(ring, seed=1)
    >>> gv.plot(release.evaluate(ring, metrics=["edges-kept"])).title
    'What was kept'
    >>> grid = {"k-degree": {"k": [2, 5]}}
    >>> swept = gv.sweep(grid, ring, metrics=["edge-jaccard"], attacks=[], jobs=1)
    >>> gv.plot(swept, x="k", y="kept")
    Plot('Guarantee and what is kept: k', 2 points)
    """
    if isinstance(results, Sweep):
        return figure_of(results, *results.chosen(x, y))
    if x is not None or y is not None:
        raise UsageError("x and y choose figures of a sweep. Remove them.")
    return of_rows(results) if isinstance(results, Rows) else of_classes(results)
