"""Values that one formula alone gives: where a test of the whole would not see another."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
import shutil
import subprocess
import sys
from functools import partialmethod
from io import BytesIO
from itertools import combinations
from queue import Queue
from threading import Event

import msgspec
import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binomtest

import graphveil as gv
from graphveil.attacks import (
    ATTACKS,
    Attached,
    edge_rerun,
    homogeneity,
    likelihood_ratio,
    matching,
    roc_curve,
)
from graphveil.attacks.attack import AttackInput, AttackOptions
from graphveil.attacks.networks import propagation
from graphveil.attacks.networks.copies import paired_copy, reidentification
from graphveil.attacks.row_selection import strongest
from graphveil.attacks.wording import Said
from graphveil.claims.conditions import BlockFlips, RandomizedCells
from graphveil.claims.facts import EdgeChanges, EntryChanges
from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.claims.ledger import Entry, Limit
from graphveil.claims.manifest import (
    MANIFEST,
    ColumnCells,
    Described,
    DescribedColumn,
    read_manifest,
)
from graphveil.claims.record import read_record
from graphveil.core.bounds import read_bound
from graphveil.core.errors import DataError, ParameterError, ReleaseError
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row, Rows, Setting
from graphveil.data import csr, persons
from graphveil.data.layers import ListedTies
from graphveil.evaluate import comparison_of
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures import matchings
from graphveil.measures.rows import singled_out
from graphveil.methods import METHODS
from graphveil.pages import charts, frontiers, print_figures
from graphveil.pages import figures as report_figures
from graphveil.pages import sweep as sweep_page
from graphveil.pages.answers import promise, standing_out
from graphveil.pages.report import legal_questions, sections
from graphveil.release import digest_of
from graphveil.verbs.advise import advise, strengths, trials, until
from graphveil.verbs.attack import rerun_of
from graphveil.verbs.sweep import points, results, running, sweep
from graphveil.verify.database import UnreadableError, database
from graphveil.verify.evidence import Evidence
from graphveil.verify.files.description import description_check
from graphveil.verify.files.owner import Owner, further_file_checks
from graphveil.verify.kinds.registry import CHECKED_KINDS
from graphveil.verify.promises.noise import block_flips, cell_flips
from graphveil.verify.recount.noise import flip_probabilities, weighted_graph
from graphveil.verify.second_reading import pairs
from graphveil.verify.second_reading.pairs import OriginalPairs, PairKinds
from sweeps_data import figure_row, sweep_of

NO_LINKAGE = {"edge-re-run", "re-run"}
BY_NAME = {
    *("alignment", "edge-gain", "edge-membership", "edge-re-run", "entry-membership"),
    *("re-run", "seed-propagation", "tie-membership"),
}

ATTACK, USE = "candidate-set: degree and triangles, right guess", "edge-jaccard: all"

PATH = gv.Graph.from_edges([0, 1], [1, 2], n=3)
RING = gv.Graph.from_networkx(nx.cycle_graph(8))


# What is measured


@pytest.mark.parametrize("hits", [0, 3, 10])
def test_the_interval_of_those_who_are_alone_is_that_of_clopper_and_pearson(hits):
    items = [[f"{i}{x}" if i < hits else x for x in "abc"] for i in range(10)]
    data = gv.Bipartite.from_lists(items)
    some, every = singled_out(data, items=[2, 3], seed=1)
    low, high = binomtest(hits, 10).proportion_ci(method="exact")
    assert (some.low, some.high) == pytest.approx((low, high))
    assert (every.low, every.share, every.high) == (hits / 10, hits / 10, hits / 10)


def test_of_nobody_the_smallest_class_has_nobody_and_no_share_is_divided_by_none():
    nobody = gv.measure(gv.Graph.from_edges([], [], n=0))
    assert 0 == nobody.summary()["smallest_class"]
    assert "0 people" in standing_out.headline(nobody)


def test_only_one_layer_without_directions_is_measured_by_degree():
    other = gv.Graph.from_edges([0], [2], n=3)
    assert "degree" == gv.measure(gv.Network({"a": PATH})).measure
    assert "degree" != gv.measure(gv.Network({"a": PATH, "b": other})).measure


def test_a_position_that_no_node_has_is_refused_with_those_that_there_are():
    for made in (gv.Layer.assemble, gv.Layer.undirected):
        with pytest.raises(DataError, match=r"outside 0\.\.2\. Give n > 3\."):
            made([0], [3], n=3)


def test_numbers_of_people_stay_numbers_where_items_are_people():
    data = gv.Bipartite.from_arrow(pa.table({"user": [1, 2], "item": [2, 3]}))
    assert [1, 2, 3] == data.with_items("people").labels().tolist()


def test_people_keep_their_ids_in_a_network_unless_others_are_given():
    who = gv.Table.from_columns({"sex": ["f", "m", "f"]}, ids=[10, 11, 12], person="row")
    assert [10, 11, 12] == gv.Network({"a": PATH}, who).labels().tolist()
    other = gv.Network({"a": PATH}, who, ids=np.array([7, 8, 9]))
    assert [7, 8, 9] == other.labels().tolist()


@pytest.mark.parametrize(("k", "share"), [(2, 1 / 3), (3, 1.0)])
def test_those_in_small_classes_of_an_attribute_are_counted(k, share):
    who = gv.Table.from_columns({"sex": ["f", "m", "f"]}, person="row")
    [sex, _] = gv.measure(gv.Network({"a": PATH}, who), known=["sex"], k=k).parts
    assert (1 / 3, share) == pytest.approx((sex.uniqueness, sex.share_unprotected))


@pytest.mark.parametrize(("texts", "sign"), [(["p1", "p2", "p3"], True), (["p1", "p2"], False)])
def test_three_numbered_values_under_the_name_of_an_id_are_people(texts, sign):
    values = np.array(texts, dtype=np.dtypes.StringDType())
    found = persons.sign_of_people("patient", values, np.full(len(texts), 2))
    assert ("with the name of an id" if sign else "") == found


def test_edges_of_nodes_beyond_sixteen_bits_are_compared_by_the_whole_first_end():
    first, second = np.array([0, 1, 65_536, 65_537]), np.array([70_004, 70_006, 70_003, 70_005])
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    lists = csr.sorted_lists(*ends, 70_007)
    csr.check_lists(lists)
    indices = lists.indices.copy()
    indices[[0, 1]] = indices[[1, 0]]
    with pytest.raises(DataError, match="in one direction only"):
        csr.check_lists(lists._replace(indices=indices))


def test_kinds_of_edges_without_direction_are_among_those_that_there_are():
    assert ListedTies([(0, 1)], ["a"], True, ["a"])
    with pytest.raises(DataError, match="no edges of type 'b'"):
        ListedTies([(0, 1)], ["a"], True, ["b"])


# What is claimed


def test_a_promise_about_edges_is_none_about_people_whatever_its_epsilon():
    assert EdgeDP(epsilon=1.0).covers(EdgeDP(epsilon=1.0))
    assert not EdgeDP(epsilon=1.0).covers(NodeDP(epsilon=1.0))


@pytest.mark.parametrize("epsilon", ["1/2", "one", "-1", "0", "0.0"])
def test_a_limit_of_a_ledger_is_a_decimal_number_above_zero(epsilon):
    with pytest.raises(ParameterError):
        Limit(epsilon=epsilon, unit="edge")


def test_what_is_kept_is_a_share_of_what_there_was():
    assert 0.75 == EntryChanges(4, 3, 0).kept_share
    assert EntryChanges(0, 0, 0).kept_share is None


def test_people_without_cells_count_one_in_a_ledger():
    entry = Entry(id="a", method="m", unit="value", epsilon="1.0", person_cells=0)
    assert ["1/2", "1", "1/2"] == [str(entry.times(unit)) for unit in ("edge", "value", "node")]


def test_a_manifest_that_is_none_is_named_with_its_folder(tmp_path):
    (tmp_path / "release.json").write_text("{}")
    with pytest.raises(gv.GraphveilError) as caught:
        read_manifest(tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "release.json"))


# What is verified


@pytest.mark.parametrize(("cells", "words"), [(1, "1 node differs in"), (2, "2 nodes differ in")])
def test_nodes_with_the_value_of_another_are_counted(tmp_path, cells, words):
    ring = gv.Graph.from_networkx(nx.cycle_graph(4))
    who = gv.Table.from_columns({"sex": ["f"] * 4}, person="row")
    original = gv.Network({"ties": ring}, who)
    other = gv.Table.from_columns({"sex": ["m"] * cells + ["f"] * (4 - cells)}, person="row")
    release = gv.KDegree(k=2, attach="sex").anonymize(gv.Network({"ties": ring}, other))
    private = msgspec.structs.replace(release.private, input_sha256=digest_of(original))
    folder = dataclasses.replace(release, private=private).write(tmp_path / "release")
    [detail] = [
        check.detail
        for check in gv.verify_release(folder, original=original).failures()
        if "'sex'" in str(check.detail)
    ]
    node = release.private.linkage.released[:cells].min()
    assert detail == f"node {node} has 'sex'='m', but 'f' in the original; {words} this attribute"


@pytest.mark.parametrize(
    ("first", "reading", "read"),
    [
        ("a,b", {}, True),
        ("a,b,c", {}, False),
        ("source,target,w", {}, False),
        ("source,target,w", {"ignore_weights": True}, True),
        ("source,target,w", {"kind_column": "w"}, True),
    ],
)
def test_two_columns_are_the_ends_where_nothing_else_can_be(tmp_path, first, reading, read):
    path = tmp_path / "edges.csv"
    path.write_text(f"{first}\n{'x,y,t'[: len(first.split(',')) * 2 - 1]}\n")
    ends = np.array([0]), np.array([1])
    names = np.array(["x", "y"], dtype=np.dtypes.StringDType())
    kinds = PairKinds(np.array([0]), ["t"], ["t"])
    given = OriginalPairs(*ends, names, names, both_ways=True, kinds=kinds)
    header = {"header": "yes", **reading}
    with database([tmp_path]) as db:
        told = pairs.pairs_reading_check(lambda _: given, "edges", db, PATH, path, header)
    assert read == (told.outcome == "holds")


def test_a_file_of_just_the_limit_is_read():
    with database(limit_bytes=1 << 28) as db:
        db.refuse_beyond(1 << 28, "data.csv")
        with pytest.raises(UnreadableError):
            db.refuse_beyond((1 << 28) + 1, "data.csv")


def test_the_pairs_of_a_block_are_each_once():
    asked = []

    def zeros(count):
        asked.append(count)
        return iter([np.zeros(count, dtype=np.uint64)])

    # At words of zero every pair of every block is an edge: 6 and 3 within, 12 between.
    edges = weighted_graph.edges_by_weights([4, 3], [10**20, 10**20], zeros)
    assert sorted(edges) == list(combinations(range(7), 2))
    assert [6 + 12 + 3] == asked


# What is attacked


def test_these_attacks_alone_need_no_linkage():
    assert NO_LINKAGE == {name for name, attack in ATTACKS.items() if not attack.needs_linkage}


def test_these_attacks_alone_are_run_by_name():
    assert BY_NAME == {name for name, attack in ATTACKS.items() if attack.by_name}


def test_whom_no_draw_asked_for_has_no_risk():
    kinds = reidentification.NodeKinds.of(PATH)
    draws = [
        reidentification.Naming(*np.array([asked, asked, right, right], dtype=bool))
        for right, asked in (([1, 0, 0], [1, 1, 0]), ([0, 0, 0], [1, 0, 0]))
    ]
    tried = [reidentification.CopyTrials(Setting(), draws)]
    risk = reidentification.summary(tried, kinds, np.random.default_rng(1)).risk
    assert [0.5, 0.0, np.nan] == pytest.approx(risk.tolist(), nan_ok=True)


def test_what_is_inferred_from_neighbors_is_said_of_suppressed_values():
    [said] = ATTACKS["attribute-inference"].said
    assert [True, False] == [said.when(Setting(among=one)) for one in ("suppressed", "published")]


def test_a_release_is_attacked_by_what_the_others_tell(monkeypatch):
    rng = np.random.default_rng(1)
    inside = rng.random((9, 30)) < 0.5
    scores = (inside + rng.normal(size=inside.shape))[:, :, None]
    learned = []

    class Noted(likelihood_ratio.ShadowModel):
        def __init__(self, scores, inside):
            learned.append(len(inside))
            super().__init__(scores, inside)

    monkeypatch.setattr(likelihood_ratio, "ShadowModel", Noted)
    likelihood_ratio.ratios(likelihood_ratio.ShadowScores(scores, inside), [[0]])
    assert [6, 9, 7, 9, 7, 9, 7, 9] == learned


def test_the_sample_of_an_area_is_twice_the_smaller_group(monkeypatch):
    monkeypatch.setattr(roc_curve, "of_area", lambda *given, times: (given[2], times))
    first = np.array([True, False, False])
    curve = roc_curve.Curve(roc_curve.Scored(np.array([2.0, 1.0, 3.0]), first, np.arange(3)))
    assert (2.0, 4.0) == curve.area_sample(times=4.0)


def test_attacks_foresee_two_runs_for_an_edge_and_one_match_for_each_draw(monkeypatch):
    release = METHODS["asymmetric-response"](epsilon=1.0).anonymize(RING)
    pair = comparison_of(release, RING, Randomness(seed=1), wanted_by="attack")
    situation = AttackInput(pair, release, rerun=rerun_of(release))
    monkeypatch.setattr("graphveil.attacks.attack.run_again", lambda _: 0.5)
    runs = edge_rerun.EdgeRerunOptions(runs=50, edges=3)
    assert 2 * 50 * 3 * 0.5 == edge_rerun.foreseen(situation, runs)
    monkeypatch.setattr(propagation, "seconds_of_draw", lambda _: 0.25)
    one = propagation.SeedPropagationOptions(known=2, overlap=0.9, draws=3)
    two = propagation.SeedPropagationOptions(known=2, draws=3)
    assert 3 * 0.25 == propagation.seconds(situation, one)
    assert 3 * len(propagation.OVERLAPS) * 0.25 == propagation.seconds(situation, two)


# What is said


@pytest.mark.parametrize(("count", "rest"), [(12, False), (13, True)])
def test_twelve_columns_are_said_one_by_one(count, rest):
    cells = [ColumnCells(name=f"c{n}", values=4, generalized=0, suppressed=0) for n in range(count)]
    table = Described(kind="table", files=[], counts={}, suppressed_cells="", cells=cells)
    line = promise.columns_line(table, {})
    assert min(count, 12) == str(line).count("100% exact")
    assert rest == ("; 1 more (graphveil evaluate)" in str(line))


def test_a_missing_cell_of_the_original_is_not_called_suppressed():
    age = ColumnCells(name="age", values=1, generalized=0, suppressed=3)
    ill = ColumnCells(name="ill", values=3, generalized=0, suppressed=1)
    note = ColumnCells(name="note", values=0, generalized=0, suppressed=4)
    columns = [
        DescribedColumn(name="age", role="known", levels="widths", origin="given"),
        DescribedColumn(name="ill", role="attached"),
        DescribedColumn(name="note", role="label"),
    ]
    table = Described(
        kind="table",
        files=[],
        counts={},
        suppressed_cells="",
        cells=[age, ill, note],
        columns=columns,
    )
    for missing, hidden in ((0, "75% suppressed"), (5, "75% missing or suppressed")):
        line = str(promise.columns_line(table, {"stars_before": missing}))
        expected = (
            f"age 25% exact, {hidden}; ill 75% exact, 25% missing; note: every cell is missing"
        )
        assert f"Columns: {expected}." == line


@pytest.mark.parametrize(("missing", "said"), [(1, "1 missing cell,"), (2000, "2,000 missing c")])
def test_missing_cells_are_named_where_nothing_is_left_of_a_known_column(missing, said):
    born = ColumnCells(name="born", values=0, generalized=0, suppressed=3)
    column = DescribedColumn(name="born", role="known", levels="dates", origin="given")
    table = Described(
        kind="table", files=[], counts={}, suppressed_cells="", cells=[born], columns=[column]
    )
    too_fine = "its levels are too fine"
    line = str(promise.columns_line(table, {"stars_before": missing}))
    assert said in line
    assert line.index("remove such rows") < line.index(too_fine)
    without = str(promise.columns_line(table, {"stars_before": 0}))
    assert without.startswith(f"Columns: born: nothing is left; {too_fine}")


def test_that_nobody_is_unprotected_is_no_cost():
    cost = {"nodes_unprotected": 0, "edges_added": 3, "edges_deleted": 0, "edges_before": 9}
    assert ("3 edges added", "0 edges deleted", "9 edges before") == promise.cost_words(cost)
    some = promise.cost_words({**cost, "nodes_unprotected": 2})
    assert any("unprotected" in word or "2 " in word for word in some)


def test_what_is_least_possible_takes_the_third_place():
    cost = {"edges_added": 3, "edges_deleted": 9, "edges_before": 621, "edits": 12}
    words = promise.cost_words({**cost, "edits_lower_bound": 11})
    assert ("3 edges added", "9 edges deleted", words[2]) == words


def test_a_page_lists_those_in_classes_below_the_k_that_is_claimed():
    ring = gv.Graph.from_networkx(nx.cycle_graph(8))
    for method, few in ((gv.KDegree(k=3), 3), (METHODS["rename"](), None)):
        assert few == sections.of_data(method.anonymize(ring), None)["fewer_than"]


def test_a_line_says_what_is_guessed_of_people_who_are_not_in_the_data():
    said = Said("inferred", "right", label="l", does="asks", says="{n} found", left_out="absent")
    of = {"question": "membership", "release": "a"}
    rows = [Row(**of, figure="right", value=0.7), Row(**of, figure="absent", value=0.31)]
    figures_shown = legal_questions.Findings(after=Rows(rows))
    [line] = legal_questions.lines_of("membership", said, figures_shown)
    assert line.reason == "70 of 100 found; 31 of 100 for people not in the data"


# Pictures


def places(picture, what):
    """Return the places of the marks (``use``) or ticks of a picture as (x, y)."""
    found = re.findall(rf'<{what} [^>]*?x="([-.0-9]+)" y="([-.0-9]+)"', str(picture))
    return [(float(x), float(y)) for x, y in found]


def drawn_alone(dots, x, y, methods="m"):
    return frontiers.scatter_alone(frontiers.Panel("t", x, y, dots), methods)


def test_a_scale_of_shares_ends_at_none_and_all_and_one_of_powers_grows_by_its_range():
    dots = [frontiers.Dot(1, 0, "m", 1.0, 0.0), frontiers.Dot(2, 0, "m", 1000.0, 1.0)]
    powers, shares = frontiers.Axis("k", logarithmic=True), frontiers.Axis("kept", share=True)
    marks = places(drawn_alone(dots, powers, shares), "use")[:2]
    assert [frontiers.BOTTOM, frontiers.TOP] == [y for _, y in marks]
    # The line goes from 66 to 620; each end of the values is 6% of their range away from its end.
    ends = [66 + 554 * share for share in (0.06 / 1.12, 1.06 / 1.12)]
    assert ends == pytest.approx([x for x, _ in marks], abs=0.051)


def test_a_tick_at_the_end_of_a_scale_is_kept_however_it_is_rounded():
    # 6% of the range of these values, below and above them, makes a scale from 0 to 0.3, whose
    # third tick is 3 times 0.1, a little more than 0.3.
    least, most = 0.06 * 0.3 / 1.12, 1.06 * 0.3 / 1.12
    dots = [frontiers.Dot(n, 0, "m", float(n), y) for n, y in enumerate((least, most))]
    drawn = drawn_alone(dots, frontiers.Axis("k"), frontiers.Axis("a"))
    assert ["0", "0.1", "0.2", "0.3"] == re.findall(r'text-anchor="end">([.0-9]+)<', drawn)[:4]


def test_ticks_have_room_for_their_words():
    dots = [frontiers.Dot(1, 0, "m", 1.0, 0.0), frontiers.Dot(2, 0, "m", 10_000.0, 1.0)]
    powers = frontiers.Axis("k", logarithmic=True)
    drawn = drawn_alone(dots, powers, frontiers.Axis("kept", share=True))
    across = re.findall(r'x="([.0-9]+)" y="[.0-9]+" class="tick" text-anchor="middle"', drawn)
    # Values 1, 2, 5, 10 ... 10,000 on a line of 554 that spans 1.12 times four powers of ten.
    every = [
        66 + 554 * (power + np.log10(first) + 0.24) / 4.48
        for power in range(5)
        for first in (1, 2, 5)
        if power < 4 or first == 1
    ]
    room = [every[0]]
    for at in every[1:]:
        if at - room[-1] > 42:
            room.append(at)
    assert 8 == len(room) < len(every)
    assert np.allclose(room, [float(x) for x in across], atol=0.051)


def test_series_beyond_the_colors_begin_again_with_colors_and_marks():
    pytest.importorskip("matplotlib")
    count = len(print_figures.SERIES) + 1
    dots = [frontiers.Dot(n, n, f"m{n}", float(n), 0.5) for n in range(count)]
    panel = frontiers.Panel("t", frontiers.Axis("k"), frontiers.Axis("kept", share=True), dots)
    drawn = print_figures.scatter(panel, [f"m{n}" for n in range(count)]).axes[0]
    marks = [line.get_marker() for line in drawn.lines if line.get_label().startswith("m")]
    assert marks == [print_figures.SHAPES[n % len(print_figures.SHAPES)] for n in range(count)]


# Advice and sweeps


def test_strengths_go_from_two_to_half_of_the_rows_and_epsilons_fall():
    ten = gv.Graph.from_edges([0], [1], n=10)
    for data, most in ((PATH, 2), (ten, 5)):
        for bound, k in (("largest class risk <= 0.01", most), ("kept >= 2", 2)):
            reached = until.reached_by(gv.KDegree, data, [read_bound(bound)], dict, seconds=60)
            assert {"k": k} == reached.parameters
    assert sorted(set(until.FINE_EPSILONS), reverse=True) == list(until.FINE_EPSILONS)
    for tried in trials.TRIED.values():
        assert list(tried) == sorted(tried)
    assert {"k": (2, 5, 10), "levels": (2, 5, 10), "epsilon": (1.0, 4.0, 8.0)} == trials.TRIED


@pytest.mark.parametrize(
    ("name", "main", "others"),
    [
        ("structural", "k", {"measure": "count"}),
        ("k-degree", "k", {}),
        ("asymmetric-response", "epsilon", {}),
    ],
)
def test_a_trial_has_the_parameters_of_the_example_but_its_own(name, main, others):
    made = trials.choice_of(METHODS[name], RING, until=-np.inf).trials
    assert [{**others, main: value} for value in trials.TRIED[main]] == [
        {key: trial.parameters[key] for key in (*others, main)} for trial in made
    ]


def test_the_unique_are_those_in_a_class_of_one():
    by_degree = next(risk for risk in gv.advise(PATH).risks if risk.measure == "degree")
    assert (1, 1 / 3, 3) == (by_degree.unique, by_degree.share_unique, by_degree.unprotected)


def test_the_risk_of_one_person_counts_one():
    alone = gv.Network({"ties": gv.Graph.from_edges([], [], n=1)})
    assert [1] == [risk.unique for risk in advise.risks_of(alone, until=np.inf)]


def test_a_larger_k_protects_more_and_a_larger_epsilon_less():
    grid = {"k-degree": {"k": 2}, "asymmetric-response": {"epsilon": 1.0}}
    swept = gv.sweep(grid, RING, metrics=[], attacks=[], jobs=1, seed=1)
    better = [
        row["direction"] for row in swept.rows.to_pylist() if row["question"] == sweep.STRENGTH
    ]
    assert ["higher is better", "lower is better"] == better


def test_a_share_of_the_nodes_has_no_class_of_everybody():
    whole = METHODS["structural"](k=2).guarantee
    assert 2 == sweep.class_of(whole)
    assert sweep.class_of(msgspec.structs.replace(whole, share=0.9)) is None


@pytest.mark.parametrize(("met", "words"), [([], "No point meets"), ([3], "1 point meets")])
def test_points_that_meet_bounds_are_counted(met, words):
    swept = sweep_of(("m", {"k": 2}, []), ("m", {"k": 3}, []))
    assert f"{words} a <= 1. 2 points: 2 finished." == results.answer_of(swept, ["a <= 1"], met)


def test_a_parameter_that_is_called_as_a_figure_has_another_column():
    assert "parameter_seconds" == points.parameter_column("seconds")
    assert "parameter_unit" == points.parameter_column("unit")
    assert "k" == points.parameter_column("k")


def test_a_missing_value_of_a_text_column_stays_missing():
    values = sweep_of(("m", {"a": 1, "b": 1}, []), ("m", {"a": "x"}, []), ("m", {}, [])).rows
    assert ["1", "x", None] == values["a"].to_pylist()
    assert [1, None, None] == values["b"].to_pylist()


def test_the_worst_of_repeats_is_the_high_end_where_lower_is_better():
    repeats = [
        ("k-degree", {"k": 2}, [figure_row("kept", value), figure_row(ATTACK, value)])
        for value in (0.1, 0.4, 0.3)
    ]
    page = sweep_page.page_text(sweep_of(*repeats, repeats=3))
    figures = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page)[1])
    assert ([0.1], [0.4]) == (figures["kept"], figures[ATTACK])


def test_figures_that_are_asked_for_are_drawn_and_else_the_attack_against_use():
    shown = [figure_row(name, 0.5) for name in ("strength: k", ATTACK, USE, "kept")]
    swept = sweep_of(("k-degree", {"k": 2}, shown))
    read = points.Axis.read
    assert (read("kept"), read(USE)) == swept.chosen("kept", None)
    assert (read(ATTACK), read("kept")) == swept.chosen(None, "kept")
    without = sweep_of(("k-degree", {"k": 2}, [shown[0], shown[2]]))
    assert (read("strength: k"), read(USE)) == without.chosen(None, None)


def test_a_page_of_advice_tries_strengths_that_double_or_more():
    for tried in strengths.STRENGTHS.values():
        assert list(tried) == sorted(tried)
    assert (1.0, 2.0, 4.0, 8.0) == strengths.STRENGTHS["epsilon"]
    assert (2, 3, 5, 10, 20) == strengths.STRENGTHS["k"] == strengths.STRENGTHS["levels"]


def test_a_line_joins_what_no_point_of_the_same_method_beats():
    given = [("k-degree", 2, 0.1, 0.5), ("k-degree", 3, 0.2, 0.6), ("k-degree", 4, 0.3, 0.55)]
    points_given = [
        (
            method,
            {"k": k},
            [figure_row("false", x, direction="lower is better"), figure_row("kept", y)],
        )
        for method, k, x, y in [*given, ("structural", 2, 0.1, 0.9)]
    ]
    panel = sweep_page.panel_of(sweep_of(*points_given), *map(points.Axis, ("false", "kept")))
    assert [1, 2, 4] == [dot.number for dot in panel.dots if dot.on_line]


def test_each_figure_of_a_row_is_shown_once():
    page = sweep_page.page_text(sweep_of(("m", {"k": 2}, [figure_row("kept", 0.5)])))
    assert 1 == re.search(r'<tr id="p1".*?</tr>', page, re.DOTALL)[0].count("50%")


@pytest.mark.parametrize(("after", "warned"), [(0.0, False), (-1e-9, False), (1e-9, True)])
def test_an_attack_that_is_just_hindered_is_no_reason_to_warn(after, warned):
    hindered = 1 - strengths.HARDLY + after
    of = {"release": "x", "question": "candidate-set", "figure": "right guess", "guess": 0.1}
    of |= {"part": "vrq", "setting": Setting(knows="vrq"), "unit": "share"}
    swept = sweep_of(
        *(
            ("k-degree", {"k": k}, [Row(**of, value=value)])
            for k, value in ((2, 1.0), (5, hindered))
        )
    )
    assert warned == ("hardly" in results.warning_of(swept))


def test_people_who_are_found_are_a_share_of_those_who_were_tried():
    tried = strengths.Strengths(
        method="m", name="k", points=(), people=80, counted="people", measured_on="all"
    )
    assert 2 == tried.people_found(strengths.Point(2, found=0.25, of=8))
    assert tried.people_found(strengths.Point(2, of=8)) is None


# What survived a draw of mutants


def test_a_share_without_a_direction_is_no_mark_of_what_is_kept():
    of = {"release": "a", "question": "q", "unit": "share", "value": 0.4}
    rows = [
        Row(**of, figure=figure, direction=way)
        for figure, way in (("x", "higher is better"), ("y", ""), ("relative error", "lower"))
    ]
    assert ["q: x"] == [mark.label for mark in report_figures.of_rows(Rows(rows)).marks]


def test_costs_are_headed_once():
    made = [trials.Trial(parameters={}, cost={}, words=f"k={k}: 1 edge") for k in (2, 5)]
    choice = trials.choice_of(gv.KDegree, RING, until=-np.inf)
    choice = dataclasses.replace(choice, trials=tuple(made))
    lines = trials.Advice(kind="graph", sizes={}, risks=(), choices=(choice,)).lines()
    assert "  costs:       k=2: 1 edge" in lines
    assert f"  {'':<12} k=5: 1 edge" in lines


def test_columns_that_are_given_are_parameters_of_every_trial():
    columns = {"age": [f"{n % 3}" for n in range(12)], "sex": ["f", "m"] * 6}
    table = gv.Table.from_columns(columns, person="row")
    bound = [read_bound("kept >= 0")]
    for method, data, given, kept in (
        (METHODS["cluster-k"], table, {"known": ["age"]}, {"known": ["age"]}),
        (METHODS["structural"], RING, None, {"measure": "count"}),
    ):
        reached = until.reached_by(method, data, bound, dict, seconds=60, given=given)
        k = reached.parameters["k"]
        assert {"k": k, **kept} == reached.parameters


def test_a_sample_without_edges_has_the_size_of_one(monkeypatch):
    monkeypatch.setattr(gv.KDegree, "card", dataclasses.replace(gv.KDegree.card, trial_size=0))
    bound = [read_bound("kept >= 0")]
    reached = until.reached_by(gv.KDegree, PATH, bound, dict, seconds=np.inf)
    assert ("all of the data", {"kept": 1.0}) == (reached.measured_on, reached.figures)


def test_only_bounds_that_do_not_hold_are_missed():
    held, missed = map(read_bound, ("kept >= 0.5", "edge-jaccard: all >= 0.75"))
    found = {missed: 0.5}
    reached = until.reached_by(gv.KDegree, PATH, [held, missed], lambda *_: found, seconds=60)
    assert {str(missed): 0.25} == reached.missed
    assert {held.what: 1.0, missed.what: 0.5} == reached.figures
    # The path becomes a triangle: two of its three edges are true.
    assert (1.0, pytest.approx(1 / 3), {"k": 2}) == (
        *(reached.kept, reached.false),
        reached.parameters,
    )


def test_a_strength_is_tried_with_the_other_parameters_of_the_advice(monkeypatch):
    made = []

    def from_parameters(given):
        made.append(given)
        raise ParameterError("no")

    choice = trials.choice_of(gv.KDegree, RING, until=-np.inf)
    choice = dataclasses.replace(choice, parameters={"k": 5, "edits": "add"})
    monkeypatch.setattr(gv.KDegree, "from_parameters", from_parameters)
    assert "no" == strengths.strengths_of(RING, choice).points[0].reason
    assert [{"k": k, "edits": "add"} for k in strengths.STRENGTHS["k"]] == made


def test_what_libraries_print_in_a_worker_goes_nowhere():
    code = (
        "import os; from graphveil.verbs.sweep import running; "
        "running.serve = lambda i, o: [os.write(s, b'x') for s in (1, 2)]; running.main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)


class Waiting:
    """A stream of bytes whose end never comes, as of a parent that is still there."""

    def __init__(self, *messages):
        self.bytes = BytesIO(b"".join(map(pickle.dumps, messages)))

    def read(self, size):
        return self.bytes.read(size) or Event().wait()

    def readline(self):
        return self.bytes.readline()


class TwoAnswers(BytesIO):
    """A stream that breaks with the second answer."""

    answers = 0

    def flush(self):
        self.answers += 1
        if self.answers == 2:
            raise BrokenPipeError


def test_a_worker_answers_one_task_after_another(monkeypatch):
    monkeypatch.setattr(Queue, "get", partialmethod(Queue.get, timeout=10))
    monkeypatch.setattr(running, "SimpleQueue", Queue)
    out = TwoAnswers()
    with pytest.raises(BrokenPipeError):
        running.serve(Waiting((abs, None), -3, -4), out)
    assert b"".join(pickle.dumps(("done", n)) for n in (3, 4)) == out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return gv.KDegree(k=2).anonymize(RING, seed=1).write(tmp_path_factory.mktemp("ring") / "out")


def test_a_page_quotes_a_guarantee_only_if_it_holds(folder, tmp_path):
    manifest, read = read_manifest(folder), gv.read_release(folder)
    verdict = gv.verify_release(folder)
    assert verdict.held == sections.of_release(read, verdict, manifest, {})["quote"] != ""
    assert "" == sections.of_release(read, verdict, None, {})["quote"]
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    (broken / manifest.data.files[0].name).write_text("")
    verdict = gv.verify_release(broken)
    assert "" == sections.of_release(None, verdict, manifest, {})["quote"]


def test_a_description_for_machines_is_public(folder, tmp_path):
    made = gv.report_release(folder, public=True, form="json")
    alone = shutil.copytree(folder, tmp_path / "out")
    assert (True, gv.verify_release(alone)) == (made.public, made.verdict)


def test_a_scale_holds_the_ends_of_repeats_and_a_line_only_its_own_method():
    ends = {"y_ends": (0.0, 9.0)}
    dots = [frontiers.Dot(1, 0, "m", 1.0, 1.0, on_line=True, **ends)]
    dots += [frontiers.Dot(2, 1, "n", x, 2.0, on_line=True) for x in (2.0, 3.0)]
    picture = drawn_alone(dots, frontiers.Axis("a"), frontiers.Axis("a"), "mn")
    lines = [part.split() for part in re.findall('<polyline points="([^"]*)"', picture)]
    assert [1, 2] == list(map(len, lines))
    # From 0 to 9 with 6% of the range on either side: 2 is (2 + 0.54) of 10.08 above the bottom.
    place = frontiers.BOTTOM + (frontiers.TOP - frontiers.BOTTOM) * 2.54 / 10.08
    assert pytest.approx(place, abs=0.051) == float(lines[1][0].split(",")[1])


@pytest.mark.parametrize("directed", [False, True])
def test_new_pairs_have_two_ends_and_are_new_and_fill_up_to_the_size(directed):
    """Of 20 nodes few pairs are free: some draws are loops, edges or drawn before."""
    edges = np.array([(u, u + 1) for u in range(10)], dtype=np.int32)
    size = 90 if directed else 45
    for seed in range(5):
        rng = np.random.default_rng(seed)
        new = paired_copy.random_pairs(edges, 20, size, rng, directed=directed).tolist()
        every = {*map(tuple, new), *map(tuple, edges.tolist())}
        assert size == len(every) == len(new) + len(edges)
        assert all(u != v if directed else u < v for u, v in every)
        assert directed == any(u > v for u, v in every)


def test_a_rate_counts_those_in_both_among_those_in_the_second():
    one, whole = np.array([True, False, True, False]), np.array([True, True, False, False])
    rate = reidentification.Rate.of("r", Setting(), [(one, whole)], 0.1)
    assert ([1.0], [2.0]) == (rate.hits.tolist(), rate.base.tolist())


@pytest.mark.parametrize(
    ("count", "possible"), [(None, True), ("0", False), ("1", True), ("8", True), ("9", False)]
)
def test_a_noisy_count_is_of_some_cells_and_not_of_all(count, possible):
    flips = RandomizedCells(cells="9", epsilon_cells="2", T0="1", T1="2", noisy_count=count)
    assert possible == cell_flips.is_possible_count(flips)


@pytest.mark.parametrize(
    ("chances", "changed", "answer"),
    [
        ((0.5, 0.1), (500, 900), "holds"),
        ((0.5, 0.1), (1000, 900), "fails"),
        ((0.5, 0.1), (500, 0), "fails"),
        ((1.0, 0.1), (1000, 900), "holds"),
        ((0.5, 0.0), (500, 0), "holds"),
        ((1.0, 0.0), (1000, 0), "not checked"),
    ],
)
def test_chances_of_blocks_are_tested_by_what_is_kept_and_by_what_is_false(
    monkeypatch, folder, chances, changed, answer
):
    one, zero = (int(chance * flip_probabilities.FULL) for chance in chances)
    block = flip_probabilities.CellBlock(cells=10_000, zero=zero, one=one)
    monkeypatch.setattr(block_flips, "blocks_of", lambda _: [block])
    kept, added = changed
    kind = dataclasses.replace(
        CHECKED_KINDS["graph"], changes=lambda _: EdgeChanges(1000, kept, added)
    )
    evidence = Evidence(read_manifest(folder), kind, None)
    flips = BlockFlips(
        cells="10000",
        epsilon_cells="2",
        noisy_count=None,
        sizes=(142,),
        weights=("1",),
        groups=(0,),
        factors=("1",),
    )
    assert answer == block_flips.flips_of_blocks_are_plausible(evidence, flips).outcome


def test_levels_are_of_all_known_columns_or_of_none_and_in_their_file(tmp_path):
    ages = {name: [f"{n % 8}" for n in range(16)] for name in ("age", "height")}
    table = gv.Table.from_columns({**ages, "ill": ["flu", "no"] * 8}, person="row")
    levels = dict.fromkeys(ages, "5,10")
    method = gv.Generalize(k=2, known=list(ages), label="ill", levels=levels)
    described = read_manifest(method.anonymize(table, seed=1).write(tmp_path / "out")).data

    def problems(**changed):
        forged = msgspec.structs.replace(described, **changed)
        return description_check(forged, CHECKED_KINDS["table"])

    assert "holds" == problems().outcome
    data, right = described.files
    wrong = msgspec.structs.replace(right, name="x.csv")
    assert "'x.csv' is not described as the file of levels" in problems(files=[data, wrong]).detail
    none = [
        msgspec.structs.replace(column, levels=None, origin=None)
        if column.name == "height"
        else column
        for column in described.columns
    ]
    assert "some known columns have levels, and others have none" in problems(columns=none).detail
    turned = msgspec.structs.replace(data, columns=data.columns[::-1])
    told = problems(files=[turned, right]).detail
    assert "the described columns are not those of the data" in told


def test_an_owners_file_that_is_there_or_recorded_is_checked(folder, tmp_path):
    file = tmp_path / "levels"
    file.write_bytes(b"x")
    record = read_record(folder)
    for levels, written, checks in ((None, None, 0), (file, None, 1), (None, "0" * 64, 1)):
        owner = Owner(msgspec.structs.replace(record, levels_sha256=written), levels=levels)
        assert checks == len(further_file_checks(owner))


@pytest.mark.parametrize("attached", [None, Attached("c", np.empty(0))])
def test_nothing_is_inferred_of_nobody_or_of_no_column(attached):
    release = gv.KDegree(k=2).anonymize(RING, seed=1)
    pair = comparison_of(release, RING, Randomness(seed=1), wanted_by="attack")
    situation = AttackInput(pair, release, attached=attached)
    with pytest.raises(NotMeasuredError):
        homogeneity.homogeneity(situation, AttackOptions())


def test_something_is_said_of_an_attack_only_if_there_is_a_reason_or_a_time():
    missing = Rows([Row(release="a", question="b", figure="f", reason="too large")])
    known = [{}, {"after": Rows([])}, {"after": missing}]
    known.append({"after": Rows([]), "times": {"b": "an hour"}})
    said = Said("inferred", "right", label="l", does="asks", says="{n}")
    every = [
        list(legal_questions.lines_of("b", said, legal_questions.Findings(**one))) for one in known
    ]
    reasons = [[line.reason for line in lines] for lines in every]
    assert [[legal_questions.NEEDS_ORIGINAL], [], ["too large"], ["takes about an hour"]] == reasons


@pytest.mark.parametrize(("samples", "words"), [(1, "in one sample"), (3, "strongest of 3")])
def test_a_strongest_draw_is_said_with_how_many_there_were(samples, words):
    said = Said("inferred", "right", label="l", does="asks", says="{n}", take=strongest)
    of = {"release": "a", "figure": "right", "sample_size": samples}
    rows = Rows([Row(**of, question="q", value=v) for v in (0.2, 0.7)])
    others = Rows([*rows, Row(**of, question="other", value=0.9)])
    [line] = legal_questions.lines_of("q", said, legal_questions.Findings(after=others))
    assert line.reason.startswith("70 of 100")
    assert words in line.reason


def test_pictures_of_papers_have_room_for_their_marks_and_no_more():
    pytest.importorskip("matplotlib")
    marks = [charts.Mark("a", 0.5), charts.Mark("b", 1.0, 0.0)]
    [axes] = print_figures.dots(marks).axes
    assert (-0.02, 1.02, 1.6, -0.6) == pytest.approx((*axes.get_xlim(), *axes.get_ylim()))
    bins = [charts.Bin(0, 0, 1, 3), charts.Bin(1, 8, 3, 1)]
    [axes] = print_figures.steps(bins, "degree").axes
    assert (0, 8, 0, 1.02) == pytest.approx((*axes.get_xlim(), *axes.get_ylim()))
    assert 1 == axes.xaxis.get_transform().linthresh
    assert [[0.25, 1, 1], [0.75, 1, 1]] == [line.get_ydata().tolist() for line in axes.lines]


def test_a_chance_is_above_one_in_the_level_beyond_what_is_rounded():
    chances = np.array([0.5, 0.5 + 0.5e-5, 0.5 + 1.5e-5, 0.6])
    own = matchings.NodePairs(np.arange(5), np.arange(4))
    found = matchings.Posteriors(own, chances, exact=True)
    figures = list(matching.chance_figures(found, chances, np.full(4, 2)))
    assert [0.5] == [one.value for one in figures if "above 1/level" in one.part]


@pytest.mark.parametrize(("more", "refused"), [(0, False), (1, True)])
def test_a_manifest_of_just_the_limit_is_read(monkeypatch, tmp_path, more, refused):
    monkeypatch.setattr("graphveil.claims.manifest.MOST_BYTES", 40)
    (tmp_path / MANIFEST).write_bytes(b" " * (40 + more))
    with pytest.raises(ReleaseError) as error:
        read_manifest(tmp_path)
    assert refused == ("more than 40 bytes" in str(error.value))
