"""What a page of a release says: verdict, guarantee, facts, attacks, and how to repeat it."""

from __future__ import annotations

import dataclasses
import math
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.registry import ATTACKS, EVERY, spelled
from graphveil.attacks.row_selection import LARGEST
from graphveil.attacks.wording import counted_in
from graphveil.claims.guarantees import (
    AnyGuarantee,
    EdgeDP,
    NodeDP,
    NotClaimed,
    StructuralKAnonymity,
    SuperNodeAnonymity,
)
from graphveil.claims.knowledge import ROWS_AS_ROWS
from graphveil.claims.manifest import Manifest
from graphveil.claims.record import ATTACKED, Record, private_folder
from graphveil.core.errors import GraphveilError, GraphveilWarning
from graphveil.core.libraries import parquet, special
from graphveil.core.progress import context, stage, within
from graphveil.core.rows import Row, Rows
from graphveil.core.text import Wording, counted, percent, plain
from graphveil.core.version import __version__
from graphveil.core.visible import visible
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.data.kinds import kind_of
from graphveil.evaluate.comparison import Comparison, NetworkComparison
from graphveil.evaluate.measuring import ties_of
from graphveil.measures import measure, singled_out
from graphveil.methods import METHODS
from graphveil.methods.rename import Rename
from graphveil.pages.charts import binned, count
from graphveil.pages.html import UniquenessRow
from graphveil.pages.report.document import command_line, flags_of
from graphveil.pages.report.legal_questions import (
    Answers,
    Findings,
    number_of,
    promised_line,
    unit_of,
)
from graphveil.pages.report.machine import FIELDS, recipient_of
from graphveil.release import Release
from graphveil.verbs.attack import attached_names, attack_release, attack_with_quick, entry_of
from graphveil.verbs.read import answered
from graphveil.verify.recount.graphs.structural_classes import labels_of
from graphveil.verify.verdict import Verdict

KNOWLEDGE = (
    ("degree", "how many connections the person has"),
    ("count", "how many people and connections there are around the person"),
    ("vrq", "how many connections the person and each of their contacts have"),
)
"""Measures of networks, and what they know in words."""

MOST_TIES = 2_000_000
"""In networks with more edges the number of edges alone is looked at."""

OF_ALL = ("share of people", "share of rows")
"""Units of a share of all who could be drawn."""

MOST_KINDS = 10
ITEMS_SEED = 0
"""Items are drawn in the same way for every page, so that a public one is the same bytes."""


def findings_of(
    release: Release[Any],
    folder: Path | None,
    pair: Comparison[Any],
    *,
    original: Data,
    attacks: Sequence[str],
    seed: int | None,
    command: str,
    rows: Rows | None = None,
) -> Findings:
    """Return the rows of attacks on a release, and on its original under new ids."""
    for name in attacks:
        if name != EVERY:
            entry_of(name)
    attacked = folder if folder is not None and private_folder(folder).is_dir() else release
    before = None
    if rows is not None:
        after = Rows([row for row in (*rows, *rows.missing) if row.question in ATTACKS])
    else:
        with stage("attacking the release"):
            after = _attacked(attacked, original, attacks, seed)
        with _once_more(), warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphveilWarning)
            same = _as_published(pair)
            renamed = Rename().anonymize(answered(same), seed=seed)
            before = _attacked(renamed, same, attacks, seed)
    return Findings(
        after=with_intervals(after, original.size),
        before=before,
        worst={} if attacked is release else _worst(private_folder(folder or Path())),
        times={
            row.question: spelled(row.seconds)
            for row in after.missing
            if row.seconds is not None
            and ATTACKS[row.question].by_name
            and ATTACKS[row.question].kind is type(pair.original)
        },
        command=command,
        counted=counted_in(release.data),
        of_table=kind_of(release.data).name == "table",
    )


@contextmanager
def _once_more() -> Iterator[None]:
    """Attack the original under new ids in this block: notices say that it is the second time."""
    say = context().notices
    again = None if say is None else lambda text: say(f"{text}, and again on the original")
    with stage("attacking the original with new ids"), within(notices=again):
        yield


