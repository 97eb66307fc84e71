"""The methods `adaptive` and `cluster-k`: what they publish and refuse, and what stays secret."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

import graphveil as gv
from forged.kit import read_manifest, reseal
from graphveil.core.errors import DataError, InfeasibleError, ParameterError, UsageError
from graphveil.engines import LocalEngine, using
from graphveil.methods.adaptive import bipartite, blocks, choice, clusters, symmetric
from graphveil.methods.adaptive.kernels import merging
from graphveil.methods.adaptive.levels_and_weights import Levels, Weights
from graphveil.methods.adaptive.problem import UNIT, problem_of
from graphveil.release import read_record
from thorough import first_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

EXAMPLE = ("1000", "0000", "0011", "1011", "1100", "0111")
"""The paper's six people: alice, bob, carol, dave, eve, fred."""


def table_of(rows, **more):
    """Return a table of one-letter cells, ``*`` for what is missing, and further columns."""
    columns = {f"c{number}": list(cells) for number, cells in enumerate(zip(*rows, strict=True))}
    return gv.Table.from_columns(columns | more, ids=[f"person-{i}" for i in range(len(rows))])


def drawn(n, d, *, seed=1, missing=0.0):
    rng = np.random.Generator(np.random.PCG64(seed))
    codes = rng.integers(0, 2, size=(n, d)) * (rng.random((n, d)) < 0.6)
    codes = np.where(rng.random((n, d)) < missing, -1, codes).astype(np.int32)
    return gv.Table(codes, tuple(f"c{i}" for i in range(d)), tuple([0, 1] for _ in range(d)))


def stars(release):
    return release.private.cost["stars_added"]


def rows_in_order(original, release):
    """Return the published rows in the order of the original, as lists of cells."""
    listed = [list(row.values()) for row in release.data.to_arrow().to_pylist()]
    assert original.size == len(listed)
    return [listed[place] for place in release.private.linkage.released.tolist()]


def degrees(original, release, columns=None):
    """Return how many persons every record fits, and how many records every person, by counting."""
    published = rows_in_order(original, release)
    cells = [list(row.values()) for row in original.without_unused().to_arrow().to_pylist()]
    kept = columns or range(len(published[0]))
    fits = np.array(
        [
            [
                all(y is None or str(y) == str(x[k]) for y, k in zip(row, kept, strict=True))
                for x in cells
            ]
            for row in published
        ]
    )
    return fits.sum(axis=1), fits.sum(axis=0)


def test_the_worked_example_needs_as_many_stars_as_the_optimum():
    data = table_of(EXAMPLE)
    assert 10 == stars(gv.ClusterK(k=2).anonymize(data, seed=1))
    assert 8 == stars(gv.Adaptive(levels=2).anonymize(data, seed=1))
    assert 8 == stars(gv.Adaptive(levels=2, compatibility="symmetric").anonymize(data, seed=1))


@pytest.mark.parametrize("compatibility", ["bipartite", "symmetric"])
@pytest.mark.parametrize("refine", ["none", "prune"])
def test_everybody_fits_as_many_records_as_they_asked_for_and_verify_agrees(compatibility, refine):
    data = drawn(60, 9, missing=0.05)
    levels = np.arange(60) % 7 + 1
    method = gv.Adaptive(compatibility=compatibility, refine=refine)
    release = method.anonymize(data, levels=levels)
    of_records, of_persons = degrees(data, release)
    assert (of_records >= levels).all()
    assert (of_persons >= levels).all()
    assert release.verify(data).ok
    hidden = np.array([[cell is None for cell in row] for row in rows_in_order(data, release)])
    assert hidden[data.codes < 0].all()
    assert stars(release) == hidden.sum() - data.n_suppressed


def test_regular_search_saves_stars_with_exactly_the_level_of_pairs_and_tells_the_chances():
    data = drawn(40, 9, missing=0.05)
    release = gv.Adaptive(levels=3, compatibility="bipartite", refine="regular-search").anonymize(
        data, seed=1
    )
    of_records, of_persons = degrees(data, release)
    assert min(of_records.min(), of_persons.min()) >= 3
    assert release.verify(data).ok
    indptr, indices = release.private.witness.indptr, release.private.witness.indices
    assert {3} == set(np.diff(indptr)) == set(np.bincount(indices))
    plain = gv.Adaptive(levels=3, compatibility="bipartite")
    assert stars(release) < stars(plain.anonymize(data, seed=1))
    told = {name.rsplit("_", 2)[1] for name in release.private.cost if "_refining" in name}
    assert {"before", "after"} == told


