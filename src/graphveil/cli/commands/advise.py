"""`graphveil advise INPUT`: what each method would guarantee, leave open and cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from graphveil.claims.knowledge import ROWS_AS_ROWS
from graphveil.cli import inputs
from graphveil.cli.answer import print_answer, print_next, wrapped
from graphveil.cli.console import bars, result, result_json, result_table, say
from graphveil.cli.flags import INPUT, INPUT_FORMAT, JSON, OUTPUT_GROUP, Flag, flags, with_signature
from graphveil.cli.kinds import reading_flags, reading_options
from graphveil.cli.outputs import check_new_file
from graphveil.core.errors import UsageError
from graphveil.core.progress import shown
from graphveil.core.text import percent, printable
from graphveil.data.kinds import CONTAINERS, KINDS, kind_of
from graphveil.io import AnyOptions, compression_of
from graphveil.methods import METHODS
from graphveil.pages.advice import advise_page
from graphveil.verbs.advise import Advice, AdviceUntil
from graphveil.verbs.advise.advise import advise
from graphveil.verbs.advise.strengths import instead_of
from graphveil.verbs.advise.trials import sizes_in_words
from graphveil.verbs.advise.until import why_of


def _run(path: Path, **given: Any) -> int:
    as_json, every = given.pop("json"), given.pop("all")
    if given.pop("theory"):
        return _theory(path, given, as_json=as_json)
    return _advise(path, given, as_json=as_json, every=every)


def _advise(path: Path, given: dict[str, Any], *, as_json: bool, every: bool) -> int:
    said = given.get("kind") is not None
    until, seconds, page = given.pop("until"), given.pop("seconds"), given.pop("page")
    if page is not None:
        _check_page(page, path, until)
    if inputs.released_kind(path, given) is not None:
        if page is not None:
            raise UsageError("--page compares trial releases of data, but the input is a release.")
        with shown(bars()):
            data = inputs.released_data(path)
            advice = advise(data, until=until, seconds=seconds) if until else advise(data)
        return _of_a_release(path, advice, as_json=as_json, every=every)
    with inputs.a_file(path, given.get(INPUT_FORMAT)) as file:
        options = reading_options(CONTAINERS, file, given)
        with shown(bars()):
            data = inputs.read_input(file, options)
            advice = advise(data, until=until, seconds=seconds) if until else advise(data)
    typed = inputs.file_word(path)
    whole = path.with_suffix("") if compression_of(path) else path
    name = "stdin" if typed == "-" else whole.stem

    def command_of(method: str, parameters: Mapping[str, Any]) -> str:
        kinds = {kind_of(kind).name for kind in METHODS[method].accepts}
        several = len(kinds - {"network"}) > 1 or advice.kind == "network"
        kind = advice.kind if said or several else None
        return _command(method, parameters, kind, typed, name, options)

    if isinstance(advice, AdviceUntil):
        return _until(advice, command_of, as_json=as_json)
    commands = {one.method: command_of(one.method, one.parameters) for one in advice.choices}
    if page is not None:
        with shown(bars()):
            made = advise_page(data, advice=advice, title=name, commands=commands)
        made.write(page)
        say(f"{page}: for the data owner only")
    if as_json:
        result_json(_summary(advice, commands))
        return 0
    for tried in made.strengths if page is not None else ():
        if tried.hardly:
            print_answer(f"{tried.method}: {tried.warning} {instead_of(advice)}")
    _print_advice(advice, "-" if typed == "-" else path.name, commands, every=every)
    return 0


def _check_page(page: Path, path: Path, until: object) -> None:
    """Refuse a page that cannot be written, before any work is done."""
    if until:
        raise UsageError("--page shows fixed strengths, but --until searches one. Remove one.")
    check_new_file(page, [path], force=False)


def _theory(path: Path, given: dict[str, Any], *, as_json: bool) -> int:
    """Print what theorems say for the data in a file."""
    from graphveil.verbs import theory  # noqa: PLC0415  few ask for it

    for name in ("until", "page"):
        if given.pop(name):
            raise UsageError(
                f"--theory tries no method, so --{name} has no effect. Remove one of them."
            )
    given.pop("seconds")
    with inputs.a_file(path, given.get(INPUT_FORMAT)) as file:
        options = reading_options(tuple(KINDS[name].container for name in THEORY), file, given)
        with shown(bars()):
            rows = theory.of(inputs.read_input(file, options))
    if as_json:
        result_json(rows.summary())
        return 0
    head = ["theorem", "for", "value", "unit"]
    lines = [(row.question, row.part, f"{row.value:.4g}", row.unit) for row in rows]
    result_table(head, lines, right=(2,))
    for question, why in rows.not_measured.items():
        result(f"{question}: {why}")
    result("Keep private: these figures follow from the data.")
    return 0


def _of_a_release(path: Path, advice: Advice | AdviceUntil, *, as_json: bool, every: bool) -> int:
    """Print advice on what is published: its owner makes another release from the original alone.

    The commands name INPUT, since what stands in the folder is not an original.
    """
    from graphveil.claims.manifest import read_manifest  # noqa: PLC0415  not for files

    claim = read_manifest(path).claim
    claimed = claim.sentence
    counted = "rows" if getattr(claim.guarantee, "person", None) in ROWS_AS_ROWS else "people"

    def command_of(method: str, parameters: Mapping[str, Any]) -> str:
        words = [word for name, value in parameters.items() for word in _words_of(name, value)]
        return inputs.command_line("anonymize", method, "INPUT", *words, "--out", f"INPUT-{method}")

    if isinstance(advice, AdviceUntil):
        return _until(advice, command_of, as_json=as_json)
    commands = {one.method: command_of(one.method, one.parameters) for one in advice.choices}
    if as_json:
        result_json(_summary(advice, commands) | {"claimed": claimed})
        return 0
    worst = max(advice.risks, key=lambda risk: risk.share_unique, default=None)
    alone = (
        f"{percent(worst.share_unique)} of the {counted} are unique"
        if worst
        else "Nobody is unique"
    )
    known = f" to an attacker who knows {worst.known}" if worst else ""
    answer = (
        f"This is a release. As published: {alone}{known}. Its guarantee, which verify can "
        f"check: {claimed} To change it, its owner makes a new release from the original data."
    )
    check = inputs.command_line("verify", inputs.file_word(path))
    _print_advice(advice, path.name, commands, every=every, answer=answer, check=check)
    return 0


def _summary(advice: Advice, commands: Mapping[str, str]) -> dict[str, Any]:
    """Return all of the advice as JSON can hold it, with the command of every choice."""
    summary = advice.summary()
    for choice in summary["choices"]:
        choice["command"] = commands[choice["method"]]
    return summary


def _until(
    advice: AdviceUntil, command_of: Callable[[str, Mapping[str, Any]], str], *, as_json: bool
) -> int:
    """Print what every method reaches under bounds; 0 where one meets them all."""
    commands = [command_of(one.method, one.parameters) for one in advice.reached]
    if as_json:
        summary = advice.summary()
        for one, command in zip(summary["reached"], commands, strict=True):
            one["command"] = command
        result_json(summary)
        return 0 if advice.met else 1
    print_answer(advice.answer)
    first, then = "Settings that meet every bound, cheapest first:", "Settings that do not:"
    for met, title in ((True, first), (False, then)):
        some = [one for one in advice.reached if one.met == met]
        if some:
            result("")
            result(title)
        for one in some:
            for line in wrapped(f" {one.method} {one.given}: {why_of(one)}", indent=" " * 6):
                result(line)
    measured = dict.fromkeys(one.measured_on for one in advice.reached)
    result("")
    print_answer(
        f"Measured on {'; '.join(measured)}. Trial releases carry no guarantee; run the "
        "printed command to make a real release."
    )
    if advice.met:
        print_next(commands[0])
    return 0 if advice.met else 1


def _print_advice(
    advice: Advice,
    name: str,
    commands: Mapping[str, str],
    *,
    every: bool,
    answer: str = "",
    check: str = "",
) -> None:
    """Print the recommendation, the risk as it stands, and what each method answers and costs.

    Of a release, another answer comes first, and it is checked next.
    """
    sizes = sizes_in_words(advice.sizes)
    print_answer(answer or advice.answer)
    result("")
    result(f"{printable(name)}: {KINDS[advice.kind].words}, {sizes}")
    _print_risks(advice, every=every)
    if every:
        for line in advice.lines(commands):
            result(line)
        return
    result("")
    result("Methods: what each hides and keeps")
    for choice in advice.choices:
        if choice.middle is None:
            continue
        kept = f" {choice.method}, {choice.middle.words}"
        for text in (kept, f"  against an attacker who knows {choice.known}"):
            for line in wrapped(text, indent=" " * 6):
                result(line)
    result("")
    more = "For limits, other strengths and baseline methods: --all."
    best = advice.recommended
    print_next(check or (commands[best.method] if best else "graphveil methods"), more=more)


def _print_risks(advice: Advice, *, every: bool) -> None:
    result("")
    head = ["attacker knows", *(["measure"] if every else []), "unique", "below k=5"]
    rows = []
    for risk in advice.risks:
        shares = (percent(risk.share_unique), percent(risk.share_unprotected))
        rows.append((risk.known, *([risk.measure or ""] if every else []), *shares))
    result_table(head, rows, right=(len(head) - 2, len(head) - 1))
    result("")
    result("A guarantee covers only the background knowledge it names.")


def _command(
    method: str,
    parameters: Mapping[str, Any],
    kind: str | None,
    typed: str,
    stem: str,
    options: AnyOptions,
) -> str:
    """Return the command of a release, ready to be pasted into a shell."""
    words = ["anonymize", method, typed]
    for name, value in parameters.items():
        words += _words_of(name, value)
    words += [] if kind is None else ["--kind", kind]
    words += [*inputs.reading_words(options), *inputs.flag_words("out", f"{stem}-{method}")]
    return inputs.command_line(*words)


def _words_of(name: str, value: Any) -> list[str]:
    """Return a parameter as flags, one for each column that it has a rule for."""
    rules = [f"{key}={rule}" for key, rule in value.items()] if isinstance(value, Mapping) else []
    return [word for one in rules or [str(value)] for word in inputs.flag_words(name, one)]


THEORY = ("graph", "bipartite", "table")
"""The kinds of data of which theorems speak."""

command = with_signature(
    _run,
    [
        INPUT,
        *flags(
            None,
            {
                "theory": Flag(
                    bool,
                    "Try no method; print what theorems say for this data: which epsilon "
                    "keeps a share of the edges, the least epsilon for a Jaccard index, the "
                    "fewest hidden cells.",
                    default=False,
                ),
                "until": Flag(
                    list[str] | None,
                    "A bound to meet, such as 'kept >= 0.9', 'false <= 2%' or "
                    "'largest class risk <= 0.09'; it can name one part of a metric or attack. "
                    "Repeatable; the strength of each method is searched until every bound is met.",
                ),
                "seconds": Flag(
                    float,
                    "Approximate CPU time for the search under bounds, in seconds.",
                    default=120.0,
                ),
            },
        ),
        *flags(
            OUTPUT_GROUP,
            {
                "page": Flag(
                    Path | None,
                    "Write a page with the risk, the recommendation and a slider over "
                    "strengths, each tried and attacked. It needs no server.",
                ),
                "all": Flag(bool, "Print every figure.", default=False),
                **JSON,
            },
        ),
        *reading_flags(CONTAINERS),
    ],
    name="advise",
    text="Compare methods on your data: what each guarantees, leaves open and costs.\n\n"
    "Measures how identifiable people are in the data as it is. Then tries every suitable "
    "method on a sample, in about 30 s of CPU time. The figures are for the data owner; "
    "nothing is written.\n\nWith --until, searches each method for the strength that meets "
    "every bound; exit code 1 if none does.\n\nGiven the folder of a release, shows how "
    "identifiable people are in it and what it claims.\n\nExample: graphveil advise "
    "friends.csv\n\nExample: graphveil advise friends.csv --until 'kept >= 0.9'",
)