def _as_published(pair: Comparison[Any]) -> Data:
    """Return the original: of a network with the attributes that the release has."""
    if not isinstance(pair, NetworkComparison):
        same: Data = pair.original
        return same
    before, after = pair.networks
    return before.with_attributes(after.attributes)


def _attacked(
    release: Release[Any] | Path, original: Data, attacks: Sequence[str], seed: int | None
) -> Rows:
    """Return the rows of what runs unasked, of what is quick, and of what else was asked for."""
    if EVERY in attacks:
        every = attack_release(release, original, attacks=[EVERY], seed=seed)
        return Rows([*every, *every.missing])
    return attack_with_quick(release, original, further=attacks, seed=seed)


def with_intervals(rows: Rows, people: int) -> Rows:
    """Return rows in which a drawn share of people without an interval has the exact binomial one.

    Without one, three people of 500 by chance would be an answer. People are counted as if they
    were pointed at one by one (Clopper & Pearson 1934); of the largest of several draws, each as
    often (Bonferroni).
    """
    return Rows([*(_with_interval(row, people) for row in rows), *rows.missing])


def _with_interval(row: Row, people: int) -> Row:
    if row.known != "sampled" or row.interval is not None or row.unit not in OF_ALL:
        return row
    right = (row.value or 0.0) * people
    draws = row.sample_size if row.setting.draw == LARGEST else 1
    tail = 0.025 / (draws or 1)
    low = special.betaincinv(right, people - right + 1, tail) if right > 0 else 0.0
    high = special.betaincinv(right + 1, people - right, 1 - tail) if right < people else 1.0
    return dataclasses.replace(row, low=float(low), high=float(high))


def _worst(private: Path) -> dict[str, float]:
    """Return by attack the mean risk of the hundredth of people who are worst off."""
    worst = {}
    for path in sorted((private / ATTACKED).glob("*.parquet")):
        risk = parquet.read_table(path, columns=["risk"])["risk"].to_numpy()
        known = np.sort(risk[~np.isnan(risk)])[::-1]
        if known.size:
            worst[path.stem] = float(known[: math.ceil(known.size / 100)].mean())
    return worst


def standing_of(
    after: Data, before: Data | None, k: int | None, of: str = ""
) -> list[UniquenessRow]:
    """Return who can be singled out in a release, and in its original where there is one.

    `of`: which of the values of a row there are, where these are not all.
    """
    if isinstance(after, Graph):
        few = KNOWLEDGE[:1] if after.n_edges > MOST_TIES else KNOWLEDGE
        return [
            _standing(
                words,
                _shares_of(after, name, k or 2),
                _shares_of(before, name, k or 2) if isinstance(before, Graph) else None,
                k,
            )
            for name, words in few
        ]
    noun = "items" if isinstance(after, Bipartite) else "values"
    rows_before = None if before is None else measure(before, k=k or 2)
    whole = f"all {of}{noun} of the row" if of else "the complete row"
    rows = [_standing(whole, measure(after, k=k or 2), rows_before, k)]
    earlier = {} if before is None else _alone(before)
    few_items = [
        UniquenessRow(
            known=f"{items} {of}{noun if items > 1 else noun.removesuffix('s')} of the row",
            alone=share,
            alone_before=earlier.get(items),
        )
        for items, share in _alone(after).items()
        if not isinstance(after, Table) or items <= after.n_columns
    ]
    return few_items + rows


def most_unique(standing: Sequence[UniquenessRow]) -> str:
    """Return by which knowledge most are unique in a release; empty where nobody is.

    >>> most_unique([UniquenessRow(known="1 value of the row", alone=0.25)])
    '25% unique to an attacker who knows 1 value of the row'
    """
    most = max(standing, key=lambda row: row.alone, default=None)
    if most is None or not most.alone:
        return ""
    return f"{percent(most.alone)} unique to an attacker who knows {most.known}"


class _Shares(NamedTuple):
    """The shares of nodes that are unique, and in classes smaller than k."""

    uniqueness: float
    share_unprotected: float


def _shares_of(graph: Graph, name: str, k: int) -> _Shares:
    """Return the shares as the checker counts them, so that recipients need no Numba."""
    labels = labels_of(graph.indptr, graph.indices, name)
    sizes = np.bincount(labels)[labels]
    alone, few = (np.count_nonzero(sizes < most) / max(sizes.size, 1) for most in (2, k))
    return _Shares(alone, few)


