"""Sweeps put together by hand: real plans and results with the figures that a test needs."""

from __future__ import annotations

from graphveil.core.rows import Row
from graphveil.verbs.sweep.grid import Plan, Point, Result
from graphveil.verbs.sweep.points import Axis
from graphveil.verbs.sweep.results import Sweep


def figure_row(name, value, **fields):
    """Return a row of a figure by the name of its axis, such as ``kept`` or ``a: b``."""
    axis = Axis.read(name)
    lower = {"direction": "lower is better"} if "right guess" in name else {}
    known = {"direction": "higher is better", "unit": "share"} | lower | fields
    return Row(release="x", question=axis.question, part=axis.part, value=value, **known)


def sweep_of(*points, repeats=1, kind="graph"):
    """Return a sweep of points ``(method, parameters, rows)``, numbered from 1.

    In place of rows a point may have the fields of its `Result`: one without a release.
    Points of one method and parameters are repeats of each other.
    """
    planned, results = [], {}
    for number, (method, parameters, rows) in enumerate(points, start=1):
        given = " ".join(f"{name}={value}" for name, value in parameters.items())
        planned.append(
            Point(
                number=number, method=method, parameters=parameters, given=given, draw=1, seed=None
            )
        )
        fields = rows
        if not isinstance(rows, dict):
            fields = {"status": "finished", "rows": [row.as_dict() for row in rows]}
        results[number] = Result(number=number, **fields)
    plan = Plan(
        points=planned,
        input_sha256="0" * 64,
        kind=kind,
        repeats=repeats,
        seed=None,
        measuring_seed=1,
        metrics=None,
        attacks=None,
        cpu_seconds=None,
        reading={},
        format="edges",
    )
    return Sweep(plan=plan, results=results)
