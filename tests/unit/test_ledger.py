from __future__ import annotations

import fcntl
import json
import os
import stat
import warnings
from fractions import Fraction

import pytest

import graphveil as gv
from graphveil.claims import ledger as ledgers
from graphveil.claims.guarantees import EdgeDP, KAnonymity, NodeDP, NotClaimed
from graphveil.claims.ledger import rounded_up
from graphveil.claims.manifest import decode_manifest, encode
from graphveil.cli.app import call
from graphveil.core.errors import (
    GraphveilWarning,
    InputError,
    ParameterError,
    ResourceError,
    UsageError,
)
from graphveil.verify.ledger import LEDGER

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "friends.ledger"


@pytest.fixture
def graph():
    return gv.Graph.from_edges(range(30), [(v + 1) % 31 for v in range(30)], n=40)


def spend(ledger, guarantee, cells=39):
    return ledger.spend(guarantee, method="asymmetric-response", person_cells=cells)


def drawing_fails(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda _: pytest.fail("something was drawn"))


def test_epsilons_are_added_as_the_decimals_that_are_printed(path):
    """Ten times 0.1 is 1, which no sum of doubles is."""
    for _ in range(10):
        spend(gv.Ledger(path, limit=1.0), EdgeDP(epsilon=0.1))
    assert Fraction(1) == gv.Ledger(path).total("edge")
    with pytest.raises(
        UsageError, match=r"would become 1\.1, above the limit 1\.0 \(1 already spent"
    ):
        spend(gv.Ledger(path, limit=1.0), EdgeDP(epsilon=0.1))
    assert 10 == len(gv.Ledger(path).entries())


def test_claims_of_persons_and_of_edges_count_for_each_other(path):
    ledger = gv.Ledger(path)
    spend(ledger, NodeDP(epsilon=2.0), cells=39)
    spend(ledger, EdgeDP(epsilon=0.1), cells=39)
    spend(ledger, EdgeDP(epsilon=0.1), cells=49)
    assert Fraction("2.2") == ledger.total("edge")
    assert 2 + Fraction("0.1") * (39 + 49) == ledger.total("node")


def test_a_person_who_is_an_item_too_has_the_cells_of_both(path):
    people = gv.Bipartite.from_pairs(["ann", "bob"], ["bob", "cyd"], items="people")
    gv.AsymmetricResponse(epsilon=0.5).anonymize(people, ledger=gv.Ledger(path))
    assert Fraction(5, 2) == gv.Ledger(path).total("node")


@pytest.mark.parametrize(
    ("total", "printed"),
    [("0", "0"), ("2.50", "2.5"), ("1/3", "0.333333333334"), ("1e-15", "0.000000000001")],
)
def test_a_printed_total_is_not_below_the_total(total, printed):
    assert printed == rounded_up(Fraction(total))


@pytest.mark.parametrize(
    "nothing", [NotClaimed(reasons=("repeatable",)), KAnonymity(k=5)], ids=["seed", "k-anonymity"]
)
def test_what_claims_no_epsilon_is_refused_and_else_leaves_no_total(nothing, path):
    with pytest.raises(UsageError, match=r"claims no epsilon.*unclaimed=True"):
        spend(gv.Ledger(path), nothing)
    assert not path.exists()
    spent = spend(gv.Ledger(path, unclaimed=True), nothing)
    assert None is spent.composed
    assert None is spend(gv.Ledger(path), EdgeDP(epsilon=1.0)).composed
    assert None is gv.Ledger(path).total("edge")
    with pytest.raises(UsageError, match="so no total can keep the limit"):
        spend(gv.Ledger(path, limit=9.0), EdgeDP(epsilon=1.0))


def test_it_spends_before_the_first_draw_and_keeps_it_if_the_run_fails(path, graph, monkeypatch):
    drawing_fails(monkeypatch)
    with pytest.raises(pytest.fail.Exception):
        gv.AsymmetricResponse(epsilon=1.0).anonymize(graph, ledger=gv.Ledger(path))
    monkeypatch.undo()
    assert Fraction(1) == gv.Ledger(path).total("edge")


def test_past_its_limit_it_refuses_before_anything_is_drawn(path, graph, monkeypatch):
    ledger = gv.Ledger(path, limit=0.5)
    drawing_fails(monkeypatch)
    with pytest.raises(UsageError, match="above the limit"):
        gv.AsymmetricResponse(epsilon=1.0).anonymize(graph, ledger=ledger)
    assert not path.exists()


