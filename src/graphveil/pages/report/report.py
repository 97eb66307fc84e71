"""The verb report: a page that a person can hand on, or a description for machines."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from graphveil.attacks.wording import counted_in
from graphveil.claims.manifest import Manifest, manifest_bytes, read_manifest
from graphveil.claims.record import Record, private_folder, read_record
from graphveil.core.errors import GraphveilError, ReleaseError, UsageError
from graphveil.core.parameters import separate_names
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Rows
from graphveil.core.text import Wording, worded_for_page
from graphveil.data.kinds import kind_of
from graphveil.evaluate.comparison import Comparison
from graphveil.evaluate.measuring import comparison_of, measured
from graphveil.evaluate.metrics.registry import METRICS
from graphveil.evaluate.wording import answers
from graphveil.pages.figures import of_page
from graphveil.pages.html import Page, html_of
from graphveil.pages.report.document import Form, Report, command_line
from graphveil.pages.report.legal_questions import Answers, Findings, answers_of
from graphveil.pages.report.machine import FORMS, json_text, read_declared, recipient_of
from graphveil.pages.report.sections import (
    attacked_of,
    commands_of,
    findings_of,
    kinds_of_people,
    most_unique,
    of_data,
    of_release,
    title_of,
    versions_of,
)
from graphveil.release import Release, read_release
from graphveil.verbs.read import Original, as_release, original_data, read_original, refuse_release
from graphveil.verbs.verify import verify_release
from graphveil.verify.verdict import Verdict

AS_ORIGINAL = "The same attacks on the original with new ids"


def report_release(  # noqa: PLR0913  each is a fact about the page
    release: Release[Any] | str | Path,
    original: Any = None,
    *,
    public: bool | None = None,
    form: Form = "html",
    recipient: str | None = None,
    declared: str | Path | None = None,
    attacks: Sequence[str] = (),
    seed: int | None = None,
    rows: Rows | None = None,
    verdict: Verdict | None = None,
) -> Report:
    """Return a report of a release; a public one says only what follows from the released files.

    Parameters
    ----------
    release
        A release, or the folder of one.
    original
        The data that it was made from, an object that holds it, or the name of its file. Without it
        nothing is attacked or compared.
    public
        Whether the report may be published. Where not given: where neither the original nor the
        owner's private folder is there.
    form
        ``html`` for a page; ``croissant``, ``datapackage`` or ``json`` for machines, always public.
    recipient
        To whom it is released: ``public``, ``named`` or ``controlled``.
    declared
        A TOML file of what else the owner declares.
    attacks
        Attacks that run only where they are named.
    seed
        For what is sampled.
    rows
        What attacks on this release, and comparisons where there are some, have already measured:
        none of it is measured again, and the original with new ids is not attacked.
    verdict
        What was already verified of this release, next to the original.

    Returns
    -------
    Report
        The page or the description, with its verdict and figures.

    Raises
    ------
    ReleaseError
        Where the folder is not a release.
    UsageError
        Where rows or a verdict are given for a public report, which is made from the files alone;
        where the verdict is of another guarantee; where the original is another one; or where what
        is declared or asked for is unknown.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> report = report_release(gv.KDegree(k=2).anonymize(graph), public=True)
    >>> report.verdict.ok, report.text[:15], "anonymous" in report.text
    (True, '<!doctype html>', False)
    """
    release = as_release(release, wanted_by="report")
    refuse_release(original)
    if form not in ("html", *FORMS):
        raise UsageError(f"unknown as={form!r}. Use croissant, datapackage or json.")
    says = {} if declared is None else read_declared(declared)
    whom = recipient or says.get("recipient")
    attacks = separate_names(attacks) or []
    recipient_of(whom)
    says |= {} if whom is None else {"recipient": whom}
    measured_before = Before(rows, verdict)
    if (public or form != "html") and measured_before != Before():
        raise UsageError(
            "a public report is made from the released files alone. Leave out rows and verdict."
        )
    if rows is not None and original is None:
        raise UsageError("rows compare a release with its original. Give the original, too.")
    if isinstance(release, Release):
        with tempfile.TemporaryDirectory(prefix="graphveil-") as scratch:
            folder = release.write(Path(scratch, "release"))
            if public or form != "html":
                return _of_files(folder, "release", form, says)
            asked = _Asked(release, folder, original, says, attacks, seed, measured_before)
            return _for_owner(asked)
    if measured_before != Before():
        public = False
    if public is None:
        public = original is None and not private_folder(release).is_dir()
    if public or form != "html":
        return _of_files(release, private_folder(release).name.removesuffix(".private"), form, says)
    return _for_owner(_Asked(release, release, original, says, attacks, seed, measured_before))


class Before(NamedTuple):
    """What was measured and verified before a report is made."""

    rows: Rows | None = None
    verdict: Verdict | None = None


class _Asked(NamedTuple):
    """What an owner's page is made from."""

    release: Release[Any] | Path
    folder: Path
    original: Any
    says: Mapping[str, str]
    attacks: Sequence[str]
    seed: int | None
    before: Before = Before()