def test_regular_search_takes_what_is_missing_or_costs_nothing_for_nothing():
    data = drawn(30, 6, missing=0.2)
    free = gv.Adaptive(
        levels=3,
        compatibility="bipartite",
        refine="regular-search",
        weights="c0=0,c1=0,c2=0,c3=0,c4=0,c5=0",
    )
    assert free.anonymize(data, seed=1).verify(data).ok
    equal = table_of(["01", "01"])
    assert 0 == stars(
        gv.Adaptive(levels=2, compatibility="bipartite", refine="regular-search").anonymize(equal)
    )
    everyone = gv.Adaptive(levels=6, compatibility="bipartite", refine="regular-search").anonymize(
        table_of(EXAMPLE)
    )
    assert 24 == stars(everyone)


@pytest.mark.parametrize("search", ["plain", "agglomerative", "local", "forest"])
def test_clusters_publish_equal_rows_and_verify_agrees(search):
    data = drawn(50, 8, missing=0.05)
    release = gv.ClusterK(k=4, search=search).anonymize(data)
    rows = [tuple(row) for row in rows_in_order(data, release)]
    assert min(rows.count(row) for row in rows) >= 4
    assert release.verify(data).ok


def test_no_cluster_that_is_to_be_shrunk_begins_with_more_than_k_equal_rows(monkeypatch):
    begun = []

    def spy(rows, labels):
        begun.append(np.bincount(labels))
        return merging.merging(rows, labels)

    equal = gv.Table.from_columns({"a": ["x"] * 23 + ["y"] * 4})
    monkeypatch.setattr(clusters, "merging", SimpleNamespace(**vars(merging) | {"merging": spy}))
    assert 5 == stars(gv.ClusterK(k=5, search="agglomerative").anonymize(equal))
    assert [23, 23, 23, 5, 5, 5] == [sizes.max() for sizes in begun]
    assert {27} == {sizes.sum() for sizes in begun}


def test_chunks_of_a_cluster_follow_the_order_of_its_rows():
    labels = np.array([0, 1, 0, 0, 1, 5, 0, 0])
    assert [0, 1, 0, 3, 1, 5, 3, 7] == clusters.in_chunks(labels, 2).tolist()
    assert labels.tolist() == clusters.in_chunks(labels, 9).tolist()


def test_pruning_and_local_search_save_stars():
    data = drawn(80, 12)
    pruned, whole = (
        gv.Adaptive(levels=5, compatibility="bipartite", refine=how) for how in ("prune", "none")
    )
    assert stars(pruned.anonymize(data, seed=1)) < stars(whole.anonymize(data, seed=1))
    plain, local = (gv.ClusterK(k=5, search=how) for how in ("plain", "local"))
    assert stars(local.anonymize(data, seed=1)) < stars(plain.anonymize(data, seed=1))


def test_the_function_of_a_step_never_rises():
    for seed in range(5):
        data = drawn(40, 6, seed=seed)
        levels = np.random.Generator(np.random.PCG64(seed)).integers(1, 9, size=40)
        weights = np.linspace(1, 3, 6)
        problem = problem_of(data.codes, levels, weights)
        before = (None, np.inf)
        solver = bipartite.Solver(problem.columns, problem.levels)
        rng = np.random.Generator(np.random.PCG64(seed))
        for one in bipartite.iterations(problem, bipartite.PriceSchedule(6, 10), solver, rng):
            powers = one.factor ** one.needs.astype(float)
            value = (problem.prices * (1 - powers)).sum()
            assert before[0] != one.factor or value <= before[1] + 1e-5
            before = (one.factor, value)


@pytest.mark.parametrize("solver", [bipartite.Solver, symmetric.SymmetricSolver])
def test_many_columns_or_high_prices_choose_the_same_pairs_at_the_same_cost(solver):
    codes = drawn(12, 8).codes
    columns, needed = np.ascontiguousarray(codes.T), np.full(12, 3)
    low = np.full(codes.shape, UNIT)
    pairs = [solver(columns, needed).cheapest(low << shift) for shift in (0, 22)]
    assert pairs[0].tolist() == pairs[1].tolist()