def test_a_ledger_inside_a_release_is_refused(tmp_path):
    graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    noisy = gv.AsymmetricResponse(epsilon=1.0)
    folder = noisy.anonymize(graph, seed=1).write(tmp_path / "public")
    inside = folder / "spent.json"
    with pytest.raises(UsageError, match=r"spent\.json is inside a release, which is public\."):
        noisy.anonymize(graph, ledger=gv.Ledger(inside))
    assert not inside.exists()


def test_data_that_is_refused_spends_nothing(path):
    small = gv.Graph.from_edges([0], [1], n=3)
    with pytest.raises(UsageError):
        gv.TopMFilter(epsilon=1.0).anonymize(small, ledger=gv.Ledger(path))
    assert not path.exists()


def test_the_file_is_its_owners_alone(path):
    spend(gv.Ledger(path), EdgeDP(epsilon=1.0))
    assert 0o600 == path.stat().st_mode & 0o777
    path.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        spend(gv.Ledger(path), EdgeDP(epsilon=1.0))


def test_the_ledger_of_another_user_is_refused(path, monkeypatch):
    spend(gv.Ledger(path), EdgeDP(epsilon=1.0))
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(InputError, match="another user"):
        gv.Ledger(path).entries()


def twice(raw):
    """Return the ledger with every entry repeated."""
    content = json.loads(raw)
    return json.dumps(content | {"entries": content["entries"] * 2}).encode()


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw[:-20],
        lambda raw: raw[:0],
        lambda raw: raw.replace(b'"1.0"', b'"-1.0"'),
        lambda raw: raw.replace(b'"1.0"', b"null"),
        lambda raw: raw.replace(b'"schema": 1', b'"schema": 2'),
        twice,
        lambda raw: raw + bytes([255]),
    ],
)
def test_a_damaged_ledger_is_one_line_and_stays_as_it_is(damage, path, graph):
    spend(gv.Ledger(path), EdgeDP(epsilon=1.0))
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(InputError, match="damaged") as caught:
        gv.AsymmetricResponse(epsilon=1.0).anonymize(graph, ledger=gv.Ledger(path))
    assert "\n" not in str(caught.value)
    assert before == path.read_bytes()


def test_a_ledger_that_is_in_use_is_waited_for_and_then_left_alone(path, monkeypatch):
    monkeypatch.setattr(ledgers, "PATIENCE_SECONDS", 0.01)
    spend(gv.Ledger(path), EdgeDP(epsilon=1.0))
    with path.with_name(f".{path.name}.lock").open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(ResourceError, match="in use by another run"):
            spend(gv.Ledger(path), EdgeDP(epsilon=1.0))
    spend(gv.Ledger(path), EdgeDP(epsilon=1.0))
    assert Fraction(2) == gv.Ledger(path).total("edge")


def test_a_full_disk_spends_nothing(path, graph, monkeypatch):
    spend(gv.Ledger(path), EdgeDP(epsilon=1.0))
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ResourceError, match="No space left"):
        gv.AsymmetricResponse(epsilon=1.0).anonymize(graph, ledger=gv.Ledger(path))
    assert before == path.read_bytes()
    assert [] == list(path.parent.glob("*.partial*"))


RANGE = r"a number above 0 and below 10\^15\."


@pytest.mark.parametrize(
    "limit",
    [0.0, -1.0, float("nan"), float("inf"), 1e15, 1e300, 10**400, Fraction(1, 10**400)],
)
def test_a_limit_out_of_range_is_refused(limit, path):
    with pytest.raises(ParameterError, match=rf"limit=.* {RANGE}"):
        gv.Ledger(path, limit=limit)


@pytest.mark.parametrize("limit", [5e-324, 1e-05, 999.5, 1000, 123456.789, 10**15 - 1])
def test_every_other_limit_is_kept_as_it_was_given(limit, path):
    spend(gv.Ledger(path, limit=limit), EdgeDP(epsilon=5e-324))
    assert float(gv.Ledger(path).kept_limit().epsilon) == limit


@pytest.mark.parametrize("limit", ["1e+300", "1e15", "1000000000000000", "0.0", "-1", "inf", ""])
def test_a_file_with_a_limit_out_of_range_is_refused_with_the_range(limit, path):
    spend(gv.Ledger(path, limit=1000.0), EdgeDP(epsilon=1.0))
    path.write_text(path.read_text().replace('"1000.0"', f'"{limit}"'))
    with pytest.raises(InputError, match=rf"damaged.* {RANGE}"):
        gv.Ledger(path).kept_limit()


