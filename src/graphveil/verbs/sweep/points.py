"""What the points of a sweep came to: a table of figures, frontiers, and which keep bounds."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from graphveil.core.atomic import OWNER_ONLY, whole_file
from graphveil.core.bounds import Bound, part_of, read_bound
from graphveil.core.errors import ParameterError
from graphveil.core.hints import one_of
from graphveil.core.libraries import pa, parquet
from graphveil.core.rows import Row
from graphveil.verbs.sweep.grid import Plan, Point, Result

TEXT, NUMBER, WHOLE = "string", "float64", "int64"
OWN = {"point": WHOLE, "method": TEXT, "draw": WHOLE, "status": TEXT, "promise": TEXT}
FIGURES = {
    **dict.fromkeys(("release", "question", "part"), TEXT),
    "value": NUMBER,
    **dict.fromkeys(("unit", "direction", "known"), TEXT),
    "sample_size": WHOLE,
    **dict.fromkeys(("low", "high", "guess"), NUMBER),
    "reason": TEXT,
}
"""The fields of a row that the table has, and their types."""

TIMES = {"seconds": NUMBER, "cpu_seconds": NUMBER}
"""What differs from run to run."""


def parameter_column(name: str) -> str:
    """Return the column of a parameter: its own name, unless figures have one of that name.

    >>> parameter_column("k"), parameter_column("unit")
    ('k', 'parameter_unit')
    """
    return f"parameter_{name}" if name in OWN | FIGURES | TIMES else name


def table_of(plan: Plan, results: Mapping[int, Result]) -> pa.Table:
    """Return the table: every figure of every point, in the order of the plan.

    A point without a release is one row without a figure, with its reason.
    """
    parameters = _parameters(plan.points)
    types = {
        **{name: getattr(pa, kind)() for name, kind in OWN.items()},
        **{parameter_column(name): _type(values) for name, values in parameters.items()},
        **{name: getattr(pa, kind)() for name, kind in (FIGURES | TIMES).items()},
    }
    strings = {name for name, kind in types.items() if kind == pa.string()}
    records = [
        {name: _cell(value, text=name in strings) for name, value in record.items()}
        for point in plan.points
        for record in _records(point, results[point.number], list(parameters))
    ]
    schema = pa.schema(list(types.items()))
    columns = {name: [record[name] for record in records] for name in types}
    return pa.table(columns, schema=schema)


def _records(point: Point, result: Result, parameters: Sequence[str]) -> Iterator[dict[str, Any]]:
    own = {
        "point": point.number,
        "method": point.method,
        "draw": point.draw,
        "status": result.status,
        "promise": result.promise or None,
        **{parameter_column(name): point.parameters.get(name) for name in parameters},
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
    }
    reason = result.reason or result.status
    without = dataclasses.asdict(Row(release=point.name, question="", reason=reason))
    for row in result.rows or [without]:
        yield own | {name: row.get(name) for name in FIGURES}


def _parameters(points: Iterable[Point]) -> dict[str, list[Any]]:
    """Return the values of every parameter that some point has, by its name, sorted."""
    values: dict[str, list[Any]] = {}
    for point in points:
        for name, value in point.parameters.items():
            if value is not None:
                values.setdefault(name, []).append(value)
    return {name: values[name] for name in sorted(values)}


def _type(values: Sequence[Any]) -> Any:
    kinds = set(map(type, values))
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds <= {int, float} else pa.string()


def _cell(value: Any, *, text: bool) -> Any:
    return str(value) if text and value is not None else value


def write_table(table: pa.Table, path: Path) -> Path:
    """Write a table as Parquet, whole and for its owner alone; return the file."""
    with whole_file(path, mode=OWNER_ONLY) as part, part.open("wb") as stream:
        parquet.write_table(table, stream)
    return path


STRENGTHS = ("k", "epsilon")
"""Axes that stand for the figure ``strength`` of that part."""

USES = ("edge-jaccard: all", "entry-jaccard: all", "cells-shown: all", "kept")
ATTACKED = (
    "candidate-set: degree and triangles, right guess",
    "matching: best guess, mean",
    "linkage: 4 known, 0 false: own row",
)
"""The figures of use, and of attacks, that are shown where nothing else is asked for: the first
of these that was measured."""


class Spread(NamedTuple):
    """One figure over the repeats of a point: its mean, least and greatest value."""

    mean: float
    low: float
    high: float


class Setting(NamedTuple):
    """One method with its parameters, and its repeats."""

    points: tuple[Point, ...]
    results: tuple[Result, ...]

    @property
    def first(self) -> Point:
        """The first of its points."""
        return self.points[0]

    @property
    def failure(self) -> Result | None:
        """The first result without a release; None where every repeat has one."""
        return next((one for one in self.results if one.status != "finished"), None)

    def figure(self, axis: Axis) -> Spread | None:
        """Return a figure over all repeats; None where one of them lacks it."""
        values = [value_of(result, axis) for result in self.results]
        known = [value for value in values if value is not None]
        if self.failure is not None or len(known) < len(values):
            return None
        return Spread(fmean(known), min(known), max(known))


class Axis(NamedTuple):
    """A figure: its question and its part."""

    question: str
    part: str = ""

    @classmethod
    def read(cls, text: str) -> Axis:
        """Return the figure that a text names.

        >>> Axis.read("k"), Axis.read("edge-jaccard: all").part
        (Axis(question='strength', part='k'), 'all')
        """
        if text in STRENGTHS:
            return cls("strength", text)
        question, _, part = (word.strip() for word in text.partition(":"))
        return cls(question, part)

    def __str__(self) -> str:
        """Return the text that names it."""
        if self.question == "strength":
            return self.part
        return f"{self.question}: {self.part}" if self.part else self.question


def value_of(result: Result, axis: Axis) -> float | None:
    """Return a figure of one release; None where it has none."""
    for row in result.rows:
        if row["question"] == axis.question and row["part"] == axis.part:
            value: float | None = row["value"]
            return value
    return None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SweptPoints:
    """The points of a sweep with their results: what tables, pictures and answers are made of.

    `plan, results, folder`: as in `graphveil.Sweep`.
    """

    plan: Plan
    results: Mapping[int, Result]
    folder: Path | None = None

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """The methods of its points, in the order of the plan."""
        return tuple(dict.fromkeys(point.method for point in self.plan.points))

    @cached_property
    def rows(self) -> pa.Table:
        """Every figure as an Arrow table, a column a field and a column a parameter.

        A point without a release is one row with its status and its reason.
        """
        return table_of(self.plan, self.results)

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """The points, the repeats of each together, in the order of the plan."""
        together: dict[str, list[Point]] = {}
        for point in self.plan.points:
            together.setdefault(f"{point.method} {point.parameters!r}", []).append(point)
        return tuple(
            Setting(tuple(points), tuple(self.results[point.number] for point in points))
            for points in together.values()
        )

    @cached_property
    def axes(self) -> dict[Axis, str]:
        """Every figure that some point has, with its direction."""
        known: dict[Axis, str] = {}
        for result in self.results.values():
            for row in result.rows:
                if row["value"] is not None:
                    known.setdefault(Axis(row["question"], row["part"]), row["direction"])
        return known

    def axis(self, text: str) -> Axis:
        """Return a figure that some point has, by its name.

        Raises `ParameterError` where no point has it.
        """
        axis = Axis.read(text)
        if axis not in self.axes:
            raise ParameterError(f"no point has {text!r}. {one_of(text, self.axes)}")
        return axis

    @property
    def usual(self) -> tuple[list[Axis], Axis | None, Axis | None]:
        """The figures that are shown: of strength, of an attack, and of use."""
        strengths = [axis for axis in map(Axis.read, STRENGTHS) if axis in self.axes]
        attacked = (axis for axis in map(Axis.read, ATTACKED) if axis in self.axes)
        uses = (axis for axis in map(Axis.read, USES) if axis in self.axes)
        return strengths, next(attacked, None), next(uses, None)

    def chosen(self, x: str | None, y: str | None) -> tuple[Axis, Axis]:
        """Return two figures by their names; where not given, those that `frontier` takes.

        Raises `ParameterError` where no point has such a figure.
        """
        strengths, attack, use = self.usual
        across = self.axis(x) if x else attack or (strengths[0] if strengths else None)
        up = self.axis(y) if y else use
        if across is None or up is None:
            raise ParameterError(
                "no point has two figures. Choose x and y, or run a sweep with other points."
            )
        return across, up

    def frontier(self, x: str | None = None, y: str | None = None) -> pa.Table:
        """Return two figures of every point that has both, and which points no other one beats.

        `x, y`: figures: ``k``, ``epsilon``, ``kept``, ``false``, ``largest class risk``, or a part
        of a metric or an attack, such as ``edge-jaccard: all``. Where not given: an attack, else
        the strength; and a share of what is kept and true. Returns the columns point (the number of
        the first repeat), method, parameters, x and y (means over the repeats) and best: whether no
        other point is better in one and not worse in the other. Raises `ParameterError` where no
        point has such a figure.
        """
        across, up = self.chosen(x, y)
        places = [
            (setting, (first.mean, second.mean))
            for setting in self.settings
            if (first := setting.figure(across)) and (second := setting.figure(up))
        ]
        best = pareto_front([pair for _, pair in places], (self.axes[across], self.axes[up]))
        names = {"point": "number", "method": "method", "parameters": "given"}
        columns: dict[str, list[Any]] = {
            column: [getattr(setting.first, name) for setting, _ in places]
            for column, name in names.items()
        }
        columns |= {name: [pair[at] for _, pair in places] for at, name in enumerate("xy")}
        return pa.table(columns | {"best": best})

    def meeting(self, bounds: Sequence[str]) -> list[int]:
        """Return the numbers of the points whose release keeps every bound.

        `bounds`: as `graphveil.advise` takes them, such as ``"kept >= 0.9"``. Raises
        `ParameterError` where a bound cannot be read, or no point has its figure.
        """
        read = [self._of_a_part(read_bound(text)) for text in bounds]
        for bound in read:
            self.axis(bound.what)
        return [n for n, result in self.results.items() if _keeps(result, read)]

    def _of_a_part(self, bound: Bound) -> Bound:
        """Return a bound on the only part of a metric or an attack, where none is named."""
        parts = [axis.part for axis in self.axes if axis.question == bound.question]
        if bound.part or not parts:
            return bound
        return dataclasses.replace(bound, part=part_of(bound, parts))

    @property
    def counts(self) -> dict[str, int]:
        """How many points ended in each way."""
        return dict(Counter(result.status for result in self.results.values()))


def _keeps(result: Result, bounds: Sequence[Bound]) -> bool:
    """Whether a release has a figure for every bound, and keeps it."""
    values = [value_of(result, Axis(bound.question, bound.part)) for bound in bounds]
    return result.status == "finished" and all(
        value is not None and bound.holds(value)
        for value, bound in zip(values, bounds, strict=True)
    )


def pareto_front(pairs: Sequence[tuple[float, float]], directions: tuple[str, str]) -> list[bool]:
    """Return of every pair whether no other is better in one figure and not worse in the other.

    >>> pareto_front([(0.1, 0.5), (0.2, 0.9), (0.3, 0.8)], ("lower is better", "higher is better"))
    [True, True, False]
    """
    signs = [-1 if direction == "lower is better" else 1 for direction in directions]
    signed = [(x * signs[0], y * signs[1]) for x, y in pairs]
    return [
        not any(other != one and other[0] >= one[0] and other[1] >= one[1] for other in signed)
        for one in signed
    ]
