"""The process of a job: it calls graphveil's verbs and says what they find, one line of JSON each.

`python -m graphveil.app.work` reads a task (`graphveil.app.tasks`). What is found is said at once:
the guarantee before attacks, the middle strength before the others.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec

from graphveil import io
from graphveil.app.jobs import defect_in, load, refusal_of
from graphveil.app.tasks import Bounds, Check, Explore, Release, StudySettings, Task
from graphveil.app.ways import OWN, TRUTHFUL, WAYS, Way, way_named
from graphveil.attacks.registry import ATTACKS
from graphveil.attacks.wording import counted_in
from graphveil.claims.conditions import accepted_narrowing
from graphveil.claims.facts import digest_of_file
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.claims.manifest import MANIFEST, read_manifest
from graphveil.core.bounds import read_bound
from graphveil.core.errors import GraphveilError
from graphveil.core.progress import heard, shown
from graphveil.core.rows import Row, Rows
from graphveil.core.text import Wording, for_people, worded_for_page
from graphveil.data import Data
from graphveil.data.kinds import as_released
from graphveil.evaluate import wording
from graphveil.measures import measure
from graphveil.methods.attached import ShownError
from graphveil.methods.registry import method_named
from graphveil.pages.answers import attacks
from graphveil.pages.answers.attacks import strongest
from graphveil.pages.answers.standing_out import knowledge
from graphveil.release import read_release
from graphveil.release.options import RunOptions
from graphveil.verbs.advise.strengths import Point, compared, most_found
from graphveil.verbs.advise.trials import shares_of
from graphveil.verbs.advise.until import reached_by
from graphveil.verbs.anonymize import anonymize, anonymize_file
from graphveil.verbs.attack import attack_release, concerns
from graphveil.verbs.evaluate import evaluate_release
from graphveil.verbs.read import Original, read_original
from graphveil.verbs.verify import verify_release
from graphveil.verify.verdict import OF_THE_FOLDER

SECONDS = 20.0
"""So long all attacks of one strength may take."""


Say = Callable[..., None]


def explore(say: Say, task: Explore) -> None:
    """Measure who can be singled out; try a method at every strength, and others in the middle."""
    study, kind, of_table = task.study, task.study.kind, task.study.kind == "table"
    first, word = way_named(kind, task.method), worded_for_page(kind)
    others = [] if first.parameter == OWN else _fitting(study)
    todo = [(first, strength) for strength in first.strengths]
    todo += [(way, way.strengths[0]) for way in others if way != first]
    say(stage="Reading the file", done=0, of=len(todo) + 2)
    data = io.load(Path(task.path), study.reading(exact=of_table)).data
    say(stage="Measuring the risk", done=1, of=len(todo) + 2)
    _risk(say, data, study.roles.known or None)
    made: list[tuple[Point, dict[tuple[str, str], Row]]] = []
    refused: list[ShownError] = []
    for done, (way, strength) in enumerate(todo, 2):
        point = {"method": way.method, "parameter": way.parameter, "strength": strength}
        point |= {"is_true": way.method in TRUTHFUL, "named": way.named(strength, study)}
        say(stage=f"Trying {way.method}, {point['named']}", done=done, of=len(todo) + 2)
        try:
            found, rows = _tried(data, way, strength, study)
        except ShownError as error:
            refused.append(error)
            say(add="points", value=point | {"failed": error.found})
            say(found="shown", value=_shown(refused))
            continue
        except GraphveilError as error:
            say(add="points", value=point | {"failed": word(str(error))})
            continue
        say(add="points", value=point | found)
        if way == first:
            most = most_found(rows, counted_in(data), of_table=of_table)
            made.append((Point(strength, found["kept"]), most))
        if way == first and len(made) == len(first.strengths):
            made.sort(key=lambda one: one[0].value, reverse=way.parameter != "k")
            say(found="hardly", value=compared(made, data, way.method, way.parameter).warning)


def _fitting(study: StudySettings) -> list[Way]:
    """Return the ways that keep the roles that were chosen, and directions that matter."""
    ways = [way for way in WAYS[study.kind] if way.parameter != OWN]
    if study.kind == "network":
        is_directed = study.options["directed"] == "keep"
        return [way for way in ways if (way.method == "profile") == is_directed]
    counts_rows = not study.options.get("household")
    return ways if counts_rows and not (study.roles.attach or study.roles.label) else ways[:1]


def _shown(errors: Sequence[ShownError]) -> dict[str, Any]:
    """Return what attached columns show in the worst of these releases, and what can be accepted.

    `share`: the share of hidden cells that covers it; None where most of them would be shown.
    """
    worst = max(errors, key=lambda one: (one.share is None, one.share))
    return {"words": worst.found, "columns": worst.columns, "share": worst.share}


def bounds(say: Say, task: Bounds) -> None:
    """Find for each method the strength that keeps bounds."""
    study, ways = task.study, _fitting(task.study)
    data = io.load(Path(task.path), study.reading(exact=study.kind == "table")).data
    asked = [read_bound(one) for one in task.until]
    for done, way in enumerate(ways):
        say(stage=f"Looking for a strength of {way.method}", done=done, of=len(ways))
        method = method_named(way.method)
        given = way.parameters(None, study)
        del given[way.parameter]
        people = as_released(data, method.accepts[0])
        found = reached_by(method, people, asked, lambda *_: {}, seconds=SECONDS, given=given)
        if found is not None:
            strength = found.parameters[way.parameter]
            said = {"method": way.method, "strength": strength, "met": found.met}
            said |= {"kept": found.kept, "false": found.false, "reason": found.reason}
            say(add="reached", value=said | {"named": way.named(strength, study)})


def _risk(say: Say, data: Any, known: list[str] | None) -> None:
    """Say how many people share what is known of them, and which column adds most."""
    name = "columns" if data.people is data else "known"
    columns: dict[str, Any] = {} if known is None else {name: known}
    risk = measure(data, **columns)
    sizes, n = risk.own_sizes, int(risk.own_sizes.size)
    knows = knowledge(risk, word=partial(for_people, names=known or ()))
    ends = ((1, 1), (2, 4), (5, 9), (10, max(n, 10)))
    groups = [int(((sizes >= low) & (sizes <= high)).sum()) for low, high in ends]
    value = {"people": n, "unique": groups[0], "knows": knows, "groups": groups}
    value["of"] = data.person if getattr(data, "units", None) is not None else "people"
    say(found="risk", value=value)
    if known is None or len(known) < 2:
        return
    rests = {one: columns | {name: [two for two in known if two != one]} for one in known}
    without = {one: measure(data, **rest).uniqueness for one, rest in rests.items()}
    most = min(without, key=lambda one: without[one])
    say(found="column", value={"name": most, "before": risk.uniqueness, "after": without[most]})


def _tried(
    data: Any, way: Way, strength: float, study: StudySettings
) -> tuple[dict[str, Any], Rows]:
    """Return what a release of this strength keeps, and whom the strongest attack re-identifies."""
    release = anonymize(data, way.method, **way.parameters(strength, study))
    kept, false = shares_of(release.cost)
    if kept is None and study.kind in ("graph", "network"):
        rows = evaluate_release(release, data, metrics=["edges-kept"])
        kept = next((row.value for row in rows if row.part == "share"), None)
    rows = attack_release(release, data, attacks=way.attacks, seconds=SECONDS)
    word = worded_for_page(study.kind)
    worst = strongest(rows, of_table=study.kind == "table", word=word)
    ran = {row.question for row in rows} & {*way.attacks}
    share, sentence = (0.0, "") if worst is None else worst
    exact = release.cost.get("exact_share")  # kept counts wider values, too
    said: dict[str, Any] = {
        "kept": kept if exact is None else exact,
        "exact": exact is not None,
        "false": false,
    }
    said |= {"risk": share if ran else None, "who": sentence}
    return said, rows


def release(say: Say, task: Release) -> None:
    """Make a release, verify it, compare it with the original, and attack it."""
    study, path, out = task.study, task.path, task.out
    way, word = way_named(study.kind, task.method), worded_for_page(study.kind)
    say(stage="Making the release", done=0, of=6)
    made = method_named(way.method).from_parameters(way.parameters(task.strength, study))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        anonymize_file(made, Path(path), RunOptions(out=Path(out)), options=study.reading())
    notes = [word(str(one.message)) for one in caught]
    share = study.roles.may_narrow
    notes += [] if share is None else [accepted_narrowing(share)]
    say(found="notes", value=list(dict.fromkeys(notes)))
    say(found="made", value=digest_of_file(Path(out) / MANIFEST))
    say(stage="Verifying the guarantee", done=1, of=6)
    nodes = study.reading().nodes if study.options.get("nodes") else None
    original = read_original(out, path, {"nodes": nodes} if nodes else {})
    verdict = verify_release(out, original)
    say(found="verdict", value=_said(verdict, word))
    say(stage="Writing the public report", done=2, of=6)
    _write_report(say, out, None)
    say(stage="Comparing with the original", done=3, of=6)
    data, published = original.data, read_release(out)
    kept = evaluate_release(published, data)
    attached = [*study.roles.attach, *study.roles.label]
    stars = [row for row in kept if row.question == "stars-by-column" and row.value is not None]
    columns = [(row.part, 1 - (row.value or 0.0), row.part in attached) for row in stars]
    said = wording.answers(kept, word=word)
    lines = [(one.question, one.figure, one.unit) for one in said]
    value: dict[str, Any] = {"headline": wording.headline(kept, word=word)}
    say(found="kept", value=value | {"columns": columns, "lines": lines})
    names, of_table = _attacks_on(type(published.data), published.guarantee), study.kind == "table"
    every: list[Any] = []
    for done, name in enumerate(names, 1):
        say(stage=f"Attacking the release: {name}", done=3 + done, of=5 + len(names))
        try:
            every += attack_release(published, data, attacks=[name], seconds=SECONDS)
        except GraphveilError:
            continue
        rows = Rows(every)
        groups = [*map(_group, attacks.groups(rows, of_table=of_table, word=word))]
        first = attacks.headline(rows, of_table=of_table, word=word)
        value = {"headline": first, "groups": groups}
        value |= {"ran": len({row.question for row in rows}), "of": len(names)}
        say(found="attacks", value=value)
    say(stage="Writing the report for the owner", done=4 + len(names), of=5 + len(names))
    _write_report(say, out, original, rows=Rows([*every, *kept]), verdict=verdict)


def _attacks_on(kind: type[Data], guarantee: AnyGuarantee) -> list[str]:
    fitting = (one for one in ATTACKS.values() if concerns(one, kind, guarantee))
    return [one.name for one in fitting if not one.by_name]


def _number(figure: str) -> float:
    """Return the last number of a figure, such as `1.2 to 3.4`; 0 where there is none."""
    return float([0.0, *re.findall(r"\d+(?:\.\d+)?", figure)][-1])


def _group(group: Any) -> dict[str, Any]:
    """Return the lines of a question, that which is furthest above its guess first."""
    lines = [(one.question, one.figure, one.unit, one.guess, one.answer) for one in group.lines]
    lines.sort(key=lambda line: (line[4] != "yes", _number(line[3]) - _number(line[1])))
    return {"heading": group.heading, "lines": lines}


def _said(verdict: Any, word: Wording = str) -> dict[str, Any]:
    """Return a verdict as a page says it."""
    failing = {check.name for check in verdict.failures()}
    outcome = verdict.answer
    if outcome == "fails" and not failing & {*verdict.promised} and failing & {*OF_THE_FOLDER}:
        outcome = "changed"
    count = {word: sum(one.outcome == word for one in verdict.checks) for word in _OUTCOMES}
    return {
        "outcome": outcome,
        "word": verdict.word,
        "guarantee": word(verdict.held) if verdict.ok else "",
        "lines": [word(str(line)) for line in verdict.said()],
        "checks": [(word(one.name), one.outcome, word(str(one.detail))) for one in verdict.checks],
        "open": {needs: [word(one) for one in said] for needs, said in verdict.still_open.items()},
        "counts": count,
    }


_OUTCOMES = ("holds", "fails", "not checked")


def _write_report(
    say: Say, folder: str, original: Original | None, page: str | None = None, **measured: Any
) -> None:
    """Write a report, for its owner if there is an original; what was measured is not repeated."""
    from graphveil.pages.report.document import page_of  # noqa: PLC0415  heavy
    from graphveil.pages.report.report import report_release  # noqa: PLC0415  as above

    public = original is None
    made = report_release(folder, original, public=public, **measured)
    written = made.write(page or page_of(folder, public=public), force=True)
    say(found="public" if public else "owner", value=str(written))


def check(say: Say, task: Check) -> None:
    """Verify a release that someone sent, and write a report of it."""
    say(stage="Verifying the release", done=0, of=2)
    verdict = verify_release(task.folder)
    word: Wording = str
    with suppress(GraphveilError):  # a folder whose manifest cannot be read
        manifest = read_manifest(Path(task.folder))
        claim = manifest.claim.guarantee
        names = [n for some in ("known", "layers") for n in getattr(claim, some, None) or ()]
        word = worded_for_page(manifest.data.kind, names)
    say(found="verdict", value=_said(verdict, word))
    say(stage="Writing the report", done=1, of=2)
    _write_report(say, task.folder, None, task.page)


JOBS: dict[str, Callable[..., None]] = {
    job.__name__: job for job in (explore, bounds, release, check)
}


def run(stream: IO[str], task: Task) -> None:
    """Run a job; the last message says how it ended."""

    def say(**message: Any) -> None:
        stream.write(f"{json.dumps(message)}\n")
        stream.flush()

    @contextmanager
    def display(stage: str, total: int | None) -> Iterator[Callable[[int], None]]:
        done, last = 0, time.monotonic()

        def advance(more: int) -> None:
            nonlocal done, last
            done += more
            if time.monotonic() - last > 0.5:
                last = time.monotonic()
                say(detail=f"{stage}: {done:,} of {total:,}" if total else stage)

        say(detail=stage)
        yield advance

    try:
        with shown(display), heard(lambda text: say(detail=text)):
            JOBS[task.verb](say, task)
        say(end="done", why="")
    except ShownError as error:
        say(found="shown", value=_shown([error]))
        say(end="refused", why="A column that is published unchanged shows what the release hides.")
    except GraphveilError as error:
        say(end="refused", why=str(error))
    except OSError as error:
        say(end="failed", why=refusal_of(error))
    except Exception as error:  # noqa: BLE001  the page says that it is a defect
        say(end="defect", why=defect_in(error))


def _end_with(server: int) -> None:
    """End once the server has ended, whatever ended it: nobody could see what is found."""
    while os.getppid() == server:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)  # the main thread clears away what it began


def main() -> None:
    """Run the job that standard input names."""
    load()
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what anything prints is no message
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # clears away what it began
    warnings.simplefilter("ignore")
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=Task)
    try:
        run(stream, task)
    except KeyboardInterrupt:
        os._exit(143)


if __name__ == "__main__":
    main()