def standing_with_attributes(
    network: Network, known: Sequence[str], k: int | None
) -> list[UniquenessRow]:
    """Return who can be singled out in a release by known attributes, and by all published ones."""
    every = network.attributes
    chosen = [names for names in (tuple(known), every) if names]
    return [
        _standing(risk.knows, risk, None, k)
        for risk in (measure(network, known=names, k=k or 2) for names in dict.fromkeys(chosen))
    ]


def _alone(data: Data) -> dict[int, float]:
    """Return the share of people who are unique by some of their items, by how many."""
    return {one.items: one.share for one in singled_out(data, seed=ITEMS_SEED)}


def _standing(words: str, after: Any, before: Any, k: int | None) -> UniquenessRow:
    return UniquenessRow(
        known=words,
        alone=after.uniqueness,
        alone_before=None if before is None else before.uniqueness,
        few=None if k is None else after.share_unprotected,
        few_before=None if k is None or before is None else before.share_unprotected,
    )


def kinds_of_people(original: Data) -> list[str]:
    """Return what the people with the most edges whom nobody looks like have, ten of them."""
    if not isinstance(original, Graph):
        return []
    measured = measure(original, measure="count", k=2)
    degrees = original.degrees()
    alone = np.flatnonzero(measured.own_sizes == 1)
    order = alone[np.argsort(-degrees[alone], kind="stable")][:MOST_KINDS]
    among = measured.values["edges"] - degrees
    shown = zip(degrees[order].tolist(), among[order].tolist(), strict=True)
    return [
        f"{counted(ties, 'connection', spec=',')}, {counted(closed, 'triangle', spec=',')}"
        for ties, closed in shown
    ]


DISTRIBUTIONS: Mapping[type, tuple[str, Callable[[Any], NDArray[np.int64]]]] = {
    Graph: ("Connections per person", Graph.degrees),
    Bipartite: ("Items per person", lambda data: np.diff(data.indptr).astype(np.int64)),
    Table: ("People with an equal row", lambda data: measure(data, k=2).own_sizes),
}
"""A number of each person, by the kind of data: what it counts, and the numbers."""

FACTS: Mapping[type, Mapping[str, str]] = {
    Graph: {"Connections published": "n_edges"},
    Bipartite: {"Items published": "n_entries"},
    Network: {"Connections published": "n_ties", "Attributes published": "n_attributes"},
    Table: {"Columns": "n_columns"},
}
"""What is counted at the top of a page, and the attribute of the data that counts it."""


def of_ties(release: Release[Any]) -> Release[Any]:
    """Return a release of a network as one of its edges alone; others as they are."""
    ties = ties_of(release.data)
    return release if ties is release.data else dataclasses.replace(release, data=ties)


def of_data(
    read: Release[Any], pair: Comparison[Any] | None, word: Wording = str
) -> dict[str, Any]:
    """Return the sections of the released data, next to the original where it is there."""
    network, read = read.data, of_ties(read)
    before = None if pair is None else pair.original
    k = number_of(read.guarantee)
    few = k if k is not None and k > 1 else None
    attached = attached_names(read)
    after, original = _by_known_columns(read.data, attached), _by_known_columns(before, attached)
    what, numbers_of = DISTRIBUTIONS[type(after)]
    earlier = None if original is None else numbers_of(original)
    of = "" if after is read.data else "known "
    standing = standing_of(after, original, few, of) if after.size else []
    if of and after.size:
        whole = measure(read.data, k=few or 2)
        whole_before = None if before is None else measure(before, k=few or 2)
        with_attached = f"the complete row, with the attached {', '.join(attached)}"
        standing.append(_standing(with_attached, whole, whole_before, few))
    if network is not read.data and network.size:
        known = getattr(read.guarantee, "known", ())
        standing += [
            dataclasses.replace(row, known=word(row.known))
            for row in standing_with_attributes(network, known, few)
        ]
    return {
        "standing": standing,
        "counted": counted_in(read.data),
        "fewer_than": few,
        "distribution": binned(numbers_of(after), earlier),
        "distribution_of": what + (" of known values" if of else ""),
    }


