"""Roles of the columns of a table, in every method that suppresses cells of known ones."""

from __future__ import annotations

import csv
import hashlib
import io
import shutil

import numpy as np
import pandas as pd
import pytest
from tampering import failed, manifest_of, recount_cells, reseal

import graphveil as gv
from graphveil.core.errors import GraphveilError
from graphveil.verify import verify
from graphveil.verify.promises.rows import generalized

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.core.warnings.GraphveilWarning")

METHODS = {
    "suppress-k": (gv.SuppressK, {"k": 3}),
    "mondrian": (gv.Mondrian, {"k": 3}),
    "mondrian-majority": (gv.Mondrian, {"k": 3, "release": "majority"}),
    "smooth-k": (gv.SmoothK, {"k": 3, "ties": "drop"}),
    "cluster-k": (gv.ClusterK, {"k": 3}),
    "adaptive": (gv.Adaptive, {"levels": 3}),
}
KNOWN, ATTACHED = ["age", "sex", "town"], ["income", "ill"]
ROLES = {"known": "age,sex,town", "attach": "income", "label": "ill"}
DIGESTS = {"owner's record", "linkage file"}


def people(n=24):
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "income": rng.choice([1.5, 2.25, 3.0], n),
            "age": rng.choice([20, 30], n),
            "ill": rng.choice(["flu", "cold", "gout"], n),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["x", "y", "z"], n),
        }
    )


def made(name, **changed):
    method, parameters = METHODS[name]
    return method(**parameters, **{**ROLES, **changed})


@pytest.fixture(scope="module", params=METHODS)
def honest(request):
    return made(request.param).anonymize(people(), seed=1)


def failures(folder, **given):
    return {n: d for n, d in failed(verify(folder, **given)).items() if n not in DIGESTS}


def test_an_honest_release_holds_and_its_folder_reads_back(honest, tmp_path):
    assert {} == failed(honest.verify(people()))
    folder = honest.write(tmp_path / "release")
    assert {} == failed(verify(folder, original=people()))
    back = gv.read_release(folder)
    assert back.generalized == honest.generalized
    assert list(people()) == list(back.data.columns)


def test_attached_columns_are_those_of_the_row_and_known_ones_as_if_they_were_alone(honest):
    name = next(n for n, (method, given) in METHODS.items() if honest.provenance.method == n)
    if "release" in honest.provenance.parameters and honest.guarantee.__class__.__name__[0] == "S":
        name = "mondrian-majority"
    method, parameters = METHODS[name]
    alone = method(**parameters).anonymize(people()[KNOWN], seed=1)
    assert alone.data == honest.data.without(ATTACHED)
    links = honest.private.linkage
    assert links is not None
    place = links.positions_of(np.arange(len(people())), honest.data.labels())
    shown = pd.DataFrame(honest.data.to_arrow().to_pydict()).iloc[place].reset_index(drop=True)
    assert people()["income"].tolist() == shown["income"].astype(float).tolist()
    assert people()["ill"].tolist() == shown["ill"].tolist()


def test_claim_and_limits_are_about_the_known_columns(honest):
    assert tuple(KNOWN) == honest.guarantee.known
    assert "age, sex, town" in honest.guarantee.sentence
    assert "age, sex, town" in honest.guarantee.adversary
    assert honest.conditions[0].columns == ("income", "ill")
    assert "Attached columns are published unchanged" in honest.provenance.limits


def rewritten(folder, change):
    """Write other cells into the data file, and a manifest that describes them."""
    rows = list(csv.reader(io.StringIO((folder / "data.csv").read_text())))
    change(rows)
    content = "".join(f"{','.join(row)}\n" for row in rows).encode()
    (folder / "data.csv").write_bytes(content)
    manifest = manifest_of(folder)
    digest = hashlib.sha256(content).hexdigest()
    manifest["data"]["files"][0] |= {"bytes": len(content), "sha256": digest}
    manifest["data"]["counts"]["suppressed_cells"] = sum(row.count("*") for row in rows[1:])
    recount_cells(folder, manifest)
    reseal(folder, manifest)


