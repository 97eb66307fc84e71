"""Attached columns that show what known ones hide: measured, refused, asked about, and verified."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from tampering import failed, manifest_of, reseal

import graphveil as gv
from graphveil.core.errors import DataError
from graphveil.measures.narrowing import EVIDENCE, MOST_OF_THE_REST, POWERS, narrowings
from graphveil.methods.attached import proposed
from graphveil.verify import verify
from graphveil.verify.database import database
from graphveil.verify.promises.attached import HIDDEN
from graphveil.verify.recount.rows import narrowed_cells as recount

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def by_dictionaries(rows):
    """Return hidden rows, narrowed rows and purity chances of (own, shown, attached), exactly."""
    values, groups = defaultdict(Counter), defaultdict(Counter)
    for own, shown, attached in rows:
        values[shown][own] += 1
        groups[shown, attached][own] += 1
    hidden = sum(sum(own.values()) for own in values.values() if len(own) > 1)
    narrowed, chances = 0, []
    for (shown, _), own in groups.items():
        if len(values[shown]) == 1:
            continue
        m, n = sum(own.values()), sum(values[shown].values())
        q = Fraction(sum(math.comb(each, m) for each in values[shown].values()), math.comb(n, m))
        chances.append((m, q, len(own) == 1))
        narrowed += m * (len(own) == 1)
    return hidden, narrowed, chances


def evidence(chances):
    return max(
        sum(
            -power * math.log(q) * one - math.log(float(q) ** (1 - power) + 1 - q)
            for _, q, one in chances
            if q
        )
        for power in POWERS
    )


def tables(own, shown, **attached):
    every = {name: np.asarray(values).astype(str) for name, values in attached.items()}
    before = gv.Table.from_columns({"known": np.asarray(own).astype(str), **every})
    after = {"known": [None if value < 0 else str(value) for value in shown], **every}
    return before, gv.Table.from_columns(after)


def recounted(db, own, shown, *attached):
    columns = {f"a{number}": [str(v) for v in each] for number, each in enumerate(attached)}
    texts = [None if value < 0 else str(value) for value in shown]
    db.put("own_and_shown", {"own": [str(v) for v in own], "shown": texts, **columns})
    sets = [[number] for number in range(len(attached))]
    found = recount.narrowed_cells(db, [*sets, [*range(len(attached))]])
    db.run("DROP TABLE own_and_shown")
    return found


def random_rows(rng):
    n, bases = rng.integers(3, 31), [rng.integers(1, 7), 3, rng.integers(1, 5), 3]
    own, shown, one, other = (rng.integers(0, base, n).tolist() for base in bases)
    return own, [value - 1 for value in shown], one, other


def test_a_run_and_verify_count_what_dictionaries_count():
    rng = np.random.default_rng(1)
    with database() as db:
        for own, shown, one, other in (random_rows(rng) for _ in range(60)):
            found = narrowings(*tables(own, shown, one=one, other=other), ["one", "other"])
            again = recounted(db, own, shown, one, other)
            assert len(found) == len(again)
            joint = [*zip(one, other, strict=True)]
            for run, check, attached in zip(found, again, (one, other, joint), strict=bool(found)):
                rows = [*zip(own, shown, attached, strict=True)]
                hidden, narrowed, chances = by_dictionaries(rows)
                pairs = {*zip(own, attached, strict=True)}
                same = len({*own}) == len({*attached}) == len(pairs) < len(rows)
                expected = float(sum(m * q for m, q, _ in chances) / hidden)
                for each in (run, check):
                    assert (each.hidden, each.is_same) == (hidden, same)
                    assert each.share == pytest.approx(narrowed / hidden)
                    assert each.chance == pytest.approx(expected)
                    assert each.evidence == pytest.approx(evidence(chances), abs=1e-9)


@pytest.mark.parametrize("own", [(1, 1, 2, 3, 3), (1, 1, 1, 2, 2), (1, 2, 3, 4, 5)])
@pytest.mark.parametrize("attached", [(1, 1, 2, 2, 3), (1, 1, 1, 2, 2), (1, 2, 3, 4, 4)])
def test_chance_is_the_mean_of_all_permutations(own, attached):
    shares = []
    for permuted in itertools.permutations(attached):
        groups = defaultdict(list)
        for value, group in zip(own, permuted, strict=True):
            groups[group].append(value)
        shares.append(sum(len(g) for g in groups.values() if len({*g}) == 1) / len(own))
    (found,) = narrowings(*tables(own, [-1] * 5, attached=attached), ["attached"])
    assert found.chance == pytest.approx(sum(shares) / len(shares))


def test_the_thresholds_of_a_run_and_of_verify_are_the_same():
    ours = EVIDENCE, POWERS, MOST_OF_THE_REST
    assert ours == (recount.EVIDENCE, recount.POWERS, recount.OF_THE_REST)


def test_verify_refuses_a_copy_of_a_hidden_column_in_few_rows_whatever_was_accepted():
    own, hidden = [1, 1, 2, 2], [-1] * 4
    with database() as db:
        (copy, other, _) = recounted(db, own, hidden, [7, 7, 8, 8], [7, 7, 8, 7])
    assert (0, 0) == (copy.beyond_chance, other.beyond_chance)
    assert (True, False) == (copy.exceeds(1.0), other.exceeds(1.0))


@pytest.mark.parametrize(
    ("made", "call"),
    [(gv.Table.from_columns, "{}"), (pd.DataFrame, "graphveil.Table.from_arrow(data, {})")],
)
def test_a_refused_column_is_dropped_by_what_reads_it_and_known_by_the_method(made, call):
    data = made({"name": [f"p{i}" for i in range(30)], "age": [20 + i % 3 for i in range(30)]})
    method = gv.Generalize(k=2, known="age", attach="name", levels={"age": "10"})
    with pytest.raises(DataError) as refused:
        method.anonymize(data)
    drop = call.format('drop="name"')
    assert str(refused.value).endswith(f'attached. Use {drop}, or known="name" and levels.')


def test_cells_without_an_original_value_are_not_hidden():
    before = gv.Table.from_columns({"known": [1, 2, None, None], "attached": [1, 2, 3, 3]})
    after = gv.Table.from_columns({"known": [None] * 4, "attached": [1, 2, 3, 3]})
    (found,) = narrowings(before, after, ["attached"])
    assert (found.hidden, found.share) == (2, 1)


def table_of(seed, n=200, *, noise=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, n)
    return pd.DataFrame(
        {
            "age": age,
            "birth": 2020 - age + rng.integers(-noise, noise + 1, n),
            "ill": rng.choice(["flu", "cold", "gout"], n),
        }
    )


def generalized(known="age", attach="birth,ill", **more):
    return gv.Generalize(k=12, known=known, attach=attach, levels={"age": "10"}, **more)


@pytest.mark.parametrize(
    ("rows", "known", "attach"),
    [
        ({"sex": "mmf", "gender": "112", "ill": "xyx"}, "sex", "gender,ill"),
        ({"age": [30, 31, 32], "copy": [30, 31, 32], "ill": "xyx"}, "age", "copy,ill"),
        ({"age": [30, 31, 32], "mail": ["a@x", "b@x", "c@x"], "ill": "xyx"}, "age", "mail,ill"),
        (
            {"age": [30, 31, 32, 40, 41, 42], "birth": range(1990, 1996), "ill": "xyxyxy"},
            "age",
            "birth,ill",
        ),
    ],
)
def test_tables_of_few_rows_are_refused_as_large_ones_are(rows, known, attach):
    people = gv.Table.from_columns({name: [*values] for name, values in rows.items()})
    levels = {"age": "10"} if known == "age" else None
    method = gv.Generalize(k=3, known=known, attach=attach, levels=levels)
    with pytest.raises(DataError, match=f"{attach.partition(',')[0]} "):
        method.anonymize(people, seed=1)


@pytest.mark.parametrize(
    "method",
    [
        generalized(),
        gv.SuppressK(k=5, known="age", attach="birth,ill"),
        gv.Mondrian(k=5, known="age", attach="birth,ill"),
        gv.SmoothK(k=5, known="age", attach="birth,ill"),
        gv.ClusterK(k=5, known="age", attach="birth,ill"),
        gv.Adaptive(levels=5, known="age", attach="birth,ill"),
    ],
    ids=lambda method: method.name,
)
def test_every_method_refuses_the_year_of_birth_next_to_an_age(method):
    people = table_of(1)
    people["age"] += 0 if method.name == "generalize" else 1
    with pytest.raises(DataError, match=r"birth says the same as age: .* all of the"):
        method.anonymize(people, seed=1)


def network_with(*, noise):
    rng = np.random.default_rng(3)
    zips = np.minimum(rng.geometric(0.12, 150), 29)
    codes = np.where(rng.random(150) < noise, rng.integers(1, 30, 150), zips) + 1000
    u, v = rng.integers(0, 150, (2, 400))
    graph = gv.Graph.from_edges(u, v, n=150, directed="symmetrize")
    return gv.Network({"knows": graph}, gv.Table.from_columns({"zip": zips, "code": codes}))


@pytest.mark.parametrize("method", [gv.KDegree, gv.StructuralAnonymity])
def test_a_network_refuses_a_code_of_a_known_attribute(method):
    with pytest.raises(DataError, match="code says the same as zip"):
        method(k=5, known="zip", attach="code").anonymize(network_with(noise=0), seed=1)


@pytest.fixture(scope="module")
def accepted(tmp_path_factory):
    """Return tables whose attached column narrows some ages, and their releases."""
    people = table_of(2, 300, noise=2)
    with pytest.raises(DataError) as asked:
        generalized().anonymize(people, seed=1)
    (hint,) = asked.value.hints[-1:]
    assert asked.value.command(["anonymize"]).endswith(f"anonymize --may-narrow {hint.value}")
    release = generalized(**{hint.name: hint.value}).anonymize(people, seed=1)
    return people, hint.value, release.write(tmp_path_factory.mktemp("accepted") / "out")


def test_what_was_asked_is_answered_by_what_was_proposed_and_is_stated(accepted):
    people, share, folder = accepted
    verdict = verify(folder, original=people)
    assert failed(verdict) == {}
    (check,) = [check for check in verdict.checks if check.name == HIDDEN]
    percent = float(check.detail.partition("narrow ")[2].partition("%")[0])
    assert 100 * share - 5 < percent <= 100 * share
    stated = gv.read_release(folder).conditions[0]
    assert stated.may_narrow == share
    assert f"narrow up to {100 * share:g}% of the hidden values" in stated.sentence


@pytest.mark.parametrize("share", [None, 0.05])
def test_a_release_that_was_not_accepted_is_refused_by_verify(accepted, share):
    people, given, folder = accepted
    manifest = manifest_of(folder)
    (condition,) = [one for one in manifest["claim"]["conditions"] if "may_narrow" in one]
    for holder in (condition, manifest["method"]["parameters"]):
        assert holder.pop("may_narrow") == given
        holder.update({} if share is None else {"may_narrow": share})
    before = (folder / "release.json").read_bytes()
    try:
        reseal(folder, manifest)
        problems = failed(verify(folder, original=people))
    finally:
        (folder / "release.json").write_bytes(before)
    assert "'birth' narrows" in problems[HIDDEN]
    assert "claim and parameters" not in problems


def unasked(method, people, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(type(method), "check_drafted", lambda *_: None)
        return method.anonymize(people, seed=1)


@pytest.mark.parametrize("noise", [0, 1, 2, 3, 6])
def test_verify_refuses_what_a_run_refuses_and_nothing_else(noise, monkeypatch):
    people = table_of(noise, 300, noise=noise)
    release = unasked(generalized(), people, monkeypatch)
    try:
        generalized().anonymize(people, seed=1)
    except DataError:
        assert HIDDEN in failed(release.verify(people))
    else:
        assert failed(release.verify(people)) == {}


@pytest.mark.parametrize("noise", [0, 0.05, 1])
def test_verify_refuses_the_attributes_that_a_run_refuses(noise, monkeypatch):
    network, method = network_with(noise=noise), gv.KDegree(k=5, known="zip", attach="code")
    release = unasked(method, network, monkeypatch)
    assert (HIDDEN in failed(release.verify(network))) == (noise < 1)
    if noise < 1:
        with pytest.raises(DataError, match="code "):
            method.anonymize(network, seed=1)
    else:
        method.anonymize(network, seed=1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", [3, 6])
def test_independent_columns_are_attached_without_a_question(seed, width):
    rng = np.random.default_rng([seed, width])
    n = 150
    sizes = [2, 5, 12, 25, 40, 60]
    columns = {f"c{i}": rng.integers(0, sizes[i], n) for i in range(width)}
    people = gv.Table.from_columns({"age": rng.integers(20, 70, n), **columns})
    for method in (
        gv.Generalize(k=4, known="age", attach=[*columns], levels={"age": "10"}),
        gv.SuppressK(k=4, known="age,c0", attach=[*columns][1:]),
    ):
        assert method.anonymize(people, seed=1).data.n_rows == n


def test_all_attached_columns_together_are_read_too():
    rng = np.random.default_rng(8)
    age = rng.integers(20, 60, 900)
    # Each column alone says nothing of the age: its last digit is that of their sum.
    one = rng.integers(0, 10, 900)
    people = pd.DataFrame({"age": age, "one": one, "other": (age - one) % 10})
    people = gv.Table.from_arrow(people, person="row")
    method = gv.Generalize(k=40, known="age", attach="one,other", levels={"age": "10"})
    with pytest.raises(DataError, match=r"one, other together narrow 100\.0% of the"):
        method.anonymize(people, seed=1)


def test_the_proposed_share_covers_what_was_found():
    for beyond in (0.0501, 0.1, 0.1001, 0.26, 0.5):
        assert beyond <= proposed(beyond) < beyond + 0.05
