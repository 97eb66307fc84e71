"""`graphveil demo`: from a network that ships with graphveil to a verified release."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from graphveil import datasets
from graphveil.cli.console import bars, result, say
from graphveil.cli.evaluate import print_rows
from graphveil.cli.flags import flag, with_signature
from graphveil.data import Graph
from graphveil.errors import GraphveilWarning
from graphveil.measures import measure
from graphveil.methods.k_degree import KDegree
from graphveil.progress import shown, stage
from graphveil.release import Release
from graphveil.release.staging import check_target

NETWORK = "copenhagen-calls"
K = 5


def _run(**given: Any) -> int:
    from graphveil.verbs.evaluate import evaluate_release  # noqa: PLC0415  not for its help
    from graphveil.verbs.verify import verify_release  # noqa: PLC0415

    out, force = Path(given["out"]), given["force"]
    check_target(out, force=force)
    with shown(bars()):
        graph = datasets.load("copenhagen-calls")
        if not isinstance(graph, Graph):
            raise TypeError(f"{NETWORK} is a network")
        with stage("measuring"):
            before = measure(graph, k=K)
        result(f"1. the data     {NETWORK}: {graph.n_nodes:,} people, {graph.n_edges:,} ties")
        unprotected = before.unprotected().size
        result(
            f"2. as it is     {unprotected} people share their number of ties with fewer "
            f"than {K - 1} others"
        )
        with stage("anonymizing"):
            release = _anonymize(graph)
        with stage(f"writing {out.name}"):
            release.write(out, force=force)
        result(f"3. released     {_edits(release)}")
        verdict = verify_release(out, graph)
        first, *lines = (line.flags for line in verdict.lines())
        result(f"4. verified     {first}")
        for line in lines:
            result(f"     {line}")
        result("5. what was kept")
        print_rows(evaluate_release(out, graph))
    result("")
    result(f"promise:       {release.guarantee.sentence}")
    result(f"not protected: {release.provenance.limits}")
    result(f"the release:   {out}")
    result(f"for you alone: {out}.private")
    return verdict.exit_code


def _anonymize(graph: Graph) -> Release[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphveilWarning)
        release = KDegree(k=K).anonymize(graph)
    for text in release.private.warnings if release.private else ():
        say(f"warning: {text}")
    return release


def _edits(release: Release[Any]) -> str:
    cost = release.private.cost if release.private else {}
    return (
        f"k-degree, k={K}: {cost['edges_added']} ties added, {cost['edges_deleted']} deleted "
        f"(no release with this promise needs fewer than {cost['edits_lower_bound']} edits)"
    )


command = with_signature(
    _run,
    [
        flag(
            "out",
            Path,
            "Folder of the release.",
            default=Path("graphveil-demo"),
        ),
        flag("force", bool, "Replace an earlier demo's folder.", default=False, negative=""),
    ],
    name="demo",
    text="The whole way, on data that ships with graphveil.\n\n"
    "Measures, anonymizes, writes, verifies and evaluates a phone-call network of 536 people.\n\n"
    "Example: graphveil demo --out first-release",
)