def test_another_attached_cell_is_noticed(honest, tmp_path):
    folder = honest.write(tmp_path / "release")

    def change(rows):
        at = rows[0].index("ill")
        rows[1][at] = "gout" if rows[1][at] != "gout" else "flu"

    rewritten(folder, change)
    assert "attached cells" in failures(folder, original=people())


@pytest.mark.parametrize("name", ["suppress-k", "smooth-k", "adaptive"])
def test_a_row_that_equals_too_few_is_noticed_from_the_file_alone(name, tmp_path):
    folder = made(name).anonymize(people(), seed=1).write(tmp_path / "release")

    def change(rows):
        for column, value in (("age", "99"), ("town", "q")):
            rows[1][rows[0].index(column)] = value

    rewritten(folder, change)
    assert {"classes", "level"} & set(failures(folder))


@pytest.mark.parametrize("name", METHODS)
def test_a_claim_about_fewer_columns_is_noticed(name, tmp_path):
    folder = made(name).anonymize(people(), seed=1).write(tmp_path / "release")
    manifest = manifest_of(folder)
    manifest["claim"]["guarantee"]["known"] = ["age", "sex"]
    reseal(folder, manifest)
    said = failures(folder)
    assert "'town' is published, but is neither known nor attached" in [
        said.get("classes"),
        said.get("level"),
    ]


def test_a_condition_about_other_columns_than_the_guarantee_is_noticed(tmp_path):
    folder = made("smooth-k").anonymize(people(), seed=1).write(tmp_path / "release")
    manifest = manifest_of(folder)
    [condition] = [c for c in manifest["claim"]["conditions"] if "columns" in c]
    condition["columns"] = ["age"]
    reseal(folder, manifest)
    said = failures(folder, original=people())
    assert said["no ties"] == "the condition is about other columns than the guarantee"


def test_without_roles_nothing_is_said_of_them():
    for name, (method, parameters) in METHODS.items():
        release = method(**parameters).anonymize(people()[KNOWN], seed=1)
        assert release.generalized is None, name
        assert not {"known", "attach", "label"} & set(release.provenance.parameters)
        assert not getattr(release.guarantee, "known", None)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    ("roles", "named"),
    [
        ({"attach": None}, ["no role for income", "--known", "--attach", "--label", "--drop"]),
        ({"attach": "income,age"}, ["'age'", "known and attach"]),
        ({"attach": "incom,income"}, ["'incom' for attach", "Did you mean income?"]),
        ({"known": None, "attach": "income,age,sex,town"}, ["none of the 5 columns"]),
        ({"known": "age,sex,town,income", "attach": None}, ["income", "--bins"]),
    ],
)
def test_roles_that_do_not_suit_are_refused(name, roles, named):
    with pytest.raises(GraphveilError) as refused:
        made(name, **roles).anonymize(people())
    for word in named:
        assert word in refused.value.message.flags


def test_columns_that_name_people_are_refused_in_every_role():
    named = people().assign(who=[f"P{number}" for number in range(24)])
    for roles in ({"attach": "income,who"}, {"known": "age,sex,town,who"}):
        with pytest.raises(GraphveilError, match="who has 24 values in 24 rows"):
            made("suppress-k", **roles).anonymize(named)


def test_roles_are_for_tables_and_a_nested_release_takes_none():
    items = gv.Bipartite.from_lists([["a"], ["a"], ["b"], ["b"]])
    with pytest.raises(GraphveilError, match="roles are for the columns of a table"):
        gv.SuppressK(k=2, known="a").anonymize(items)
    first = made("suppress-k").anonymize(people(), seed=1)
    with pytest.raises(GraphveilError, match="a nested release takes no roles"):
        made("suppress-k").anonymize(people(), nested_in=first)
    with pytest.raises(GraphveilError, match="has attached columns"):
        gv.SuppressK(k=3).anonymize(people().drop(columns="income"), nested_in=first)


