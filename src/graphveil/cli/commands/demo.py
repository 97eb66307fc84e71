"""`graphveil demo`: from a network that ships with graphveil to a verified release.

Like the pages, it says person and connection.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.cli import say_warnings
from graphveil.cli.answer import ALL_FLAG, print_answer, print_next
from graphveil.cli.console import bars, result
from graphveil.cli.flags import Flag, flags, with_signature
from graphveil.core.errors import ReleaseError
from graphveil.core.progress import shown, stage
from graphveil.core.text import for_people
from graphveil.release.publishing import check_target

if TYPE_CHECKING:
    from graphveil.core.rows import Rows
    from graphveil.verify.verdict import Verdict

K = 5


def _run(**given: Any) -> int:
    from graphveil.claims.manifest import read_manifest  # noqa: PLC0415  as above
    from graphveil.claims.record import read_record  # noqa: PLC0415  as above
    from graphveil.cli.commands.anonymize import print_release  # noqa: PLC0415
    from graphveil.cli.commands.evaluate import print_answers, print_rows  # noqa: PLC0415
    from graphveil.cli.commands.measure import print_standing_out  # noqa: PLC0415
    from graphveil.cli.commands.verify import print_verdict  # noqa: PLC0415
    from graphveil.cli.outputs import check_new_file  # noqa: PLC0415
    from graphveil.io import datasets  # noqa: PLC0415  not for its help
    from graphveil.measures import measure  # noqa: PLC0415
    from graphveil.methods.k_degree import KDegree  # noqa: PLC0415
    from graphveil.pages.report.document import page_of  # noqa: PLC0415
    from graphveil.verbs.evaluate import evaluate_release  # noqa: PLC0415
    from graphveil.verbs.verify import verify_release  # noqa: PLC0415

    out, force, every = Path(given["out"]), given["force"], given["all"]
    check_target(out, force=force)
    check_new_file(page_of(out, public=True), [], force=force, is_page=True)
    with shown(bars()):
        graph = datasets.load("copenhagen-calls")
        print_answer(
            f"Example: a network of {graph.n_nodes:,} people with {graph.n_edges:,} connections."
        )
        _step(1, "How identifiable are the people in it?")
        with stage("measuring"):
            print_standing_out(measure(graph, k=K), word=for_people)
        _step(2, f"Anonymize it with k-degree, k={K}.")
        with stage("anonymizing"):
            release = KDegree(k=K).anonymize(graph)
        with stage(f"writing {out.name}"):
            release.write(out, force=force)
        record = read_record(out)
        if record is None:
            raise ReleaseError(f"{out}: its private folder is missing. Run the demo again.")
        limits = KDegree(k=K).limits()
        print_release(read_manifest(out), limits, record, out, word=for_people)
        say_warnings(every=every)
        _step(3, "Verify the guarantee.")
        with stage("verifying"):
            verdict = verify_release(out, graph)
        print_verdict(verdict, every=every, word=for_people)
        _step(4, "What was kept?")
        rows = evaluate_release(out, graph)
        if every:
            print_rows(rows)
        else:
            print_answers(rows, word=for_people)
        _attacked_and_reported(out, graph, rows, verdict, force=force)
    result("")
    print_next("graphveil measure YOUR-FILE.csv")
    return verdict.exit_code


def _attacked_and_reported(
    out: Path, graph: Any, rows: Rows, verdict: Verdict, *, force: bool
) -> None:
    """Attack the release, and make the page for the owner and the one to hand on."""
    from graphveil.cli.commands.attack import print_headline  # noqa: PLC0415  not for its help
    from graphveil.core.rows import Rows  # noqa: PLC0415
    from graphveil.pages.report.document import page_of  # noqa: PLC0415
    from graphveil.pages.report.report import report_release  # noqa: PLC0415
    from graphveil.verbs.attack import attack_release  # noqa: PLC0415

    _step(5, "What can an attacker still learn?")
    with stage("attacking"):
        attacked = attack_release(out, graph)
    print_headline(attacked, word=for_people)
    _step(6, "Write the report.")
    every_row = Rows([*rows, *rows.missing, *attacked, *attacked.missing])
    with stage("making the owner's page"):
        own = report_release(out, graph, rows=every_row, verdict=verdict)
    with stage("making the public page"):
        public = report_release(out, public=True)
    for page, whose in ((own, "Keep private"), (public, "Publish")):
        where = page_of(out, public=page is public)
        page.write(where, force=force)
        result(f"{whose}: {where}")


def _step(number: int, title: str) -> None:
    result("")
    result(f"{number}. {title}")


command = with_signature(
    _run,
    [
        *flags(
            None, {"out": Flag(Path, "Folder for the release.", default=Path("graphveil-demo"))}
        ),
        ALL_FLAG,
        *flags(
            None, {"force": Flag(bool, "Replace the folder of an earlier demo.", default=False)}
        ),
    ],
    name="demo",
    text="See every step once, on data that ships with graphveil.\n\nMeasures, anonymizes, "
    "verifies, evaluates and attacks a phone-call network of 536 people, and writes both "
    "reports.\n\nExample: graphveil demo --out first-release",
)
