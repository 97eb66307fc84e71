"""Networks with attributes: what verify recounts, and what it catches once it is sealed anew."""

import csv
import shutil
from collections import Counter

import msgspec
import numpy as np
import pytest

import graphveil as gv
from forged.networks import failed, sealed_anew
from graphveil.release.files import read_linkage

N, K = 60, 3


def network():
    rng = np.random.default_rng(8)
    u, v = np.triu_indices(N, 1)
    chosen = rng.random(u.size) < 0.12
    said = {
        "sex": [["f", "m"][code] for code in rng.integers(0, 2, N)],
        "town": [["Oslo", "Bergen", "*"][code] for code in rng.integers(0, 3, N)],
        "year": (2000 + rng.integers(0, 2, N)).tolist(),
    }
    graph = gv.Graph.from_edges(u[chosen], v[chosen], n=N)
    return gv.Network({"ties": graph}, gv.Table.from_columns(said), [f"p{n}" for n in range(N)])


def directed():
    rng = np.random.default_rng(9)
    layer = gv.Layer.from_arcs(rng.integers(0, 20, 60), rng.integers(0, 20, 60), n=20)
    sexes = gv.Table.from_columns({"sex": ["f", "m"] * 10})
    return gv.Network((layer,), sexes, [f"p{n}" for n in range(20)])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    method = gv.KDegree(k=K, known="sex,year", attach="town")
    place = tmp_path_factory.mktemp("whole")
    return method.anonymize(network(), seed=5).write(place / "out")


@pytest.fixture
def folder(whole, tmp_path):
    shutil.copytree(whole.parent, tmp_path / "copy")
    return tmp_path / "copy" / "out"


def rows_of(folder):
    return [line.split(",") for line in (folder / "people.csv").read_text().splitlines()]


def write_rows(folder, rows):
    (folder / "people.csv").write_text("".join(",".join(row) + "\n" for row in rows))


def degrees_of(folder):
    with (folder / "data.csv").open() as file:
        return Counter(end for row in list(csv.reader(file))[1:] for end in row)


def test_the_released_people_and_ties_keep_the_promise_by_a_count_of_the_files(folder):
    degrees = degrees_of(folder)
    cells = Counter((row[1], row[3], degrees[row[0]]) for row in rows_of(folder)[1:])
    assert rows_of(folder)[0] == ["node", "sex", "town", "year"]
    assert min(cells.values()) >= K
    verdict = gv.verify_release(folder, network())
    assert [] == verdict.failures()
    assert verdict.complete
    linkage, original = read_linkage(folder), network().people_to_arrow().to_pylist()
    owner = dict(zip(linkage.released.tolist(), range(N), strict=True))
    for row in rows_of(folder)[1:]:
        own = original[owner[int(row[0])]]
        assert row[2] == (own["town"] or "*")
        assert row[1] in ("*", own["sex"])


def test_without_the_original_the_classes_are_recounted_and_the_claim_holds(folder):
    verdict = gv.verify_release(folder)
    assert verdict.ok
    assert verdict.exit_code == 0


def test_an_attached_column_that_nearly_identifies_people_is_refused_as_a_run_refuses_it(folder):
    rows = rows_of(folder)
    for number, row in enumerate(rows[1:]):
        row[2] = f"t{number}"
    write_rows(folder, rows)
    sealed_anew(folder)
    verdict = gv.verify_release(folder)
    assert 1 == verdict.exit_code
    said = failed(folder)["attached columns"]
    assert "'town' has 60 values for 60 nodes, so it nearly identifies people" == said
    assert "The guarantee that release.json states holds in the data file." in verdict.said()[0]
    for number, row in enumerate(rows[1:]):
        row[2] = f"t{min(number, 53)}"  # 54 of 60 values are 90%
    write_rows(folder, rows)
    sealed_anew(folder)
    assert "attached columns" not in failed(folder)


def test_a_known_column_that_nearly_identifies_people_is_refused(tmp_path):
    network = gv.Network(
        {"ties": gv.Graph.from_edges([0], [1], n=12)},
        gv.Table.from_columns({"diary": [f"d{n}" for n in range(12)]}),
    )
    with pytest.raises(gv.GraphveilError, match="it nearly identifies them"):
        gv.KDegree(k=2, known="diary").anonymize(network)
    whole = gv.KDegree(k=2, known="diary").anonymize(
        gv.Network(network.layers, gv.Table.from_columns({"diary": ["a", "b"] * 6}))
    )
    folder = whole.write(tmp_path / "out")
    rows = rows_of(folder)
    for number, row in enumerate(rows[1:]):
        row[1] = f"d{number}"
    write_rows(folder, rows)
    sealed_anew(folder)
    assert "'diary' has 12 values for 12 nodes, so it nearly" in failed(folder)["classes"]