def test_with_one_level_auto_is_the_symmetric_variant():
    data = drawn(50, 8, missing=0.05)
    auto, same = (gv.Adaptive(levels=4, compatibility=one) for one in ("auto", "symmetric"))
    releases = [one.anonymize(data, seed=3) for one in (auto, gv.Adaptive(levels=4), same)]
    cells = [one.data.codes.tolist() for one in releases]
    assert cells[0] == cells[1] == cells[2]
    raised = gv.Adaptive(least_level=4).anonymize(data, seed=3, levels=np.arange(50) % 4 + 1)
    assert cells[0] == raised.data.codes.tolist()


MIXED = np.array([2, 5, 10, 3])


def right_guesses(data, levels, **options):
    """Return the share of people found by eight runs, the most that `auto` accepts, the cost."""
    table = gv.Table.from_columns(
        {f"c{number}": column.tolist() for number, column in enumerate(data.codes.T)}
        | {"level": levels.tolist()}
    )
    release = gv.Adaptive(levels="level", **options).anonymize(table, seed=1)
    assert release.verify(table).ok
    told = gv.attack_release(release, original=table, attacks=["matching"], seed=1)
    [found] = [row.value for row in told if row.part == "re-run 8 times, right guess"]
    return found, choice.most_hits(levels), release.private.cost


def test_auto_takes_fewer_cells_than_clusters_and_keeps_re_runs_near_guessing():
    data, levels = drawn(80, 14, seed=2), MIXED[np.arange(80) % 4]
    found, most, cost = right_guesses(data, levels)
    plain, _, _ = right_guesses(data, levels, compatibility="bipartite")
    assert plain > 1.5 * most, "there is something to resist"
    assert found <= most
    [taken] = [name.removesuffix("_taken") for name in cost if name.endswith("_taken")]
    assert taken != "bipartite"
    assert cost[f"{taken}_cells"] == cost["stars_added"] <= cost["clusters_cells"]
    assert cost["bipartite_rerun"] > cost["rerun_most"] == most
    fewer = [
        name for name in choice.WAYS if cost.get(f"{name}_cells", np.inf) < cost[f"{taken}_cells"]
    ]
    assert all(cost[f"{name}_rerun"] > most for name in fewer)


def test_where_nothing_else_resists_clusters_by_level_are_taken(monkeypatch):
    monkeypatch.setattr(choice, "MARGIN", 0.0)
    monkeypatch.setattr(choice, "DEVIATIONS", 0.0)
    data, levels = drawn(40, 8, missing=0.05), MIXED[np.arange(40) % 4]
    release = gv.Adaptive().anonymize(data, seed=1, levels=levels)
    assert 1 == release.private.cost["clusters_taken"]
    rows = [tuple(row) for row in rows_in_order(data, release)]
    assert all(rows.count(row) >= level for row, level in zip(rows, levels, strict=True))
    assert release.verify(data).ok
    told = gv.attack_release(release, original=data, attacks=["matching"], seed=1)
    assert 0 == {row.part: row.value for row in told}["levels known, short"]


def test_the_order_of_the_rows_changes_nothing_that_auto_publishes():
    data, levels = drawn(40, 6), MIXED[np.arange(40) % 4]
    order = np.random.Generator(np.random.PCG64(5)).permutation(40)
    moved = data.permuted(order, ids=data.labels()[order])
    one = gv.Adaptive().anonymize(data, seed=1, levels=levels)
    other = gv.Adaptive().anonymize(moved, seed=1, levels=levels[order])
    rows = rows_in_order(moved, other)
    again = [rows[place] for place in np.argsort(order)]
    assert sorted(map(str, rows_in_order(data, one))) == sorted(map(str, again))


def test_no_public_file_says_which_way_auto_took(tmp_path, read_folder):
    data, levels = drawn(60, 8), MIXED[np.arange(60) % 4]
    folder = gv.Adaptive(block_rows=40).anonymize(data, levels=levels).write(tmp_path / "out")
    parameters = read_manifest(folder)["method"]["parameters"]
    assert {
        "levels": None,
        "least_level": 1,
        "compatibility": "auto",
        "refine": "none",
    } == parameters
    text = b"".join(read_folder(folder).values()).decode(errors="ignore")
    assert not [word for word in (*choice.WAYS, "rerun") if f"{word}_" in text]
    cost = read_record(folder).cost
    assert 1 == sum(name.endswith("_taken") for name in cost)


@pytest.mark.parametrize("refine", ["prune", "regular-search"])
def test_auto_takes_no_refinement_and_names_the_variants_that_do(refine):
    with pytest.raises(ParameterError, match=r"Use compatibility=bipartite"):
        gv.Adaptive(levels=2, refine=refine)