@contextmanager
def _released_alone(folder: Path) -> Iterator[Path]:
    """Give a release folder that has nothing next to it, so that nothing private can be read."""
    read_manifest_or_refuse(folder)
    with tempfile.TemporaryDirectory(prefix="graphveil-") as scratch:
        alone = Path(scratch, "release")
        alone.symlink_to(folder.resolve(), target_is_directory=True)
        yield alone


def read_manifest_or_refuse(folder: Path) -> Manifest | None:
    """Return the manifest of a release; None where it is broken."""
    manifest_bytes(folder)
    try:
        return read_manifest(folder)
    except ReleaseError:
        return None


def _of_files(folder: Path, name: str, form: Form, says: Mapping[str, str]) -> Report:
    with _released_alone(folder) as alone:
        return _public(alone, name, form, says)


def _public(folder: Path, name: str, form: Form, says: Mapping[str, str]) -> Report:
    manifest = read_manifest_or_refuse(folder)
    with stage("verifying"):
        verdict = verify_release(folder)
    if form != "html":
        if manifest is None:
            raise ReleaseError(
                f"{name}: cannot read its release.json, so there is no machine-readable "
                "description of it. Make the page, which shows what is wrong."
            )
        text = json_text(FORMS[form](manifest, verdict, name, says))
        return Report(text=text, form=form, public=True, verdict=verdict)
    read = _read(folder, verdict)
    word = _words_for(read, manifest)
    parts = of_release(read, verdict, manifest, says, word)
    asked: tuple[Answers, ...] = ()
    if read is not None:
        parts |= of_data(read, None, word)
        nothing = _nothing_measured(read)
        asked, parts["tests"] = _tests(read, verdict, nothing, word, most_unique(parts["standing"]))
    attacked, _ = attacked_of(parts.get("tests", ()), public=True)
    page = Page(
        public=True,
        attacked=attacked,
        title=title_of(read, None),
        commands=commands_of(manifest, "INPUT", "RELEASE"),
        versions=versions_of(manifest, None),
        **parts,
    )
    return _report(page, verdict, asked)


def _words_for(read: Release[Any] | None, manifest: Manifest | None) -> Wording:
    """Return how the page says a text of this release: names from its data stay."""
    if manifest is None:
        return str
    claim = manifest.claim.guarantee
    names = [name for some in ("known", "layers") for name in getattr(claim, some, None) or ()]
    if read is not None:
        names += read.data.quoted_names
    return worded_for_page(manifest.data.kind, names)


def _tests(
    read: Release[Any], verdict: Verdict, findings: Findings, word: Wording, below: str = ""
) -> tuple[tuple[Answers, ...], tuple[Answers, ...]]:
    """Return the three tests in the words of the command line, and in those of the page."""
    asked = read.guarantee, verdict, type(read.data)
    of_page = replace(findings, word=word, below=below)
    return answers_of(*asked, findings), answers_of(*asked, of_page)


def _nothing_measured(read: Release[Any], command: str | None = None) -> Findings:
    of_table = kind_of(read.data).name == "table"
    return Findings(command=command, counted=counted_in(read.data), of_table=of_table)