def released(graph, folder, path, epsilon=1.5):
    release = gv.AsymmetricResponse(epsilon=epsilon).anonymize(graph, ledger=gv.Ledger(path))
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        release.write(folder)
    texts = [str(w.message) for w in raised if issubclass(w.category, GraphveilWarning)]
    manifest = json.loads((folder / "release.json").read_text())
    return manifest, [text for text in texts if "next to it" in text]


def test_manifests_state_the_composed_total_and_releases_of_the_ledger_are_no_warning(
    graph, path, tmp_path
):
    first, texts = released(graph, tmp_path / "one", path)
    assert ({"releases": 1, "unit": "edge", "epsilon": "1.5"}, []) == (first["ledger"], texts)
    second, texts = released(graph, tmp_path / "two", path, epsilon=0.1)
    assert ({"releases": 2, "unit": "edge", "epsilon": "1.6"}, []) == (second["ledger"], texts)
    for name in ("one", "two"):
        verdict = gv.verify_release(tmp_path / name, original=graph)
        assert ([], True) == (verdict.failures(), verdict.complete)


def test_a_release_that_the_ledger_lacks_is_named_and_keeps_the_total_from_being_stated(
    graph, path, tmp_path
):
    gv.KDegree(k=2).anonymize(graph).write(tmp_path / "before")
    manifest, texts = released(graph, tmp_path / "out", path)
    assert "ledger" not in manifest
    assert ["before" in text for text in texts] == [True]


def test_a_link_to_a_ledger_spends_from_the_same_file(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path.name)
    spend(gv.Ledger(link, limit=2.0), EdgeDP(epsilon=1.0))
    spend(gv.Ledger(path, limit=2.0), EdgeDP(epsilon=1.0))
    with pytest.raises(UsageError, match="above the limit"):
        spend(gv.Ledger(link, limit=2.0), EdgeDP(epsilon=1.0))
    assert link.is_symlink()
    assert 2 == len(gv.Ledger(path).entries())


def test_a_ledger_with_a_second_name_is_refused_before_two_totals_arise(graph, path, tmp_path):
    released(graph, tmp_path / "one", path)
    second = tmp_path / "second.ledger"
    second.hardlink_to(path)
    for name in (path, second):
        with pytest.raises(InputError, match=r"has 2 names \(hard links\)"):
            spend(gv.Ledger(name, limit=2.0), EdgeDP(epsilon=1.0))
        with pytest.raises(InputError, match="hard links"):
            gv.Ledger(name).total("edge")
    checks = {c.name: c for c in gv.verify_release(tmp_path / "one").checks}
    assert "not checked" == checks[LEDGER].outcome
    # The way out that the message names.
    second.unlink()
    second.symlink_to(path.name)
    spend(gv.Ledger(second, limit=2.0), EdgeDP(epsilon=0.5))
    assert 2 == len(gv.Ledger(path).entries())


def test_a_ledger_is_read_up_to_one_limit_and_never_written_beyond_it(path, monkeypatch):
    spend(gv.Ledger(path), EdgeDP(epsilon=1.0))
    size = path.stat().st_size
    monkeypatch.setattr(ledgers, "MOST_BYTES", size)
    assert 1 == len(gv.Ledger(path).entries())
    with pytest.raises(ResourceError, match="No budget was spent"):
        spend(gv.Ledger(path), EdgeDP(epsilon=1.0))
    assert 1 == len(gv.Ledger(path).entries())
    monkeypatch.setattr(ledgers, "MOST_BYTES", size - 1)
    with pytest.raises(InputError, match="the largest ledger that is read"):
        gv.Ledger(path).entries()


def test_a_ledger_of_20_mib_is_read_by_a_run_and_by_verify(graph, path, tmp_path):
    released(graph, tmp_path / "one", path)
    path.write_bytes(path.read_bytes() + b" " * (20 << 20))
    assert 1 == len(gv.Ledger(path).entries())
    checks = {c.name: c for c in gv.verify_release(tmp_path / "one").checks}
    assert "holds" == checks[LEDGER].outcome


def test_the_file_and_then_its_name_are_put_on_the_disk(path, monkeypatch):
    flushed, fsync = [], os.fsync

    def noted(number):
        flushed.append((stat.S_ISDIR(os.fstat(number).st_mode), path.exists()))
        fsync(number)

    monkeypatch.setattr(os, "fsync", noted)
    spend(gv.Ledger(path), EdgeDP(epsilon=1.0))
    assert [(False, False), (True, True)] == flushed


