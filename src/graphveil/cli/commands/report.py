"""`graphveil report DIR`: a page that a person can hand on."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphveil.claims.neighbors import check_outside
from graphveil.claims.record import private_folder
from graphveil.cli.answer import print_answer
from graphveil.cli.console import bars, result, say
from graphveil.cli.flags import (
    NEW_FILE,
    OUTPUT_GROUP,
    Flag,
    flag,
    flags,
    path_argument,
    with_signature,
)
from graphveil.cli.inputs import original_flags, original_of
from graphveil.cli.outputs import check_new_file
from graphveil.core.atomic import is_output
from graphveil.core.errors import UsageError
from graphveil.core.progress import shown
from graphveil.verbs.sweep.folder import is_sweep

if TYPE_CHECKING:
    from graphveil.pages.report.document import Form


def _run(folder: Path, **given: Any) -> int:
    if is_sweep(folder):
        return _of_a_sweep(folder, given)
    from graphveil.pages.answers.promise import verdict_lines  # noqa: PLC0415  as above
    from graphveil.pages.report.document import page_of  # noqa: PLC0415  not for its help
    from graphveil.pages.report.report import report_release  # noqa: PLC0415  as above

    if given.pop("paper") is not None:
        raise UsageError(f"--paper writes about a sweep, but {folder} is not one. Remove it.")
    path, out, force = given.pop("original"), given.pop("out"), given.pop("force")
    figures = given.pop("figures")
    asked = {name: given.pop(name) for name in ("recipient", "declared", "seed")}
    attacks: list[str] = given.pop("attacks") or []
    form: Form = given.pop("form") or "html"
    is_page = form == "html"
    private = private_folder(folder).is_dir()
    public = given.pop("public") or not is_page or (path is None and not private)
    if public and path is not None:
        raise UsageError("a public report uses no original. Remove --original.")
    file = out or page_of(folder, public=public, form=form)
    if out is None and not public and not private:
        raise UsageError(
            f"{private_folder(folder)} does not exist. Give a file name: --out FILE.html."
        )
    if figures is not None:
        check_new_folder(figures, is_page=is_page)
    if (folder / "release.json").is_file():
        force = force or (out is None and path is not None and _has_no_attacks(file, folder))
        check_new_file(file, [path, asked["declared"]], force=force, is_page=True)
    read = nullcontext() if path is None else original_of(folder, path, given)
    with shown(bars()), read as original:
        made = report_release(folder, original, public=public, form=form, attacks=attacks, **asked)
    made.write(file, force=force)
    written = [file, *([] if figures is None else made.write_figures(figures))]
    print_answer(verdict_lines(made.verdict)[0])
    for question, answer in made.answers:
        print_answer(f"{question} {answer}")
    for one in written:
        result(f"written: {one}")
    if not public:
        say(
            f"This report is for the data owner only. To publish one: graphveil report {folder} "
            "--public"
        )
    return made.exit_code


def _has_no_attacks(page: Path, folder: Path) -> bool:
    """Whether this is the owner's page of this very release, made without its original."""
    from graphveil.pages.report.report import read_manifest_or_refuse  # noqa: PLC0415  as above
    from graphveil.pages.report.sections import attacked_of  # noqa: PLC0415  as above

    manifest = read_manifest_or_refuse(folder)
    if manifest is None or not page.is_file():
        return False
    text, (without, _) = page.read_text(errors="replace"), attacked_of((), public=False)
    return is_output(page) and without in text and manifest.seal in text