def _for_owner(asked: _Asked) -> Report:
    manifest = read_manifest_or_refuse(asked.folder)
    record = read_record(asked.folder)
    original = asked.original
    if isinstance(original, str | Path) and isinstance(asked.release, Path):
        original = read_original(asked.release, original)
    verdict = asked.before.verdict
    if verdict is None:
        with stage("verifying"):
            verdict = verify_release(asked.release, original)
    elif manifest is not None and verdict.sentence != manifest.claim.guarantee.sentence:
        raise UsageError("the verdict is about another guarantee. Verify this release.")
    _refuse_another(verdict, record)
    read = asked.release if isinstance(asked.release, Release) else _read(asked.folder, verdict)
    name = asked.folder.resolve().name
    word = _words_for(read, manifest)
    parts = of_release(read, verdict, manifest, asked.says, word)
    tests: tuple[Answers, ...] = ()
    if read is not None and not verdict.failures():
        pair = data = None
        if original is not None:
            data = original_data(asked.release, original)
            pair = comparison_of(read, data, Randomness(seed=asked.seed), wanted_by="report")
        parts |= of_data(read, pair, word)
        findings, more = _measured(asked, read, (data, pair), name, word)
        tests, parts["tests"] = _tests(read, verdict, findings, word)
        parts |= more
    elif original is not None:
        why = "the release failed verification, so nothing was measured on it"
        parts["missing"] = [("Comparisons and attacks", why)]
    file = original.file.name if isinstance(original, Original) else "INPUT"
    attacked, succeeded = attacked_of(parts.get("tests", ()), public=False)
    if succeeded:
        parts["good"] = None if parts["good"] else parts["good"]
    page = Page(
        public=False,
        attacked=attacked,
        title=title_of(read, name if isinstance(asked.release, Path) else None),
        commands=commands_of(manifest, file, name, folder=asked.folder),
        versions=versions_of(manifest, record),
        **parts,
    )
    return _report(page, verdict, tests)


def _refuse_another(verdict: Verdict, record: Record | None) -> None:
    """Refuse an original that the release was not made from."""
    wrong = {check.name for check in verdict.failures()}
    if "original" in wrong or (record is None and "same size" in wrong):
        raise UsageError(
            "this is not the original: the release was made from other data, or the file was "
            "read differently. Give the right file with the same reading options."
        )


def _read(folder: Path, verdict: Verdict) -> Release[Any] | None:
    """Return the release; None where it does not verify and cannot be read."""
    try:
        return read_release(folder)
    except GraphveilError:
        if not verdict.failures():
            raise
        return None


def _measured(
    asked: _Asked,
    read: Release[Any],
    beside: tuple[Any, Comparison[Any] | None],
    name: str,
    word: Wording,
) -> tuple[Findings, dict[str, Any]]:
    """Return what was measured for the tests, and the sections that compare with the original."""
    original, pair = beside
    command = command_line("report", name, "--original", "INPUT")
    if pair is None:
        return _nothing_measured(read, command), {}
    folder = asked.release if isinstance(asked.release, Path) else None
    findings = findings_of(
        read,
        folder,
        pair,
        original=original,
        attacks=asked.attacks,
        seed=asked.seed,
        command=command,
        rows=asked.before.rows,
    )
    own = [row for row in asked.before.rows or () if row.question in METRICS]
    with stage("comparing"):
        rows = Rows(own) if own else measured("release", pair, None)
    left_out = "figures measured before were passed in"
    unlike = {} if asked.before.rows is None else {"missing": [(AS_ORIGINAL, left_out)]}
    return findings, unlike | {
        "kept": [line for line in answers(rows, word=word) if line.figure],
        "kinds": kinds_of_people(pair.original),
    }


def _report(page: Page, verdict: Verdict, tests: tuple[Answers, ...]) -> Report:
    """Return a report; its answers in short are in the words of the command line."""
    short = tuple((test.heading, test.in_short) for test in tests)
    made: dict[str, Any] = {"text": html_of(page), "answers": short, "figures": of_page(page)}
    return Report(**made, form="html", public=page.public, verdict=verdict)