@pytest.mark.parametrize(
    ("spent", "limit"), [(0.7, 1.0), (0.1234567, 0.2), (1.0000001, 3.33333333), (0.1, 0.30000004)]
)
def test_as_much_as_the_refusal_advises_is_accepted_and_no_more(spent, limit, path):
    ledger = gv.Ledger(path, limit=limit)
    spend(ledger, EdgeDP(epsilon=spent))
    with pytest.raises(UsageError) as caught:
        spend(ledger, EdgeDP(epsilon=5.0))
    advised = float(str(caught.value).rpartition(" ")[2].removesuffix("."))
    spend(ledger, EdgeDP(epsilon=advised))
    assert Fraction(repr(limit)) == ledger.total("edge")
    with pytest.raises(UsageError, match="already spent\\): nothing more can be released"):
        spend(ledger, EdgeDP(epsilon=0.0001))


def test_no_limit_is_kept_by_what_claims_nothing(path):
    ledger = gv.Ledger(path, limit=1.0, unclaimed=True)
    with pytest.raises(UsageError, match="so no total can keep the limit"):
        spend(ledger, NotClaimed(reasons=("repeatable",)))
    assert not path.exists()


def test_a_limit_is_kept_by_the_file_and_no_other_is_taken_later(path):
    spend(gv.Ledger(path), EdgeDP(epsilon=0.2))
    spend(gv.Ledger(path, limit=1.0), EdgeDP(epsilon=0.4))
    kept = gv.Ledger(path).kept_limit()
    assert ("1.0", "edge") == (kept.epsilon, kept.unit)
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"would become 1\.1, above the limit 1\.0"):
        spend(gv.Ledger(path), EdgeDP(epsilon=0.5))
    for other in (0.5, 2.0):
        with pytest.raises(UsageError, match=r"has the limit 1\.0 for one edge or entry"):
            spend(gv.Ledger(path, limit=other), EdgeDP(epsilon=0.1))
    assert before == path.read_bytes()
    spend(gv.Ledger(path, limit=1), EdgeDP(epsilon=0.4))
    assert Fraction(1) == gv.Ledger(path).total("edge")


def test_a_limit_for_a_person_counts_what_releases_of_ties_say_of_a_person(path):
    spend(gv.Ledger(path, limit=1.0), NodeDP(epsilon=0.9), cells=199)
    with pytest.raises(UsageError, match=r"for one person would become 10\.85, above the limit"):
        spend(gv.Ledger(path), EdgeDP(epsilon=0.05), cells=199)
    with pytest.warns(GraphveilWarning, match="the limit 1.0 is for one person"):
        spend(gv.Ledger(path), EdgeDP(epsilon=0.0005), cells=199)


@pytest.mark.filterwarnings("error::graphveil.GraphveilWarning")
def test_units_are_not_mixed_without_a_word(path):
    spend(gv.Ledger(path, limit=1.0), EdgeDP(epsilon=0.05), cells=199)
    spend(gv.Ledger(path), EdgeDP(epsilon=0.05), cells=199)
    mixed = (
        r"epsilon for one edge or entry and others for one person; the total epsilon is 1 for one "
        r"edge or entry, 20\.8 for one person; the limit 1\.0 is for one edge"
    )
    with pytest.warns(GraphveilWarning, match=mixed):
        spend(gv.Ledger(path), NodeDP(epsilon=0.9), cells=199)


@pytest.mark.filterwarnings("error::graphveil.GraphveilWarning")
def test_a_value_counts_as_two_entries_and_a_person_as_all_of_theirs(path):
    spend(gv.Ledger(path), EdgeDP(epsilon=0.5), cells=10)
    mixed = (
        r"epsilon for one edge or entry and others for one value of a column; the total epsilon is "
        r"0\.625 for one edge or entry, 1\.25 for one value of a column, 6\.25 for one person$"
    )
    with pytest.warns(GraphveilWarning, match=mixed):
        spend(gv.Ledger(path), EdgeDP(epsilon=0.25, of="value"), cells=10)


def test_without_a_ledger_the_manifest_has_no_such_field(graph, tmp_path):
    folder = gv.AsymmetricResponse(epsilon=1.5).anonymize(graph).write(tmp_path / "out")
    assert "ledger" not in json.loads((folder / "release.json").read_text())