def test_attackers_read_known_columns_and_what_a_class_tells_of_the_label():
    release = made("suppress-k").anonymize(people(), seed=1)
    names = ["matching", "homogeneity"]
    rows = {(r.question, r.part): r.value for r in release.attack(people(), attacks=names)}
    assert rows["matching", "allowed records, fewest"] >= 3
    shown = release.data.to_arrow().to_pandas().astype(str)
    for name in ATTACHED:
        groups = shown.groupby(KNOWN, dropna=False)[name]
        alone = (groups.transform("nunique") == 1).mean()
        assert rows["homogeneity", f"{name}: in a class of one value"] == pytest.approx(alone)


def test_records_of_adaptive_agree_in_the_known_columns():
    release = made("adaptive").anonymize(people(), seed=1)
    assert {} == failed(release.verify(people()))


def test_a_column_of_levels_is_no_rule_of_a_hierarchy_where_a_release_is_evaluated():
    asked = people().assign(asked=[2, 3] * 12)
    release = gv.Adaptive(levels="asked", **ROLES).anonymize(asked, seed=1)
    rows = gv.evaluate_release(release, original=asked, metrics=["granularity"])
    stars = (release.data.without(ATTACHED).codes < 0).mean()
    [whole] = [row.value for row in rows if row.part == "all"]
    assert 1 - stars == pytest.approx(whole)


def test_values_of_attached_columns_belong_to_rows_and_names_without_digits_hide_no_number(
    tmp_path,
):
    folder = made("suppress-k").anonymize(people(), seed=1).write(tmp_path / "release")
    said = {check.name: check for check in verify(folder, original=people()).checks}
    assert "holds" == said["no original ids"].outcome
    shutil.rmtree(tmp_path / "release.private")
    open_ = {check.name: check.detail for check in verify(folder, original=people()).checks}
    assert "whether attached values belong to their node or row" == open_["attached cells"]


def test_whoever_has_fewer_rows_than_the_level_of_an_adaptive_release_is_found(
    monkeypatch, tmp_path
):
    folder = made("adaptive").anonymize(people(), seed=1).write(tmp_path / "release")
    fits = {c.name: c.detail for c in verify(folder, original=people()).checks}["consistent rows"]
    assert int(fits.removeprefix("everybody's values fit at least ").split()[0]) >= 3
    monkeypatch.setattr(generalized, "MOST_PEOPLE", 1)
    many = {c.name: c for c in verify(folder, original=people()).checks}["consistent rows"]
    assert "not checked" == many.outcome  # it does not follow from classes, which nobody promised


def test_consistent_rows_of_large_tables_follow_only_where_cells_are_checked(monkeypatch, tmp_path):
    folder = made("suppress-k").anonymize(people(), seed=1).write(tmp_path / "release")
    monkeypatch.setattr(generalized, "MOST_PEOPLE", 1)
    for outcome in ("holds", "not checked"):
        said = {check.name: check for check in verify(folder, original=people()).checks}
        assert outcome == said["consistent rows"].outcome == said["true cells"].outcome
        shutil.rmtree(tmp_path / "release.private", ignore_errors=True)


def test_classes_that_tell_nobodys_label_are_not_warned_of_and_reasons_are_those_of_the_run(
    recwarn,
):
    told = people(120).drop(columns="income")
    method = gv.Generalize(k=4, known=KNOWN, label="ill", diverse="ill=2")
    release = method.anonymize(told, seed=1)
    rows = gv.attack_release(release, original=told, attacks=["membership"], seed=1)
    assert not [one for one in recwarn if "published unprotected" in str(one.message)]
    why = "the run cannot be repeated: generalize with diverse reads the attached columns, too"
    assert {why} == set(rows.not_measured.values())