def test_what_only_the_original_shows_is_listed_and_can_be_required(folder):
    shutil.rmtree(folder.parent / "out.private")
    verdict = gv.verify_release(folder)
    first, open_, *_ = verdict.said()
    assert first.startswith("The guarantee holds: every node of the release has the same sex and")
    assert open_.startswith("Not checked without the original: ")
    assert "attributes belong to their node" in open_
    every = gv.verify_release(folder, require_all=True)
    assert (4, False, False) == (every.exit_code, every.ok, bool(every))
    assert "undecided" == every.as_json()["answer"]


def test_a_class_of_pairs_below_k_is_caught_though_attributes_and_degrees_alone_hold(folder):
    degrees, rows = degrees_of(folder), rows_of(folder)
    cell = {row[0]: (row[1], row[3], degrees[row[0]]) for row in rows[1:]}
    sizes = Counter(cell.values())
    one = next(row for row in rows[1:] if sizes[cell[row[0]]] == K)
    other = next(
        row
        for row in rows[1:]
        if (row[1], row[3]) != (one[1], one[3]) and degrees[row[0]] != degrees[one[0]]
    )
    before = Counter((row[1], row[3]) for row in rows[1:])
    one[1], one[3], other[1], other[3] = other[1], other[3], one[1], one[3]
    assert before == Counter((row[1], row[3]) for row in rows[1:])
    write_rows(folder, rows)
    sealed_anew(folder)
    problems = failed(folder)
    assert ["classes"] == list(problems)
    assert "equal sex, year and degree" in problems["classes"]
    assert "own attributes" in failed(folder, network())


def test_two_rows_of_one_class_that_change_places_are_caught_with_the_original(folder):
    """Town is attached: who has which is not in the classes, and yet every cell has its owner."""
    degrees, rows = degrees_of(folder), rows_of(folder)
    cell = {row[0]: (row[1], row[3], degrees[row[0]]) for row in rows[1:]}
    one, other = next(
        (a, b)
        for a in rows[1:]
        for b in rows[1:]
        if a[0] < b[0] and cell[a[0]] == cell[b[0]] and a[2] != b[2]
    )
    one[2], other[2] = other[2], one[2]
    write_rows(folder, rows)
    sealed_anew(folder)
    assert {} == failed(folder)
    assert "attached cells" in failed(folder, network())


def test_a_cell_that_is_changed_within_its_class_is_caught_with_the_original(folder):
    rows = rows_of(folder)
    shown = next(row for row in rows[1:] if row[2] == "Oslo")
    shown[2] = "Bergen"
    write_rows(folder, rows)
    sealed_anew(folder)
    problems = failed(folder, network())
    assert (
        f"node {shown[0]} has 'town'='Bergen', but 'Oslo' in the original"
        in problems["attached cells"]
    )


def test_a_value_that_no_original_has_and_a_star_that_was_none_are_told_apart(folder):
    rows = rows_of(folder)
    next(row for row in rows[1:] if row[2] == "Oslo")[2] = "*"
    write_rows(folder, rows)

    def change(manifest):
        manifest["data"]["counts"]["suppressed_cells"] += 1

    sealed_anew(folder, change)
    problems = failed(folder, network())
    assert {"attached cells"} == set(
        problems
    )  # a star is nobody's attribute, and attached it is not


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda m: m["claim"]["guarantee"].update(known=["sex", "town", "year"]), "classes"),
        (lambda m: m["claim"]["guarantee"].update(known=["sex"]), "classes"),
        (lambda m: m["claim"]["guarantee"].update(known=["sex", "age"]), "classes"),
        (lambda m: m["claim"]["conditions"].pop(), "classes"),
        (lambda m: m["claim"]["conditions"][-1].update(attach=["town", "sex"]), "attached columns"),
        (lambda m: m["data"]["layers"][0].update(directed=True), "classes"),
        (lambda m: m["data"]["counts"].update(columns=2), "counts"),
        (lambda m: m["data"]["files"][1]["columns"].reverse(), "data"),
        (lambda m: m["method"]["parameters"].update(known="sex"), "claim and parameters"),
    ],
)
def test_a_role_that_is_moved_dropped_or_made_up_is_caught(folder, change, check):
    def both(manifest):
        change(manifest)
        guarantee = msgspec.convert(manifest["claim"]["guarantee"], gv.StructuralKAnonymity)
        manifest["claim"]["sentence"] = guarantee.sentence
        manifest["claim"]["threat_model"] = guarantee.threat_model

    sealed_anew(folder, both)
    assert check in failed(folder)