@pytest.mark.parametrize(
    ("stated", "alone"),
    [
        ({"epsilon": "9"}, True),
        ({"epsilon": "0.1"}, True),
        ({"epsilon": "01.5"}, True),
        ({"epsilon": "1.50"}, True),
        ({"epsilon": "2.0"}, True),
        ({"unit": "node"}, True),
        ({"releases": 2}, False),
        ({"releases": 3, "epsilon": "4"}, False),
    ],
    ids=str,
)
def test_a_total_that_the_ledger_does_not_hold_is_caught(stated, alone, graph, path, tmp_path):
    released(graph, tmp_path / "out", path)
    file = tmp_path / "out" / "release.json"
    manifest = json.loads(file.read_text())
    manifest["ledger"] |= stated
    raw = json.dumps(manifest).encode()
    file.write_bytes(encode(decode_manifest(raw, where=file).sealed()))
    failures = {check.name for check in gv.verify_release(tmp_path / "out").failures()}
    assert LEDGER in failures
    (tmp_path / "out.private").rename(tmp_path / "gone")
    failures = {check.name for check in gv.verify_release(tmp_path / "out").failures()}
    assert alone == (LEDGER in failures)


@pytest.mark.parametrize(
    "other",
    [
        {"method": "k-degree"},
        {"epsilon": "0.5"},
        {"unit": "node"},
        {"epsilon": "1/0"},
        {"epsilon": "1e999999999"},
    ],
    ids=str,
)
def test_another_release_in_the_place_of_this_one_is_caught(other, graph, path, tmp_path):
    """The total fits: the entry before has what this one lacks."""
    released(graph, tmp_path / "one", path)
    released(graph, tmp_path / "two", path)
    content = json.loads(path.read_text())
    content["entries"][1] |= other
    if "epsilon" in other:
        content["entries"][0]["epsilon"] = "2.5"
    path.write_text(json.dumps(content))
    detail = [c.detail for c in gv.verify_release(tmp_path / "two").failures()]
    assert ["the ledger's entry for this release has a different method, unit or epsilon"] == detail


def test_without_the_ledgers_file_its_total_is_not_checked(graph, path, tmp_path):
    released(graph, tmp_path / "out", path)
    path.unlink()
    checks = {c.name: c for c in gv.verify_release(tmp_path / "out").checks}
    assert ("not checked", "the owner's ledger") == (checks[LEDGER].outcome, checks[LEDGER].needs)


@pytest.mark.parametrize("what", ["a pipe", "a device without end", "a folder", "a large file"])
def test_a_ledger_that_is_no_file_to_read_is_left_alone(what, graph, path, tmp_path, monkeypatch):
    """A reader of the pipe would wait for ever, one of the device would take all memory."""
    released(graph, tmp_path / "out", path)
    if what == "a large file":
        monkeypatch.setattr("graphveil.verify.ledger.MOST_BYTES", 10)
    else:
        path.unlink()
    if what == "a pipe":
        os.mkfifo(path)
    elif what == "a device without end":
        path.symlink_to("/dev/zero")
    elif what == "a folder":
        path.mkdir()
    checks = {c.name: c for c in gv.verify_release(tmp_path / "out").checks}
    assert "not checked" == checks[LEDGER].outcome
    assert "not a readable file" in checks[LEDGER].detail


def test_the_command_line_spends_and_prints_and_refuses(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{v},{v + 1}" for v in range(20))
    (tmp_path / "friends.csv").write_text(f"source,target\n{rows}\n")
    start = ("anonymize", "asymmetric-response", "friends.csv", "--epsilon", "0.7")
    entered = ("--ledger", "l.json", "--ledger-limit", "1")
    assert 0 == call([*start, *entered, "--out", "one"])
    for again in (entered, entered[:2]):
        with pytest.raises(UsageError, match="above the limit 1"):
            call([*start, *again, "--out", "two"])
    assert not (tmp_path / "two").exists()
    with pytest.raises(UsageError, match="claims no epsilon"):
        call([*start, "--seed", "1", "--ledger", "l.json", "--out", "two"])
    with pytest.raises(UsageError, match="require --ledger FILE"):
        call([*start, "--ledger-limit", "1", "--out", "two"])
    capsys.readouterr()
    assert 0 == call(["ledger", "l.json"])
    shown = capsys.readouterr().out
    assert "1. asymmetric-response: epsilon 0.7 for one edge or entry" in shown
    assert "total for one edge or entry: 0.7, of at most 1.0\n" in shown
    assert "total for all edges or entries of one person: 14" in shown
    assert 0 == call(["ledger", "l.json", "--json"])
    assert {"edge": "0.7", "node": "14"} == json.loads(capsys.readouterr().out)["total"]
    with pytest.raises(InputError, match="does not exist"):
        call(["ledger", "none.json"])
