"""What a page says of a release beside its tests: verdict, promise, facts, and how to repeat it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from graphveil._version import __version__
from graphveil.claims.differential_privacy import EdgeDP, NodeDP
from graphveil.claims.guarantees import AnyGuarantee, NotClaimed, StructuralKAnonymity
from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.evaluate.comparing import ties_of
from graphveil.evaluate.comparison import Comparison
from graphveil.methods import METHODS
from graphveil.records.manifest import Manifest
from graphveil.records.record import Record
from graphveil.release import Release
from graphveil.report.bins import binned
from graphveil.report.commands import anonymize_command, command_line
from graphveil.report.declared import FIELDS, recipient_of
from graphveil.report.numbers import count, plain
from graphveil.report.tests import number_of, promised_line
from graphveil.verbs.report_figures import (
    DISTRIBUTIONS,
    numbers_of,
    standing_of,
    standing_with_attributes,
)
from graphveil.verify.verdict import Verdict


def of_ties(release: Release[Any]) -> Release[Any]:
    """Return a release of a network as one of its ties alone; others as they are."""
    if not isinstance(release.data, Network):
        return release
    return dataclasses.replace(release, data=ties_of(release.data))


def of_data(read: Release[Any], pair: Comparison[Any] | None) -> dict[str, Any]:
    """Return the sections of the released data, beside the original where it is there."""
    network, read = read.data, of_ties(read)
    before = None if pair is None else pair.original
    k = number_of(read.guarantee)
    few = k if k is not None and k > 1 else None
    earlier = None if before is None else numbers_of(before)
    standing = standing_of(read.data, before, few) if read.data.size else []
    if isinstance(network, Network) and network.size:
        standing += standing_with_attributes(network, getattr(read.guarantee, "known", ()), few)
    return {
        "standing": standing,
        "fewer_than": few,
        "distribution": binned(numbers_of(read.data), earlier),
        "distribution_of": DISTRIBUTIONS[type(read.data)],
    }


def of_release(
    read: Release[Any] | None, verdict: Verdict, manifest: Manifest | None, says: Mapping[str, str]
) -> dict[str, Any]:
    """Return the sections that need no original: verdict, promise, recipients, limits."""
    whom = recipient_of(says.get("recipient"))
    guarantee = None if manifest is None else manifest.claim.guarantee
    shows = verdict.failures() if not verdict.ok else verdict.undecided
    holds = verdict.exit_code == 0
    return {
        "answer": answer_of(verdict, guarantee),
        "good": None if verdict.ok and (not holds or isinstance(guarantee, NotClaimed)) else holds,
        "checks": [(check.name, check.detail) for check in shows[:10]],
        "quote": verdict.sentence if holds and guarantee is not None else "",
        "unit": UNITS.get(type(guarantee), "") if holds else "",
        "facts": facts_of(read, manifest, verdict),
        "recipient": whom,
        "declared": [(FIELDS[name], text) for name, text in says.items() if name in FIELDS],
        "limits": "" if manifest is None else manifest.claim.does_not_protect_against,
    }


UNITS: Mapping[type, str] = {
    StructuralKAnonymity: "It covers one kind of knowledge of one person, and nothing else.",
    EdgeDP: "The unit is one tie or one item: all of one person together is protected less.",
    NodeDP: "The unit is all of one person together.",
}
"""What a promise covers, by its type; others say it in their sentence."""


def answer_of(verdict: Verdict, guarantee: AnyGuarantee | None) -> str:
    """Return the verdict in a sentence for somebody who knows nothing of checks.

    Examples
    --------
    >>> answer_of(Verdict("recomputed", "All is well.", []), None)
    'Every claim holds. 0 checks were made again from the files for this page.'
    """
    checks = len(verdict.checks)
    made = f"{checks} checks were made again from the files for this page"
    if not verdict.ok:
        wrong = len(verdict.failures())
        return (
            "This release does not keep what it says. Do not rely on its promise: "
            f"{wrong} of {checks} checks failed."
        )
    if verdict.unknown_method is not None:
        return "It cannot be said whether this release keeps its promise: its method is not known."
    if verdict.undecided:
        return "It cannot be said from these files alone whether this release keeps its promise."
    if verdict.word == "not claimed":
        return f"Nothing is promised of this release. {made}."
    with_what = f", for {unit}" if (unit := _unit_and_strength(guarantee)) else ""
    if verdict.word == "by construction":
        return f"Every claim that a file can show holds{with_what}. {made}."
    return f"Every claim holds{with_what}. {made}."


def _unit_and_strength(guarantee: AnyGuarantee | None) -> str:
    if isinstance(guarantee, EdgeDP | NodeDP):
        unit = "one tie or item" if isinstance(guarantee, EdgeDP) else "all of one person"
        return f"{unit}, with epsilon = {plain(guarantee.epsilon)}"
    number = None if guarantee is None else number_of(guarantee)
    if number is None:
        return ""
    unit = (
        "what is known of one person"
        if isinstance(guarantee, StructuralKAnonymity)
        else "one person's row"
    )
    return f"{unit}, with k = {number}"


def facts_of(
    read: Release[Any] | None, manifest: Manifest | None, verdict: Verdict
) -> list[tuple[str, str]]:
    """Return the numbers at the top of a page, each with what it counts."""
    facts: list[tuple[str, str]] = []
    if read is not None:
        facts.append(("People", count(read.data.size)))
        if isinstance(read.data, Graph):
            facts.append(("Ties published", count(read.data.n_edges)))
        elif isinstance(read.data, Bipartite):
            facts.append(("Items published", count(read.data.n_entries)))
        elif isinstance(read.data, Network):
            facts.append(("Ties published", count(read.data.n_ties)))
            facts.append(("Attributes published", count(read.data.n_attributes)))
        else:
            facts.append(("Columns", count(read.data.n_columns)))
    if manifest is not None:
        facts.append(("Method", manifest.method.name))
        line = promised_line(manifest.claim.guarantee, verdict)
        number = number_of(manifest.claim.guarantee)
        if line is not None and line.evidence.recomputed and number is not None:
            facts.append(("Left to choose from, at least", count(number)))
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
    return f"{words} of {count(read.data.size)} people"


def commands_of(
    manifest: Manifest | None, file: str, name: str, *, owner: bool = False
) -> list[str]:
    """Return the commands that make the release and its page again."""
    original = ("--original", file) if owner else ()
    lines = [
        command_line("verify", name, *original),
        command_line("report", name, *original),
    ]
    if manifest is None:
        return lines
    method = METHODS.get(manifest.method.name)
    if method is None:
        return lines
    return [anonymize_command(method, manifest.method.parameters, file, name), *lines]


def versions_of(manifest: Manifest | None, record: Record | None) -> list[str]:
    """Return who made the release and the page, and the digests that name both."""
    lines = []
    if manifest is not None:
        lines.append(f"Released by {manifest.tool} {manifest.version}.")
        lines.append(f"Source of the method: {manifest.method.source}.")
        lines.append(f"Seal of the release: {manifest.seal}")
    lines.append(f"Page made by graphveil {__version__}.")
    if record is not None:
        lines.append(f"Digest of the original: {record.input_sha256}")
    return lines
