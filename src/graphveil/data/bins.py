"""Numbers into categories, by an explicit rule.

The edges are published. Those that come from the data are rounded to two digits of the spread.
Where values have few digits, as ages in years, an edge can still be the exact value of somebody.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa


def binned(values: pa.Array, rule: str, *, name: str) -> pa.Array:
    """Return each number as the text of its interval; null stays null.

    Parameters
    ----------
    values
        An Arrow column of numbers.
    rule
        ``median``, ``quantiles:N`` or ``edges:a,b,c``; an interval holds its upper end. The first
        two are rounded, as `rounded` says. Of two values in all the median is the middle.
    name
        The column, for messages.

    Raises
    ------
    ParameterError
        Where the rule is none of these.

    Examples
    --------
    >>> import pyarrow as pa
    >>> binned(pa.array([1.0, 2.0, 9.0, None]), "edges:1.5", name="age").to_pylist()
    ['<=1.5', '>1.5', '>1.5', None]
    """
    import pyarrow as pa  # noqa: PLC0415  heavy: not for help
    import pyarrow.compute as pc  # noqa: PLC0415  heavy: not for help

    numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    known = np.isfinite(numbers)
    edges = _edges(numbers[known], rule, name)
    labels = _labels(edges)
    intervals = np.searchsorted(edges, numbers, side="left")
    return pc.take(pa.array(labels), pa.array(intervals, mask=~known))


def _edges(numbers: NDArray[np.float64], rule: str, name: str) -> NDArray[np.float64]:
    kind, _, detail = rule.partition(":")
    if kind == "edges":
        try:
            edges = [float(edge) for edge in detail.split(",")]
        except ValueError:
            edges = []
        if edges and np.all(np.isfinite(edges)) and np.all(np.diff(edges) > 0):
            return np.array(edges)
    elif kind == "median" and not detail:
        return _middle(numbers)
    elif kind == "quantiles" and detail.isascii() and detail.isdigit() and 2 <= int(detail) <= 1000:
        return _quantiles(numbers, int(detail))
    raise ParameterError(
        f"column {name}: the bins {rule!r} are unknown. "
        "Use median, quantiles:N (2 to 1000) or edges:a,b,c (rising)."
    )


def _middle(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median; between two values that are all there are, so that both are kept."""
    values = np.unique(numbers)
    return _quantiles(values if values.size == 2 else numbers, 2)


def _quantiles(numbers: NDArray[np.float64], parts: int) -> NDArray[np.float64]:
    if numbers.size == 0:
        return np.empty(0)
    return rounded(np.quantile(numbers, np.arange(1, parts) / parts), numbers)


def rounded(edges: NDArray[np.float64], numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return edges to two digits of the spread of the numbers: distinct, in order.

    The spread is what the middle 80 % of the numbers cover; where that is nothing, all of them;
    where that is nothing, the largest of them.

    Examples
    --------
    >>> ages = np.array([18.0, 31.0, 37.5, 44.0, 90.0])
    >>> rounded(np.array([37.5]), ages).tolist(), rounded(np.array([37.5]), ages * 100).tolist()
    ([38.0], [0.0])
    """
    low, high = np.quantile(numbers, [0.1, 0.9])
    spread = (high - low) or np.ptp(numbers) or np.abs(numbers).max()
    if not spread:
        return np.unique(edges)
    step = 10.0 ** (np.floor(np.log10(spread)) - 1)
    return np.unique([float(f"{edge:.12g}") for edge in np.round(edges / step) * step])


def _labels(edges: NDArray[np.float64]) -> list[str]:
    if edges.size == 0:
        return ["any"]
    written = [f"{edge:.12g}" for edge in edges]
    between = [f"{low}<x<={high}" for low, high in pairwise(written)]
    return [f"<={written[0]}", *between, f">{written[-1]}"]