def test_levels_are_cut_into_runs_of_enough_rows():
    levels = np.array([2] * 6 + [5] * 4 + [8] * 8)
    ways = clusters._ways_to_cut(levels)
    assert [((0, 8),), ((2, 8), (0, 2)), ((5, 8), (0, 5))] == ways
    assert [((0, 3),)] == clusters._ways_to_cut(np.array([3] * 7))
    assert [((0, 5),)] == clusters._ways_to_cut(np.array([2, 5, 5, 5, 5, 5]))


def test_levels_stand_in_a_column_that_is_not_published():
    data = table_of(EXAMPLE, want=[2, 1, 1, 1, 3, 2])
    release = gv.Adaptive(levels="want").anonymize(data)
    assert ("c0", "c1", "c2", "c3") == release.data.columns
    assert [2, 1, 1, 1, 3, 2] == release.private.levels.level.tolist()
    of_records, of_persons = degrees(data, release, columns=range(4))
    assert (np.minimum(of_records, of_persons) >= [2, 1, 1, 1, 3, 2]).all()
    assert release.verify(data).ok


def test_lower_levels_are_raised_to_the_least_level_which_is_what_is_promised():
    release = gv.Adaptive(least_level=2).anonymize(table_of(EXAMPLE), levels=[1, 1, 1, 1, 3, 1])
    assert [2, 2, 2, 2, 3, 2] == release.private.levels.level.tolist()
    assert (2, False) == (release.guarantee.level, release.guarantee.common)
    assert 5 == gv.Adaptive(levels=2, least_level=5).guarantee.level


def test_a_common_level_is_promised_and_no_file_of_levels_is_written(tmp_path):
    release = gv.Adaptive(levels=2).anonymize(table_of(EXAMPLE))
    assert (2, True) == (release.guarantee.level, release.guarantee.common)
    folder = release.write(tmp_path / "out")
    assert read_record(folder).levels_sha256 is None
    assert read_record(folder).witness_sha256 is not None


def test_levels_that_lead_to_the_same_stars_lead_to_the_same_public_bytes(tmp_path, read_folder):
    same = table_of(["0101"] * 4 + ["1111"] * 4)
    public = []
    for number, levels in enumerate([[2] + [1] * 7, [4, 1, 1, 1, 3, 3, 2, 2]]):
        release = gv.Adaptive().anonymize(same, seed=4, levels=levels)
        public.append(read_folder(release.write(tmp_path / f"out-{number}")))
    assert public[0] == public[1]
    columns = [[2] + [1] * 7, [4, 1, 1, 1, 3, 3, 2, 2]]
    for number, levels in enumerate(columns):
        data = table_of(["0101"] * 4 + ["1111"] * 4, want=levels)
        release = gv.Adaptive(levels="want").anonymize(data, seed=4)
        public.append(read_folder(release.write(tmp_path / f"column-{number}")))
    assert public[2] == public[3]


