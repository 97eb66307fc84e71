"""What a sweep came to, as users see it: rows for every library, a picture, files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.atomic import OWNER_ONLY, whole_file
from graphveil.errors import UsageError
from graphveil.report.figures import Figure, Illustrated
from graphveil.sweeping.figures import SweptPoints
from graphveil.sweeping.page import figure_of, figures_of, page_text, picture_text
from graphveil.sweeping.table import write_table
from graphveil.terminal import visible

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Sweep(SweptPoints, Illustrated):
    """What every point of a sweep came to; each has rows, or its reason why not.

    Parameters
    ----------
    plan
        What was run.
    results
        What became of every point, by its number.
    folder
        Where its releases lie; None where they were not kept.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
    >>> sweep = gv.sweep(
    ...     {"k-degree": {"k": [2, 5, 9]}}, graph, metrics=["edge-jaccard"], attacks=[], jobs=1
    ... )
    >>> sweep.rows.num_rows > 3, [setting.first.given for setting in sweep.settings]
    (True, ['k=2', 'k=5', 'k=9'])
    """

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas frame."""
        frame: pd.DataFrame = self.rows.to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a polars frame."""
        import polars as pl  # noqa: PLC0415  an optional library

        frame = pl.from_arrow(self.rows)
        if not isinstance(frame, pl.DataFrame):
            raise TypeError("a table of Arrow is a frame of polars")
        return frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Hand the rows to any library that speaks the Arrow C stream."""
        return self.rows.__arrow_c_stream__(requested_schema)

    def plot(self, x: str | None = None, y: str | None = None) -> Figure:
        """Return two figures of every point as a picture that stands alone: SVG, PDF, PNG.

        Parameters
        ----------
        x, y
            As `frontier` takes them; without them, a measured attack against what is kept.

        Raises
        ------
        ParameterError
            Where no point has such a figure.
        UsageError
            Where no point has both.

        Examples
        --------
        >>> import graphveil as gv
        >>> ring = gv.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
        >>> grid = {"k-degree": {"k": [2, 5]}}
        >>> gv.sweep(grid, ring, metrics=["edge-jaccard"], attacks=[], jobs=1).plot("k", "kept")
        Figure('What is promised against what is kept: k', 2 points)
        """
        return figure_of(self, *self.chosen(x, y))

    def _pictures(self) -> Mapping[str, Figure]:
        return figures_of(self)

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the table (``.parquet``) or the page (``.html``), for its owner alone.

        Parameters
        ----------
        path
            The file; its extension says what is written.
        force
            Whether a file of that name is replaced.

        Raises
        ------
        UsageError
            Where the extension is another one, or there is such a file and `force` is off.
        """
        file = Path(path)
        if file.suffix not in {".parquet", ".html"}:
            raise UsageError(f"{file.name} is neither .parquet nor .html. Choose one of them.")
        if file.exists() and not force:
            raise UsageError(f"{file} exists. Choose another name, or set force.")
        if file.suffix == ".parquet":
            return write_table(self.rows, file)

        with whole_file(file, mode=OWNER_ONLY) as part:
            part.write_text(page_text(self), encoding="utf-8", newline="\n")
        return file

    def _repr_html_(self) -> str:
        """Return the picture of the frontier, for notebooks."""
        return picture_text(self)

    def __repr__(self) -> str:
        """Return how many points ended in which way, and a line for each of the first ten."""
        ended = ", ".join(f"{number} {status}" for status, number in self.counts.items())
        lines = [f"Sweep of {len(self.results)} points: {ended}; see rows"]
        lines += [f"  {text}" for text in list(self._lines())[:10]]
        more = len(self.settings) - 10
        return "\n".join(map(visible, lines + ([f"  and {more} more"] if more > 0 else [])))

    def _lines(self) -> Iterator[str]:
        _, attack, use = self.usual
        for setting in self.settings:
            failure = setting.failure
            if failure is not None:
                yield f"{setting.first.words}: {failure.status}: {failure.reason}"
                continue
            axes = [axis for axis in (attack, use) if axis is not None]
            figures = [(axis, setting.figure(axis)) for axis in axes]
            shown = [f"{axis} {figure.mean:.3g}" for axis, figure in figures if figure]
            yield f"{setting.first.words}: {', '.join(shown)}"
