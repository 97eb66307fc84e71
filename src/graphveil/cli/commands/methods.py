"""`graphveil methods`: every method, from the registry."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from graphveil.cli.console import result_json, result_table
from graphveil.methods import METHODS


def command(
    *,
    papers: Annotated[
        bool, Parameter(help="List names in the papers, and ours.", negative="")
    ] = False,
    json: Annotated[bool, Parameter(help="Print JSON.", negative="")] = False,
) -> int:
    """Every method: data kind, guarantee, source, cost.

    Example: graphveil methods --json
    """
    if papers:
        return _names(as_json=json)
    rows = [
        {
            "name": method.name,
            "accepts": " or ".join(kind.__name__ for kind in method.accepts),
            "promise": method.card.promise,
            "does_not_protect_against": method.from_parameters(method.card.example).limits(),
            "source": method.card.source,
            "cost": method.card.cost,
        }
        for method in METHODS.values()
    ]
    if json:
        result_json(rows)
    else:
        result_table(
            ["method", "data", "guarantee", "paper", "cost"],
            [[r["name"], r["accepts"], r["promise"], r["source"], r["cost"]] for r in rows],
            whole=(0,),
        )
    return 0


def _names(*, as_json: bool) -> int:
    from graphveil.verbs.reproduce.names import PAPER_NAMES  # noqa: PLC0415  not for its help

    if as_json:
        result_json([name._asdict() for name in PAPER_NAMES])
    else:
        result_table(["paper", "in the paper", "in graphveil"], PAPER_NAMES, whole=(0,))
    return 0