def _of_a_sweep(folder: Path, given: dict[str, Any]) -> int:
    """Write the page of a sweep, which is its owner's."""
    from graphveil.pages.paper_kit import write_paper  # noqa: PLC0415  few folders are of sweeps
    from graphveil.pages.sweep import report_sweep  # noqa: PLC0415  as above
    from graphveil.verbs.sweep.results import (  # noqa: PLC0415  as above
        answer_of,
        warning_of,
    )
    from graphveil.verbs.sweep.sweep import read_sweep  # noqa: PLC0415  as above

    out, force, figures = given.pop("out"), given.pop("force"), given.pop("figures")
    paper = given.pop("paper")
    wrong = next((name for name, value in given.items() if value), None)
    if wrong is not None:
        flag_name = {"form": "as"}.get(wrong, wrong).replace("_", "-")
        raise UsageError(
            f"{folder} is a sweep, but --{flag_name} applies to one release. Remove it, or give "
            "a release from the sweep's points folder."
        )
    file = out or folder / "report.html"
    if out is not None:
        check_new_file(file, [], force=force, is_page=True)
    for flag_name, new in (("--figures", figures), ("--paper", paper)):
        if new is not None:
            check_new_folder(new, is_page=True, flag_name=flag_name)
    done = read_sweep(folder)
    page = report_sweep(done)
    page.write(file, force=force or out is None)
    written = [file, *([] if figures is None else page.write_figures(figures))]
    written += [] if paper is None else write_paper(done, paper)
    result(answer_of(done, (), None))
    if warning := warning_of(done):
        print_answer(warning)
    for one in written:
        result(f"written: {one}")
    say("This report is for the data owner only, like the sweep.")
    if paper is not None and done.plan.seed is not None:
        say(f"{paper / 'origin.json'} holds the seed of the sweep: remove it before you share it.")
    return 0


def check_new_folder(folder: Path, *, is_page: bool, flag_name: str = "--figures") -> None:
    """Refuse a folder of figures that cannot be written, before any work is done."""
    if not is_page:
        raise UsageError(
            "--figures draws pictures of the page, but --as writes no page. Remove one of them."
        )
    if os.path.lexists(folder):
        raise UsageError(f"{folder} exists. Choose another name for {flag_name}.")
    if not folder.resolve().parent.is_dir():
        raise UsageError(f"{folder.resolve().parent} does not exist. Create it.")
    check_outside(folder)


command = with_signature(
    _run,
    [
        path_argument("dir", "Folder of a release or a sweep."),
        *original_flags(),
        *flags(
            None,
            {
                "attacks": Flag(
                    list[str] | None,
                    "Additional attacks to run that are not run by default, such as "
                    "alignment; or all.",
                ),
                "public": Flag(
                    bool,
                    "Write the report for publication: only what follows from the released files.",
                    default=False,
                ),
            },
        ),
        flag(
            "recipient",
            Literal["public", "named", "controlled"] | None,
            "Who receives the release: the public, named recipients, or recipients under "
            "controlled access.",
            default=None,
        ),
        *flags(
            None,
            {
                "declared": Flag(
                    Path | None,
                    "TOML file with the owner's declarations: purpose, other_data, motive, review.",
                ),
                "seed": Flag(int | None, "Seed that makes sampled figures repeatable."),
            },
        ),
        flag(
            "form",
            Literal["croissant", "datapackage", "json"] | None,
            "Write a machine-readable description instead of the page.",
            default=None,
            group=OUTPUT_GROUP,
            spelled="--as",
        ),
        *flags(
            OUTPUT_GROUP,
            {
                "out": Flag(
                    Path | None,
                    "File to write [default: DIR.private/report.html, or DIR-report.html "
                    "with --public].",
                ),
                "figures": Flag(
                    Path | None,
                    "New folder for the pictures of the page: SVG, and PDF with the figures extra.",
                ),
                "paper": Flag(
                    Path | None,
                    "For a sweep: new folder with LaTeX tables, PDF figures, BibTeX, "
                    "seeds and versions.",
                ),
                **NEW_FILE,
            },
        ),
    ],
    name="report",
    text="Write a report: can anyone be singled out, linked or inferred?\n\nWrites one HTML "
    "file without scripts: for the data owner or, with --public, for anyone. If a release "
    "does not keep its guarantee, the report says so first, and the exit code is 1.\n\nFor "
    "a sweep, the report compares what each point keeps with what can be learned from it.\n"
    "\nExample: graphveil report friends-k5 --original friends.csv",
)