def _by_known_columns(data: Any, attached: Sequence[str]) -> Any:
    """Return a table without attached columns, which classes omit; other data as it is."""
    if not isinstance(data, Table) or not set(data.columns) - set(attached):
        return data
    return data.without(attached) if attached else data


def of_release(
    read: Release[Any] | None,
    verdict: Verdict,
    manifest: Manifest | None,
    says: Mapping[str, str],
    word: Wording = str,
) -> dict[str, Any]:
    """Return the sections that need no original: verdict, guarantee, recipients, limits."""
    whom = recipient_of(says.get("recipient"))
    guarantee = None if manifest is None else manifest.claim.guarantee
    shows = verdict.failures() or verdict.undecided
    holds, fails = verdict.ok, verdict.answer == "fails"
    return {
        "answer": word(answer_of(verdict, guarantee)),
        "because": word(because_of(verdict)),
        "good": False if fails else (holds and not isinstance(guarantee, NotClaimed)) or None,
        "checks": [(word(check.name), word(str(check.detail))) for check in shows[:10]],
        "quote": word(verdict.held) if holds and guarantee is not None else "",
        "unit": UNITS.get(type(guarantee), "") if holds else "",
        "facts": facts_of(read, manifest, verdict),
        "recipient": whom,
        "declared": [(FIELDS[name], text) for name, text in says.items() if name in FIELDS],
        "limits": "" if manifest is None else word(manifest.claim.does_not_protect_against),
    }


UNITS: Mapping[type, str] = {
    StructuralKAnonymity: (
        "The guarantee covers one kind of knowledge about one person, and nothing else."
    ),
    SuperNodeAnonymity: (
        "The guarantee is about who is which person of a group, not about connections."
    ),
    EdgeDP: "The unit of protection is one connection or item; a whole person is protected less.",
    NodeDP: "The unit of protection is one whole person.",
}
"""What a guarantee covers, by its type; others say it in their sentence."""


def answer_of(verdict: Verdict, guarantee: AnyGuarantee | None) -> str:
    """Return the verdict in a sentence for readers who know nothing about checks.

    >>> answer_of(Verdict("recomputed", "All is well.", []), None)
    'The guarantee holds.'
    """
    if verdict.answer == "fails":
        wrong, checks = len(verdict.failures()), len(verdict.checks)
        return f"Verification failed: {wrong} of {checks} checks."
    if verdict.unknown_method is not None:
        return (
            "Undecided: this version does not know the method, so the guarantee cannot be verified."
        )
    if verdict.undecided:
        return "Undecided: these files alone do not show whether the guarantee holds."
    if verdict.word == "not claimed":
        return "This release carries no guarantee."
    with_what = f", for {unit}" if (unit := _unit_and_strength(guarantee)) else ""
    if verdict.word == "by construction":
        return f"No check fails; no file can show whether the guarantee holds{with_what}."
    return f"The guarantee holds{with_what}."


def because_of(verdict: Verdict) -> str:
    """Return how many checks stand behind the answer; nothing where it cannot be said."""
    checks = len(verdict.checks)
    if verdict.answer == "fails":
        return "Do not rely on the guarantee of this release."
    if not verdict.ok:
        return ""
    made = sum(check.outcome != "not checked" for check in verdict.checks)
    said = [f"{made} of {checks} checks were made for this page.", *verdict.not_checked()]
    return " ".join(said)


def attacked_of(tests: Sequence[Answers], *, public: bool) -> tuple[str, bool]:
    """Return the strongest attack that was run in a sentence, and whether it succeeded.

    Shares of people who are identified come before what can be inferred about them.

    >>> attacked_of((), public=True)[0]
    'No attack was run for this page: only the data owner can, with the original.'
    """
    measured = [line for test in tests for line in test.lines if line.evidence.value is not None]
    if not measured:
        who = "only the data owner can, with the original" if public else "it needs the original"
        return f"No attack was run for this page: {who}.", False
    right = [line for line in measured if line.word == "Yes (measured)"]
    if not right:
        within = any(line.most is not None for line in measured)
        did = "reached more than the guarantee allows" if within else "succeeded"
        return f"No attack that was run {did}; this proves nothing.", False
    people = [line for line in right if line.test != "inferred"] or right
    people = [line for line in people if not line.as_published] or people
    line = max(people, key=lambda one: one.evidence.value or 0.0)
    return f"The strongest attack that was run, by {line.who}: {line.reason}.", True