@pytest.fixture
def read_folder():
    return lambda folder: {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_dear_columns_lose_less():
    data = drawn(60, 6, seed=3)
    lost = []
    for weights in ("c0=1", "c0=30"):
        release = gv.Adaptive(levels=5, weights=weights).anonymize(data, seed=1)
        lost.append(sum(row[0] is None for row in rows_in_order(data, release)))
    assert lost[1] < lost[0]
    by_cell = np.ones((60, 6))
    by_cell[:, 0] = 30.0
    again = gv.Adaptive(levels=5).anonymize(data, seed=1, weights=by_cell)
    assert lost[1] == sum(row[0] is None for row in rows_in_order(data, again))


IN_BLOCKS = {
    "adaptive": gv.Adaptive(block_rows=32),
    "regular": gv.Adaptive(
        levels=2, block_rows=32, compatibility="bipartite", refine="regular-search"
    ),
    "cluster-k": gv.ClusterK(k=3, block_rows=32),
}


@pytest.mark.parametrize("name", first_of(list(IN_BLOCKS)))
def test_blocks_keep_the_promise_and_give_the_same_bytes_on_any_number_of_processes(
    tmp_path, read_folder, name
):
    data, method = drawn(80, 10), IN_BLOCKS[name]
    given = {"levels": np.arange(80) % 4 + 1} if name == "adaptive" else {}
    one = method.anonymize(data, seed=2, **given)
    assert one.verify(data).ok
    with using(LocalEngine(jobs=2)):
        two = method.anonymize(data, seed=2, **given)
    folders = [r.write(tmp_path / f"{name}-{i}") for i, r in enumerate((one, two))]
    assert read_folder(folders[0]) == read_folder(folders[1])


def test_blocks_are_as_large_as_levels_need_and_cover_every_row_once():
    data = drawn(700, 12)
    rng = np.random.Generator(np.random.PCG64(1))
    pieces = blocks.split(data.codes, 64, rng)
    assert list(range(700)) == sorted(np.concatenate(pieces).tolist())
    assert 16 <= min(map(len, pieces)) <= max(map(len, pieces)) <= 64
    equal = np.zeros((300, 3), dtype=np.int32)
    assert {len(piece) for piece in blocks.split(equal, 64, rng)} <= set(range(16, 65))
    assert 80 == blocks.rows_of_block(64, 5000, 20)
    with pytest.raises(InfeasibleError, match="needs blocks of 40000 rows"):
        blocks.rows_of_block(None, 100_000, 10_000)


@pytest.mark.filterwarnings("default::graphveil.GraphveilWarning")
def test_the_owner_is_told_of_levels_that_suppress_much():
    with pytest.warns(gv.GraphveilWarning, match="1 person requested as many records as there are"):
        gv.Adaptive().anonymize(table_of(EXAMPLE), levels=[6, 1, 1, 1, 1, 1])
    with pytest.warns(gv.GraphveilWarning, match="every cell is suppressed"):
        gv.Adaptive(levels=6).anonymize(table_of(EXAMPLE))
    with pytest.warns(gv.GraphveilWarning, match="blocks have up to 12 rows instead of 8"):
        gv.Adaptive(levels=3, block_rows=8).anonymize(drawn(30, 3))


def test_tables_with_nothing_to_tell_apart_are_released():
    equal = table_of(["01"] * 5)
    assert 0 == stars(gv.Adaptive(levels=5).anonymize(equal))
    assert 0 == stars(gv.ClusterK(k=5).anonymize(equal))
    one_column = table_of(list("aab"))
    assert 2 == stars(gv.Adaptive(levels=2).anonymize(one_column))
    unknown = table_of(["*0", "*0", "*1"])
    assert 2 == stars(gv.Adaptive(levels=2).anonymize(unknown))


@pytest.mark.parametrize(
    "method", [gv.Adaptive(levels="want"), gv.Adaptive(levels=2), gv.ClusterK(k=2), gv.SmoothK(k=2)]
)
def test_a_table_with_no_column_left_to_publish_is_refused_with_the_way_out(method):
    columns = {"want": [1, 2, 2]} if str(method.parameters().get("levels")) == "want" else {}
    codes = np.zeros((3, len(columns)), dtype=np.int32)
    data = gv.Table.from_columns(columns) if columns else gv.Table(codes, (), ())
    with pytest.raises(
        DataError, match=r"no columns other than ids and levels. Give one that can be published"
    ):
        method.anonymize(data)


BAD_LEVELS = {
    "no level": (["1", "*", "1"], DataError, "column want, row 1: no level"),
    "text": (["1", "many", "1"], DataError, "column want, row 1: 'many' is not a level"),
    "zero": (["1", "0", "1"], InfeasibleError, "column want, row 1: the level 0 is not between"),
    "too many": (["1", "1", "4"], InfeasibleError, "row 2: the level 4 is not between 1 and 3"),
    "two signs": (["1", "--5", "1"], DataError, "column want, row 1: '--5' is not a level"),
    "a sign": (["1", "-", "1"], DataError, "column want, row 1: '-' is not a level"),
    "other digits": (["1", "٣", "1"], DataError, "column want, row 1: '٣' is not a level"),
    "a line more": (["1", "3\n", "1"], DataError, r"column want, row 1: '3\\n' is not a level"),
    "fraction": (["1", "1.5", "1"], DataError, "column want, row 1: '1.5' is not a level"),
}


@pytest.mark.parametrize(("want", "error", "message"), BAD_LEVELS.values(), ids=BAD_LEVELS)
def test_a_column_of_levels_that_cannot_be_used_is_refused_with_row_and_way_out(
    want, error, message
):
    with pytest.raises(error, match=message):
        gv.Adaptive(levels="want").anonymize(table_of(["0", "1", "1"], want=want))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: gv.Adaptive(levels="age").anonymize(t), DataError, "no column 'age' for levels"),
        (lambda t: gv.Adaptive().anonymize(t), ParameterError, "no levels are given"),
        (
            lambda t: gv.Adaptive(levels=2).anonymize(t, levels=[1] * 6),
            ParameterError,
            "levels are given twice",
        ),
        (
            lambda t: gv.Adaptive().anonymize(t, levels=[1] * 6),
            ParameterError,
            "nobody has a level above 1, so the release would protect nobody",
        ),
        (
            lambda t: gv.Adaptive().anonymize(t, levels=[1, 2]),
            ParameterError,
            r"shape \(2,\), but there are 6 rows",
        ),
        (
            lambda t: gv.Adaptive().anonymize(t, levels=[1.0] * 6),
            ParameterError,
            "levels have type float64",
        ),
        (
            lambda t: gv.Adaptive().anonymize(t, levels=[1, 1, 7, 1, 1, 1]),
            InfeasibleError,
            "row 2: the level 7",
        ),
        (
            lambda t: gv.Adaptive(levels=7).anonymize(t),
            InfeasibleError,
            "needs at least as many rows",
        ),
        (
            lambda t: gv.Adaptive(compatibility="bipartite", refine="regular-search").anonymize(
                t, levels=[2, 2, 3, 2, 1, 2]
            ),
            InfeasibleError,
            "the levels range from 1 to 3. Use refine=prune, or least_level=3",
        ),
        (
            lambda _: gv.Adaptive(levels=2, refine="regular-search", compatibility="symmetric"),
            ParameterError,
            "works with compatibility=bipartite",
        ),
        (lambda t: gv.ClusterK(k=7).anonymize(t), InfeasibleError, "at least 7 rows"),
        (
            lambda t: gv.Adaptive(levels=2, weights="age=2").anonymize(t),
            DataError,
            "no column 'age' for weights",
        ),
        (
            lambda t: gv.Adaptive(levels=2).anonymize(t, weights=np.ones(4)),
            ParameterError,
            "weights have shape",
        ),
        (
            lambda t: gv.Adaptive(levels=2, weights="c0=2").anonymize(t, weights=np.ones((6, 4))),
            ParameterError,
            "weights are given twice",
        ),
        (
            lambda _: gv.Adaptive(levels=2).anonymize(gv.Graph.from_edges([0], [1], n=2)),
            UsageError,
            "Table",
        ),
    ],
)
def test_what_cannot_be_met_is_refused_in_one_line(call, error, message):
    with pytest.raises(error, match=message) as raised:
        call(table_of(EXAMPLE))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["0", "-1", "2.5", "", True, "nan"])
