"""The recount of a ledger, for every short list of releases, against a sum of decimals."""

from __future__ import annotations

import json
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import product
from typing import NamedTuple

import msgspec
import pytest

import graphveil as gv
from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.claims.ledger import Composed, LedgerReference
from graphveil.claims.manifest import read_manifest
from graphveil.claims.record import read_record
from graphveil.verify.evidence import Evidence
from graphveil.verify.kinds.registry import CHECKED_KINDS
from graphveil.verify.ledger import ledger_checks

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

PLACES = Decimal("1e-12")
PROMISES = {"edge": EdgeDP, "node": NodeDP}


class Entered(NamedTuple):
    """A release in a ledger."""

    unit: str
    epsilon: str
    cells: int


RELEASES = [
    Entered(unit, epsilon, cells)
    for unit, epsilon, cells in (
        *product(("edge", "node"), ("0.5", "0.1234567890123"), (1, 7)),
        ("edge", "1e-13", 3),
    )
]
"""Of two numbers one has more places than a total is printed with."""
TOTALS = [
    (*before, own) for size in (0, 1, 2) for *before, own in product(RELEASES, repeat=size + 1)
]


def total(entries, unit):
    """Return what entries sum to: an edge counts for a person as often as they have cells."""
    return sum(
        Decimal(entry.epsilon) * (entry.cells if (entry.unit, unit) == ("edge", "node") else 1)
        for entry in entries
    )


def printed(number):
    return f"{number:.12f}".rstrip("0").rstrip(".")


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    place = tmp_path_factory.mktemp("released")
    ring = gv.Graph.from_edges(range(30), [(v + 1) % 30 for v in range(30)], n=30)
    release = gv.AsymmetricResponse(epsilon=0.5).anonymize(ring, ledger=gv.Ledger(place / "l"))
    folder = release.write(place / "out")
    return read_manifest(folder), read_record(folder)


@pytest.fixture
def outcome(released, tmp_path):
    """Return what the checker says of a total, and of a number of releases, for a ledger."""
    manifest, record = released
    record = msgspec.structs.replace(
        record, ledger=LedgerReference(file=str(tmp_path / "l"), entry="0")
    )

    def said(entries, epsilon, releases):
        own = entries[-1]
        claim = msgspec.structs.replace(
            manifest.claim, guarantee=PROMISES[own.unit](epsilon=float(own.epsilon))
        )
        stated = msgspec.structs.replace(
            manifest,
            claim=claim,
            ledger=Composed(releases=releases, unit=own.unit, epsilon=epsilon),
        )
        listed = [
            {
                "id": str(len(entries) - 1 - number),
                "method": manifest.method.name,
                "unit": entry.unit,
                "epsilon": entry.epsilon,
                "person_cells": entry.cells,
            }
            for number, entry in enumerate(entries)
        ]
        (tmp_path / "l").write_text(json.dumps({"schema": 1, "entries": listed}))
        (check,) = ledger_checks(Evidence(stated, CHECKED_KINDS["graph"], None, record))
        return check.outcome

    return said


def test_a_total_holds_where_it_is_the_sum_of_the_entries_rounded_up(outcome):
    refused = []
    for entries in TOTALS:
        exact = total(entries, entries[-1].unit)
        stated = printed(exact.quantize(PLACES, ROUND_CEILING))
        if outcome(entries, stated, len(entries)) != "holds":
            refused.append((entries, stated))
    assert [] == refused
    assert len(TOTALS) > 500


def test_every_other_total_is_refused_though_it_be_off_by_the_last_place(outcome):
    passed = []
    for entries in TOTALS[::3]:
        n, own = len(entries), Decimal(entries[-1].epsilon)
        exact = total(entries, entries[-1].unit)
        up, down = (exact.quantize(PLACES, way) for way in (ROUND_CEILING, ROUND_FLOOR))
        other_unit = {"edge": "node", "node": "edge"}[entries[-1].unit]
        others = {up + PLACES, up - PLACES, down, total(entries, other_unit), own}
        stated = {printed(other.quantize(PLACES, ROUND_CEILING)) for other in others}
        claims = [(other, n) for other in sorted(stated - {printed(up), "0"})]
        claims += [(printed(up), n + 1), (printed(up), max(n - 1, 1))][: 1 + (n > 1)]
        passed += [(entries, *one) for one in claims if outcome(entries, *one) == "holds"]
    assert [] == passed


def test_a_printed_total_is_never_below_what_was_spent(tmp_path):
    for entries in TOTALS[::9]:
        path = tmp_path / "l"
        path.unlink(missing_ok=True)
        ledger = gv.Ledger(path)
        for entry in entries:
            spent = ledger.spend(
                PROMISES[entry.unit](epsilon=float(entry.epsilon)),
                method="asymmetric-response",
                person_cells=entry.cells,
            )
        exact = total(entries, entries[-1].unit)
        assert 0 <= Decimal(spent.composed.epsilon) - exact < PLACES
        assert len(entries) == spent.composed.releases
