"""People whose attributes few have: how they are put together, and what is then published."""

import csv
import shutil
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from forged.networks import failed, sealed_anew
from graphveil.claims.facts import people_suppressed
from graphveil.core.randomness import Randomness
from graphveil.data import SUPPRESSED, Table
from graphveil.methods import attributes as module
from graphveil.methods.attributes import colors_of, numbered_colors
from graphveil.release.files import read_linkage

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

N, K = 40, 3
GROUPED = ("mondrian", "smooth")
METHODS = {
    "k-degree": gv.KDegree(k=K, known="sex,year"),
    "structural": gv.StructuralAnonymity(k=K, known="sex,year", iterations=1_000, goal="budget:.2"),
    "profile": gv.Profile(k=K, known="sex,year"),
}


def network(*, directed=False):
    rng = np.random.default_rng(4)
    years = [*np.repeat([2001, 2002], 14).tolist(), *np.repeat(range(2003, 2009), 2).tolist()]
    people = {"sex": ["f", "m", "m", "f"] * (N // 4), "year": years}
    ends = rng.integers(0, N, size=(2, 4 * N))
    layer = gv.Layer.from_arcs(*ends, n=N)
    if not directed:
        layer = gv.Layer.of(gv.Graph.from_edges(*ends, n=N, directed="symmetrize"))
    return gv.Network((layer,), gv.Table.from_columns(people), [f"p{v}" for v in range(N)])


def shown_of(data, merge, k=K):
    return colors_of(data, ("sex", "year"), k, merge, Randomness(seed=2)).table.codes


@pytest.mark.parametrize("merge", GROUPED)
@pytest.mark.parametrize("k", [2, 3, 5, 20])
def test_groups_of_rare_people_show_what_is_theirs_and_k_share_every_row(merge, k):
    data = network()
    own, shown = data.people.codes, shown_of(data, merge, k)
    whole = shown_of(data, "suppress", k)
    for each in (shown, whole):
        assert min(Counter(map(tuple, each.tolist())).values()) >= k
        assert np.all((each == own) | (each == SUPPRESSED))
    assert (shown == SUPPRESSED).sum() < (whole == SUPPRESSED).sum()


@pytest.mark.parametrize("merge", GROUPED)
def test_rows_that_k_people_share_stay(merge):
    data = network()
    rows = list(map(tuple, data.people.codes.tolist()))
    sizes = Counter(rows)
    frequent = [person for person, row in enumerate(rows) if sizes[row] >= K]
    assert np.array_equal(shown_of(data, merge)[frequent], data.people.codes[frequent])


@pytest.mark.parametrize("merge", GROUPED)
def test_where_rare_people_are_fewer_than_k_the_next_smallest_color_joins_them(merge):
    sexes = gv.Table.from_columns({"sex": ["f"] * 6 + ["m"] * 4 + ["x"]})
    data = gv.Network({"ties": gv.Graph.from_edges([0], [1], n=11)}, sexes)
    colors = colors_of(data, ("sex",), 2, merge, Randomness(seed=1))
    sizes = Counter(colors.table.to_arrow()["sex"].to_pylist())
    assert sizes["f"] == 6
    assert sizes["x"] == 0
    assert sizes[None] >= 2
    assert sizes["m"] != 1
    assert people_suppressed(data.people, colors.table) == sizes[None]


@pytest.mark.parametrize("merge", GROUPED)
def test_missing_values_are_values_like_others(merge):
    people = gv.Table.from_columns({"sex": ["f", "f", "*", "*", "f", "m"], "year": [*"111124"]})
    data = gv.Network({"ties": gv.Graph.from_edges([0], [1], n=6)}, people)
    colors = colors_of(data, ("sex", "year"), 2, merge, Randomness(seed=1))
    rows = Counter((row["sex"], row["year"]) for row in colors.table.to_arrow().to_pylist())
    assert rows == {("f", "1"): 2, (None, "1"): 2, (None, None): 2}
    assert people_suppressed(data.people, colors.table) == 2


@pytest.mark.parametrize("merge", GROUPED)
def test_names_of_values_change_nothing(merge):
    data = network()
    people = data.people.to_arrow().to_pydict()
    renamed = {"sex": [{"f": "w", "m": "a"}[sex] for sex in people["sex"]]}
    renamed["year"] = people["year"]
    other = gv.Network(data.layers, gv.Table.from_columns(renamed), data.labels())
    stars = [(shown_of(each, merge) == SUPPRESSED).sum(axis=1) for each in (data, other)]
    assert Counter(stars[0].tolist()) == Counter(stars[1].tolist())


@pytest.mark.parametrize("merge", GROUPED)
@pytest.mark.parametrize("name", METHODS)
def test_every_method_releases_what_verify_recounts(name, merge, tmp_path):
    data = network(directed=name == "profile")
    method = METHODS[name]
    method = type(method).from_parameters({**method.parameters(), "merge": merge})
    folder = method.anonymize(data, seed=1).write(tmp_path / "out")
    verdict = gv.verify_release(folder, data)
    assert [] == verdict.failures()
    assert verdict.complete
    with (folder / "people.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert min(Counter((row["sex"], row["year"]) for row in rows).values()) >= K
    assert {("f", "*"), ("m", "*")} & {(row["sex"], row["year"]) for row in rows}


@pytest.fixture(scope="module")
def partial(tmp_path_factory):
    method = METHODS["structural"]
    place = tmp_path_factory.mktemp("partial")
    return method.anonymize(network(), seed=1).write(place / "out")


@pytest.fixture
def folder(partial, tmp_path):
    shutil.copytree(partial.parent, tmp_path / "copy")
    return tmp_path / "copy" / "out"


def test_of_a_partial_promise_attributes_are_promised_to_everybody(folder):
    sentence = gv.verify_release(folder).sentence
    assert sentence.startswith("At least ")
    assert sentence.endswith("Every node has the same sex and year as at least 2 others.")


def test_a_row_of_attributes_that_few_have_is_caught_in_a_partial_release(folder):
    """The released person is unprotected before and after: only the attributes alone tell."""
    linkage, original = read_linkage(folder), network().people.to_arrow().to_pylist()
    lines = [line.split(",") for line in (folder / "people.csv").read_text().splitlines()]
    at = next(i for i, line in enumerate(lines) if line[2] == "*")
    person = linkage.released.tolist().index(int(lines[at][0]))
    lines[at][1:] = [original[person]["sex"], str(original[person]["year"])]
    (folder / "people.csv").write_text("".join(",".join(line) + "\n" for line in lines))

    def claim_less(manifest):
        manifest["data"]["counts"]["suppressed_cells"] -= 2
        promise = manifest["claim"]["guarantee"]
        was, promise["share"] = promise["share"], 0.25
        manifest["claim"]["sentence"] = manifest["claim"]["sentence"].replace(
            f"At least {np.floor(was * 1e6 + 1e-6) / 1e4:g}%", "At least 25%"
        )

    sealed_anew(folder, claim_less)
    problems = failed(folder)
    assert list(problems) == ["classes"]
    assert (
        "1 node has values of 'sex' and 'year' that fewer than k=3 nodes share"
        in problems["classes"]
    )


@pytest.mark.parametrize("column", [1, 2])
def test_a_cell_beside_a_star_that_is_not_the_owners_is_caught(column, tmp_path):
    method = gv.KDegree(k=K, known="sex,year", merge="mondrian")
    folder = method.anonymize(network(), seed=1).write(tmp_path / "out")
    lines = [line.split(",") for line in (folder / "people.csv").read_text().splitlines()]
    at = next(i for i, line in enumerate(lines) if line[2] == "*" and line[1] != "*")
    lines[at][column] = {"f": "m", "m": "f", "*": "2001"}[lines[at][column]]
    (folder / "people.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    sealed_anew(folder)
    assert "own attributes" in failed(folder, network())


@given(st.lists(st.integers(-3, 5), max_size=12), st.sampled_from([1, 10**9, -(10**12)]))
def test_colors_are_numbered_as_people_have_them_first(drawn, scale):
    """Near numbers are looked up in a table, far ones are sorted."""
    colors = np.array(drawn, dtype=np.int64) * scale
    number = {color: at for at, color in enumerate(dict.fromkeys(colors.tolist()))}
    expected = [number[color] for color in colors.tolist()]
    assert expected == numbered_colors(colors, colors.size).tolist()


@pytest.mark.parametrize("most_rows", [1 << 62, 0])
@given(rows=st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 1)), min_size=1, max_size=12))
def test_equal_rows_have_one_color_however_many_rows_there_could_be(most_rows, rows):
    table = Table(np.array(rows, dtype=np.int32), ("a", "b"), (["x", "y", "z"], ["u", "v"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_ROWS", most_rows)
        of_person, sizes = module._classes(table)
    number = {row: at for at, row in enumerate(dict.fromkeys(rows))}
    assert [number[row] for row in rows] == of_person.tolist()
    assert [rows.count(row) for row in number] == sizes.tolist()