def test_a_level_that_is_no_whole_number_is_refused(text):
    with pytest.raises(ParameterError, match="levels="):
        Levels.parse(text)


@pytest.mark.parametrize("text", ["age", "age=-1", "age=x", "=2", "{", 3, "age=inf"])
def test_weights_that_are_no_numbers_are_refused(text):
    with pytest.raises(ParameterError, match="weights"):
        Weights.parse(text)


@pytest.mark.parametrize("pairs", [{"age": 2.0}, {"a,b": 1.5, "c": 0.0}, {"a=b": 2.0}])
def test_weights_are_spelled_and_read_again(pairs):
    assert tuple(pairs.items()) == Weights.parse(str(Weights.parse(pairs)))


def test_the_column_of_levels_is_in_the_record_and_no_text_can_stand_for_it(tmp_path):
    table = gv.Table.from_columns({"sex": ["f"] * 4, "asked": [2, 2, 1, 2]})
    folder = gv.Adaptive(levels="asked").anonymize(table).write(tmp_path / "out")
    assert gv.verify_release(folder, original=table).ok
    manifest = read_manifest(folder)
    assert None is manifest["method"]["parameters"]["levels"]
    record = json.loads((tmp_path / "out.private" / "record.json").read_text())
    assert "asked" == record["withheld"]["levels"]
    manifest["method"]["parameters"]["levels"] = "ann is 0"
    reseal(folder, manifest)
    failed = {c.name: c.detail for c in gv.verify_release(folder, original=table).failures()}
    assert "the parameter levels is 'ann is 0'; adaptive writes None" in failed["method"]


def test_one_number_is_the_level_of_everybody():
    table = gv.Table.from_columns({"sex": [*"ffmmfm"], "town": [*"xyxyxy"]})
    made = [gv.Adaptive(levels=2).anonymize(table, seed=1)]
    made += [gv.Adaptive().anonymize(table, seed=1, levels=level) for level in (2, np.int64(2))]
    assert 1 == len({str(release.guarantee) for release in made})
    assert made[0].guarantee.common