def test_another_name_of_the_ties_is_caught_with_the_original(folder):
    sealed_anew(folder, lambda m: m["data"]["layers"][0].update(name="calls"))
    assert {} == failed(folder)
    assert "layer" in failed(folder, network())


@pytest.mark.parametrize("n_layers", [0, 2])
def test_a_network_has_one_layer_in_its_manifest(folder, n_layers):
    def change(manifest):
        manifest["data"]["layers"] = manifest["data"]["layers"][:1] * n_layers

    sealed_anew(folder, change)
    verdict = gv.verify_release(folder)
    assert not verdict.ok


def test_arcs_that_are_turned_reordered_repeated_or_to_oneself_are_caught(tmp_path):
    original = directed()
    folder = gv.Rename().anonymize(original, seed=3).write(tmp_path / "out")
    assert {} == failed(folder, original)
    whole = (folder / "data.csv").read_text().splitlines()
    arcs = [tuple(map(int, line.split(","))) for line in whole[1:]]
    turned = next((u, v) for u, v in arcs if (v, u) not in arcs)
    loop = arcs[0][0]
    cases = {
        "same data": sorted({*arcs} - {turned} | {turned[::-1]}),
        "canonical order": [arcs[1], arcs[0], *arcs[2:]],
        "simple graph": sorted([*arcs[1:], arcs[1]]),
        "simple graph ": sorted([*arcs[1:], (loop, loop)]),
        "endpoints": sorted([*arcs[1:], (3, 99)]),
    }
    for name, changed in cases.items():
        lines = [whole[0], *(f"{u},{v}" for u, v in changed)]
        (folder / "data.csv").write_text("".join(f"{line}\n" for line in lines))
        sealed_anew(folder)
        assert name.strip() in failed(folder, original), name


def test_an_attribute_of_another_person_is_no_renaming(tmp_path):
    original = directed()
    folder = gv.Rename().anonymize(original, seed=3).write(tmp_path / "out")
    rows = rows_of(folder)
    one, other = (next(row for row in rows[1:] if row[1] == sex) for sex in "fm")
    one[1], other[1] = other[1], one[1]
    write_rows(folder, rows)
    sealed_anew(folder)
    assert "has a different value of 'sex'" in failed(folder, original)["same data"]


@pytest.mark.parametrize(
    ("cell", "value"), [((3, 1), ""), ((3, 0), "x"), ((3, 0), "01"), ((3, 1), " f")]
)
def test_people_files_that_are_odd_cannot_be_read(folder, cell, value):
    rows = rows_of(folder)
    rows[cell[0]][cell[1]] = value
    write_rows(folder, rows)
    sealed_anew(folder)
    assert "people.csv" in failed(folder)["data"]


@pytest.mark.parametrize(
    ("change", "noticed_by"),
    [
        ("swapped", {"canonical order"}),
        ("twice", {"ids", "canonical order"}),
        ("a gap", {"ids", "endpoints", "canonical order", "classes"}),
        ("one less", {"endpoints", "classes"}),
        ("one more", {"classes"}),
    ],
)
def test_people_who_stand_in_another_order_or_not_once_are_caught(folder, change, noticed_by):
    """All counts in the manifest are those of the forged file: no other check can notice it."""
    names, *rows = rows_of(folder)
    forged = {
        "swapped": [rows[1], rows[0], *rows[2:]],
        "twice": [rows[0], *rows],
        "a gap": rows[1:],
        "one less": rows[:-1],
        "one more": [*rows, [str(N), *rows[0][1:]]],
    }[change]
    write_rows(folder, [names, *forged])

    def counts_of_the_forged(manifest):
        data = manifest["data"]
        data["counts"]["nodes"] = len(forged)
        next(file for file in data["files"] if file["name"] == "people.csv")["rows"] = len(forged)
        stars = sum(cell == "*" for row in forged for cell in row)
        data["counts"]["suppressed_cells"] = stars

    sealed_anew(folder, counts_of_the_forged)
    assert noticed_by == failed(folder).keys()