def _unit_and_strength(guarantee: AnyGuarantee | None) -> str:
    if isinstance(guarantee, EdgeDP | NodeDP):
        unit = unit_of(guarantee)
        return f"{unit}, with epsilon = {plain(guarantee.epsilon)}"
    number = None if guarantee is None else number_of(guarantee)
    if number is None:
        return ""
    unit = "one row" if getattr(guarantee, "person", None) in ROWS_AS_ROWS else "one person's row"
    if isinstance(guarantee, StructuralKAnonymity | SuperNodeAnonymity):
        unit = "knowledge about one person"
    return f"{unit}, with k = {number}"


def facts_of(
    read: Release[Any] | None, manifest: Manifest | None, verdict: Verdict
) -> list[tuple[str, str]]:
    """Return the numbers at the top of a page, each with what it counts."""
    facts: list[tuple[str, str]] = []
    if read is not None:
        facts.append((counted_in(read.data).capitalize(), count(read.data.size)))
        counts = FACTS[type(read.data)].items()
        facts += [(words, count(getattr(read.data, name))) for words, name in counts]
    if manifest is not None:
        facts.append(("Method", manifest.method.name))
        line = promised_line(manifest.claim.guarantee, verdict)
        number = number_of(manifest.claim.guarantee)
        if line is not None and line.evidence.recomputed and number is not None:
            facts.append(("Smallest class", count(number)))
    unchecked = sum(check.outcome == "not checked" for check in verdict.checks)
    if unchecked:
        facts.append(("Checks", f"{unchecked} of {len(verdict.checks)} not made"))
    return facts


def title_of(read: Release[Any] | None, name: str | None) -> str:
    """Return the title of a page: the name that it was given, or what the data is."""
    if name is not None:
        return name
    if read is None:
        return "A release"
    words = {Table: "A table", Bipartite: "Items"}.get(type(read.data), "A network")
    return f"{words} of {count(read.data.size)} {counted_in(read.data)}"


def commands_of(
    manifest: Manifest | None, file: str, name: str, *, folder: Path | None = None
) -> list[str]:
    """Return the commands that make the release and its page again.

    With the owner's private folder next to `folder`, they say all that the release was made with.
    A public page states the published parameters as a comment: they are not a whole command.
    """
    last = ("--public",) if folder is None else ("--original", file)
    verify = command_line("verify", name, *([] if folder is None else last))
    lines = [verify, command_line("report", name, *last)]
    made = None if folder is None else _made_again(folder, file, name)
    method = None if manifest is None else METHODS.get(manifest.method.name)
    if made is None and manifest is not None and method is not None:
        stated = flags_of(method, manifest.method.parameters)
        made = visible(f"# Published parameters: {shlex.join([method.name, *stated])}")
    return [*([] if made is None else [made]), *lines]


def _made_again(folder: Path, file: str, name: str) -> str | None:
    """Return the command that makes such a release again; None if no record says how."""
    from graphveil.verbs.anonymize import choices_of  # noqa: PLC0415  public pages need none of it

    try:
        chosen = choices_of(folder)
    except GraphveilError:
        return None
    if chosen.shown != chosen.flags:  # a value that only the private record holds
        return command_line("anonymize", file, "--from", name, "--out", f"{name}-again")
    words = [word for said in chosen.flags.values() for word in said]
    out = ("--out", f"{name}-again")
    return command_line("anonymize", chosen.method, file, *words[:2], *out, *words[2:])


def versions_of(manifest: Manifest | None, record: Record | None) -> list[str]:
    """Return who made the release and the page, and the digests that name both."""
    lines = []
    if manifest is not None:
        lines.append(f"Released by {manifest.tool} {manifest.version}.")
        lines.append(f"Reference: {manifest.method.source}.")
        lines.append(f"Seal of the release: {manifest.seal}")
    lines.append(f"Page made by graphveil {__version__}.")
    if record is not None:
        lines.append(f"Digest of the original: {record.input_sha256}")
    return lines
