"""A sweep as users see it: an answer, one line for each point, and rows."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, get_args

from graphveil.attacks.registry import ATTACKS
from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.claims.neighbors import check_outside
from graphveil.core.errors import UsageError
from graphveil.core.lazy import AsStream
from graphveil.core.rows import Rows
from graphveil.core.text import NO_FIGURE, counted, percent, plain
from graphveil.core.visible import visible
from graphveil.data.kinds import KINDS
from graphveil.methods import METHODS
from graphveil.verbs.sweep.grid import Status
from graphveil.verbs.sweep.points import (
    Axis,
    Setting,
    SweptPoints,
    write_table,
)

if TYPE_CHECKING:
    import pyarrow as pa

WORDS: dict[str, str] = {
    "k": "equivalence class size, at least",
    "epsilon": "epsilon (lower is more private)",
    "edge-jaccard: all": "edges kept and true",
    "entry-jaccard: all": "items kept and true",
    "cells-shown: all": "cells shown",
    "kept": "kept",
    "candidate-set: degree and triangles, right guess": (
        "re-identified by an attacker who knows degree and triangles"
    ),
    "linkage: 4 known, 0 false: own row": (
        "re-identified by an attacker who knows 4 items or cells"
    ),
    "matching: best guess, mean": "re-identified by an attacker who has the original table",
}
"""What a reader calls a figure."""

SHARES = frozenset(WORDS) - {"k", "epsilon"}
"""Figures among them that are shares: they are shown in percent."""


def words_of(axis: Axis) -> str:
    """Return what a reader calls a figure.

    >>> words_of(Axis("edge-jaccard", "all")), words_of(Axis("diameter", "original"))
    ('edges kept and true', 'diameter: original')
    """
    return WORDS.get(str(axis), str(axis))


def figure_text(axis: Axis, value: float) -> str:
    """Return a figure as a person reads it: shares in percent.

    >>> figure_text(Axis("kept"), 0.98), figure_text(Axis("strength", "k"), 5.0)
    ('98%', '5')
    """
    return percent(value) if str(axis) in SHARES else plain(value)


def answer_of(sweep: SweptPoints, until: Sequence[str], met: Collection[int] | None) -> str:
    """Return the answer in a sentence: how many points keep the bounds, or how points ended."""
    whole = len(sweep.results)
    counts = sweep.counts
    ended = ", ".join(f"{counts[one]} {one}" for one in get_args(Status) if one in counts)
    points = counted(whole, "point")
    if met is None:
        return f"{points}: {ended}."
    bounds = " and ".join(until)
    some = counted(len(met), "point", "meets") if met else "No point meets"
    return f"{some} {bounds}. {points}: {ended}."


LARGER = ("k", "levels")
"""Parameters of which a larger value protects more."""


class _Pair(NamedTuple):
    """Settings that differ in one parameter alone, and what the strongest attack reaches."""

    name: str
    weak: Setting
    strong: Setting
    before: float
    after: float


_Found = Mapping[tuple[str, str], tuple[float, float]]
"""What each attack re-identifies, and what a guess does."""


def warning_of(sweep: SweptPoints) -> str:
    """Return where a larger k hardly lowers the strongest attack, and what to use instead.

    It says one pair of settings a method, which differ in nothing else: that of the largest share.
    Attacks count that ran at both ends and on every repeat. Empty where there is no such pair.
    """
    worst: dict[str, _Pair] = {}
    for pair in (pair for name in LARGER for pair in _hardly(sweep, name)):
        method = pair.weak.first.method
        worst[method] = max(pair, worst.get(method, pair), key=lambda one: one.after)
    if not worst:
        return ""
    said = [
        f"The strongest attack here re-identifies {percent(pair.before)} of its targets with "
        f"{pair.weak.first.words}, and {percent(pair.after)} with {pair.strong.first.words}. "
        f"A larger {pair.name} hardly lowers this share."
        for pair in worst.values()
    ]
    return " ".join([*said, _instead(sweep)])


def _hardly(sweep: SweptPoints, name: str) -> Iterator[_Pair]:
    """Yield the least and the largest value of a parameter where the second hardly helps."""
    from graphveil.verbs.advise.strengths import hardly_lowers  # noqa: PLC0415  few sweeps get so far

    alike: dict[str, list[tuple[int, Setting]]] = {}
    for setting in sweep.settings:
        parameters = dict(setting.first.parameters)
        value = parameters.pop(name, None)
        if isinstance(value, int) and setting.failure is None:
            alike.setdefault(f"{setting.first.method} {parameters!r}", []).append((value, setting))
    for ends in alike.values():
        (least, weak), (most, strong) = (
            choose(ends, key=lambda end: end[0]) for choose in (min, max)
        )
        if least == most:
            continue
        first, last = (_found(sweep, one) for one in (weak, strong))
        both = first.keys() & last.keys()
        before, guess = max((first[key] for key in both), default=(0.0, 0.0))
        after = max((last[key][0] for key in both), default=0.0)
        if hardly_lowers(before, after, guess):
            yield _Pair(name, weak, strong, before, after)


def _found(sweep: SweptPoints, setting: Setting) -> _Found:
    """Return the mean share that each attack re-identifies, and that of a guess."""
    from graphveil.core.rows import Row as Figured  # noqa: PLC0415  as above
    from graphveil.core.rows import Setting as Measured  # noqa: PLC0415  as above
    from graphveil.verbs.advise.strengths import re_identifying  # noqa: PLC0415  as above

    repeats: list[dict[tuple[str, str], tuple[float, float]]] = []
    for result in setting.results:
        rows = [
            Figured(**{**row, "setting": Measured(**row["setting"])})
            for row in result.rows
            if row["question"] in ATTACKS and row["value"] is not None
        ]
        most: dict[tuple[str, str], tuple[float, float]] = {}
        of_table = sweep.plan.kind == "table"
        for key, row in re_identifying(Rows(rows), "people", of_table=of_table):
            share = (row.value or 0.0, row.guess or 0.0)
            most[key] = max(share, most.get(key, share))
        repeats.append(most)
    common = [key for key in repeats[0] if all(key in one for one in repeats)]
    return {
        key: (fmean(one[key][0] for one in repeats), fmean(one[key][1] for one in repeats))
        for key in common
    }


def _instead(sweep: SweptPoints) -> str:
    """Return the method with differential privacy to try: of the sweep that with least risk."""
    from graphveil.verbs.advise.strengths import NONE_IS_PRIVATE  # noqa: PLC0415  as above

    container = KINDS[sweep.plan.kind].container
    fitting = [
        name
        for name, method in METHODS.items()
        if container in method.accepts
        and isinstance(method.from_parameters(method.card.example).guarantee, EdgeDP | NodeDP)
    ]
    if not fitting:
        return NONE_IS_PRIVATE
    reached = {
        one.first.words: max(share for share, _ in found.values())
        for one in sweep.settings
        if one.first.method in fitting and one.failure is None and (found := _found(sweep, one))
    }
    words = min(reached, key=lambda words: reached[words], default=fitting[0])
    measured = f" (here {percent(reached[words])})" if words in reached else ""
    return f"Consider a method with differential privacy, such as {words}{measured}."


def lines_of(sweep: SweptPoints, met: Collection[int] | None = None) -> Iterator[tuple[str, str]]:
    """Yield the figures and the words of each point, and the reason of each without a release.

    First come points that keep the bounds, then those that no other beats; last, those without one.
    """
    _, *axes = sweep.usual
    for nth, axis in zip(("first", "second"), axes, strict=True):
        if axis is not None:
            yield "", f"{nth} figure: {words_of(axis)}"
    best = best_of(sweep)
    lines = []
    for setting in sweep.settings:
        first, failure = setting.first, setting.failure
        is_met = met is not None and all(point.number in met for point in setting.points)
        means = [axis and (figure := setting.figure(axis)) and figure.mean for axis in axes]
        rank = (failure is not None, not is_met, first.number not in best)
        order = (*rank, math.inf if means[0] is None else means[0])
        if failure is not None:
            lines.append((order, f"  {failure.status}: ", f"{first.words}: {failure.reason}"))
            continue
        cells = (
            NO_FIGURE if axis is None or mean is None else figure_text(axis, mean)
            for axis, mean in zip(axes, means, strict=True)
        )
        notes = ["meets every bound"] * is_met
        notes += ["no other point dominates it"] * (first.number in best)
        note = f" ({', '.join(notes)})" if notes else ""
        shown = "  {:>9} {:>9}  ".format(*cells)
        lines.append((order, shown, f"{first.words}{note}"))
    yield from (line[1:] for line in sorted(lines, key=operator.itemgetter(0)))


def best_of(sweep: SweptPoints) -> set[int]:
    """Return the first point of each setting that no other beats in both usual figures."""
    _, attack, use = sweep.usual
    if attack is None or use is None:
        return set()
    return {row["point"] for row in sweep.frontier().to_pylist() if row["best"]}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Sweep(SweptPoints, AsStream):
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

    def to_arrow(self) -> pa.Table:
        """Return the rows."""
        return self.rows

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write every figure as a table (``.parquet``) that only its owner can read.

        The page is written by `graphveil.report_sweep`, pictures by `graphveil.plot`.

        Parameters
        ----------
        path
            The file; it ends in ``.parquet``.
        force
            Whether a file of that name is replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            Where the extension is another one, or there is such a file and `force` is off.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import pyarrow.parquet
        >>> import graphveil as gv
        >>> ring = gv.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
        >>> done = gv.sweep(
        ...     {"k-degree": {"k": [2, 5]}}, ring, metrics=["edge-jaccard"], attacks=[], jobs=1
        ... )
        >>> with TemporaryDirectory() as folder:
        ...     file = done.write(Path(folder, "ring.parquet"))
        ...     pyarrow.parquet.read_metadata(file).num_rows == done.rows.num_rows
        True
        """
        file = Path(path)
        if file.suffix != ".parquet":
            raise UsageError(
                f"{file.name} is not .parquet. For the page: gv.report_sweep(sweep).write(...)."
            )
        check_outside(file)
        if file.exists() and not force:
            raise UsageError(f"{file} exists. Choose another name, or set force.")
        return write_table(self.rows, file)

    def __repr__(self) -> str:
        """Return how many points ended in which way, and a line for each of the first ten."""
        ended = ", ".join(f"{number} {status}" for status, number in self.counts.items())
        lines = [f"Sweep of {counted(len(self.results), 'point')}: {ended}; see rows"]
        lines += [f"  {text}" for text in list(self._lines())[:10]]
        more = len(self.settings) - 10
        lines += [f"  and {more} more"] if more > 0 else []
        warning = warning_of(self)
        return "\n".join(map(visible, lines + ([warning] if warning else [])))

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
