"""Values that one formula alone gives: where a test of the whole would not see another."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import partialmethod
from io import BytesIO
from queue import Queue
from threading import Event
from types import SimpleNamespace
from typing import Literal, NamedTuple

import msgspec
import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binomtest

import graphveil as gv
from graphveil.attacks import (
    ATTACKS,
    edge_rerun,
    homogeneity,
    likelihood_ratio,
    matching,
    roc_curve,
)
from graphveil.attacks.networks import propagation
from graphveil.attacks.networks.copies import paired_copy, reidentification
from graphveil.attacks.networks.copies.reidentification import _risk
from graphveil.attacks.row_selection import strongest
from graphveil.attacks.wording import Said
from graphveil.claims.facts import EntryChanges
from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.claims.ledger import Entry, Limit
from graphveil.claims.manifest import (
    LEVELS_COLUMNS,
    LEVELS_ROLE,
    MANIFEST,
    ColumnCells,
    Described,
    read_manifest,
)
from graphveil.core.errors import DataError, ParameterError, ReleaseError
from graphveil.core.rows import Row, Rows, Setting
from graphveil.data import csr, persons
from graphveil.data.layers import ListedTies
from graphveil.data.layers import _ends as ends_of_arcs
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures import matchings
from graphveil.measures import rows as single_rows
from graphveil.methods import METHODS
from graphveil.pages import charts, frontiers, print_figures
from graphveil.pages import figures as report_figures
from graphveil.pages import sweep as sweep_page
from graphveil.pages.answers import promise, standing_out
from graphveil.pages.report import legal_questions, report, sections
from graphveil.verbs.advise import advise, strengths, trials, until
from graphveil.verbs.sweep import grid, points, results, running, sweep
from graphveil.verify.database import UnreadableError, database
from graphveil.verify.files import description
from graphveil.verify.files.owner import further_file_checks
from graphveil.verify.promises import attached
from graphveil.verify.promises.noise import block_flips, cell_flips
from graphveil.verify.recount.graphs import structural_classes
from graphveil.verify.recount.graphs.released_graph import ReleasedNetwork, Work
from graphveil.verify.recount.noise import flip_probabilities, weighted_graph
from graphveil.verify.recount.rows import assignments
from graphveil.verify.second_reading import pairs

NO_LINKAGE = {"edge-re-run", "re-run"}
BY_NAME = {
    *("alignment", "edge-gain", "edge-membership", "edge-re-run", "entry-membership"),
    *("re-run", "seed-propagation", "tie-membership"),
}

PATH = gv.Graph.from_edges([0, 1], [1, 2], n=3)


# What is measured


@pytest.mark.parametrize("hits", [0, 3, 10])
def test_the_interval_of_those_who_are_alone_is_that_of_clopper_and_pearson(hits):
    alone = np.arange(10) < hits
    drawn = single_rows._estimated(2, alone, exact=False)
    low, high = binomtest(hits, 10).proportion_ci(method="exact")
    assert (drawn.low, drawn.high) == pytest.approx((low, high))
    every = single_rows._estimated(2, alone, exact=True)
    assert (every.low, every.share, every.high) == (hits / 10, hits / 10, hits / 10)


def test_ranges_begin_where_they_are_told_and_have_their_lengths():
    assert [5, 6, 2, 3, 4] == single_rows._ranges(np.array([5, 2]), np.array([2, 3])).tolist()


def test_of_nobody_the_smallest_class_has_nobody_and_no_share_is_divided_by_none():
    nobody = gv.measure(gv.Graph.from_edges([], [], n=0))
    assert 0 == nobody.summary()["smallest_class"]
    assert "0 people" in standing_out.headline(nobody)


def test_only_one_layer_without_directions_is_measured_by_degree():
    other = gv.Graph.from_edges([0], [2], n=3)
    assert "degree" == gv.measure(gv.Network({"a": PATH})).measure
    assert "degree" != gv.measure(gv.Network({"a": PATH, "b": other})).measure


def test_a_position_that_no_node_has_is_refused_with_those_that_there_are():
    with pytest.raises(DataError, match=r"outside 0\.\.2\. Give n > 3\."):
        ends_of_arcs([0], [3], 3)


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


def test_edges_of_nodes_beyond_sixteen_bits_are_sorted_by_the_whole_first_end():
    first, second = np.array([65_536, 0, 65_537, 1]), np.array([3, 4, 5, 6])
    edges = (first << csr.HALF) | second
    csr._sort_by_first(edges)
    assert [0, 1, 65_536, 65_537] == (edges >> csr.HALF).tolist()


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


@pytest.mark.parametrize(("cells", "said"), [(1, "1 node differs in"), (2, "2 nodes differ in")])
def test_nodes_with_the_value_of_another_are_counted(monkeypatch, cells, said):
    strange = SimpleNamespace(original="f", node=3, column="sex", published="m", cells=cells)
    monkeypatch.setattr(attached, "strange_cell", lambda *_, **__: strange)
    evidence = SimpleNamespace(original_as=lambda _: None, tables=None)
    detail = attached._cells(evidence, {"sex": 0}, stars=False).detail
    assert detail == f"node 3 has 'sex'='m', but 'f' in the original; {said} this attribute"


@pytest.mark.parametrize(
    ("first", "reading", "ends"),
    [
        (["a", "b"], {}, [0, 1]),
        (["a", "b", "c"], {}, None),
        (["source", "target", "w"], {}, None),
        (["source", "target", "w"], {"ignore_weights": True}, [0, 1]),
        (["source", "target", "w"], {"kind_column": "w"}, [0, 1]),
    ],
)
def test_two_columns_are_the_ends_where_nothing_else_can_be(first, reading, ends):
    assert ends == pairs._ends(first, reading)


def test_a_file_of_just_the_limit_is_read():
    with database(limit_bytes=1 << 28) as db:
        db.refuse_beyond(1 << 28, "data.csv")
        with pytest.raises(UnreadableError):
            db.refuse_beyond((1 << 28) + 1, "data.csv")


def test_the_pairs_of_a_block_are_each_once():
    assert [6, 12, 3] == [
        weighted_graph._plan([4, 3], [1, 1], a, b).pairs for a, b in ((0, 0), (0, 1), (1, 1))
    ]


def test_the_members_of_each_component_are_together():
    groups = assignments._groups(np.array([2, 0, 2, 1, 0, 2]))
    assert [[1, 4], [0, 2, 5]] == [group.tolist() for group in groups]


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("count", "degree 2, 1 triangle"),
        ("edge-count", "3 edges within distance 1"),
        ("dk", "the subgraph around node 0, 3 nodes and 3 edges within distance 1"),
    ],
)
def test_the_value_of_a_node_is_said_in_its_own_words(measure, words):
    heads = np.array([1, 2, 0, 2, 0, 1])
    network = ReleasedNetwork(np.array([0, 2, 4, 6]), heads, Work(1 << 28))
    assert words == structural_classes._in_words(network, measure, 1, 0)


# What is attacked


def test_these_attacks_alone_need_no_linkage():
    assert NO_LINKAGE == {name for name, attack in ATTACKS.items() if not attack.needs_linkage}


def test_these_attacks_alone_are_run_by_name():
    assert BY_NAME == {name for name, attack in ATTACKS.items() if attack.by_name}


def test_whom_no_draw_asked_for_has_no_risk():
    draws = [
        SimpleNamespace(right=np.array([1, 0, 0]), asked=np.array([1, 1, 0])),
        SimpleNamespace(right=np.array([0, 0, 0]), asked=np.array([1, 0, 0])),
    ]
    assert [0.5, 0.0, np.nan] == pytest.approx(_risk(draws).tolist(), nan_ok=True)


def test_what_is_inferred_from_neighbors_is_said_of_suppressed_values():
    [said] = ATTACKS["attribute-inference"].said
    assert [True, False] == [said.when(Setting(among=one)) for one in ("suppressed", "published")]


def test_a_release_is_attacked_by_what_the_others_tell(monkeypatch):
    rng = np.random.default_rng(1)
    inside = rng.random((9, 30)) < 0.5
    scores = (inside + rng.normal(size=inside.shape))[:, :, None]
    told, area = [], likelihood_ratio._area
    monkeypatch.setattr(
        likelihood_ratio, "_area", lambda *given: told.append(len(given[1])) or area(*given)
    )
    likelihood_ratio.ratios(likelihood_ratio.ShadowScores(scores, inside), [[0]])
    assert [6, 7, 7, 7] == told


def test_the_sample_of_an_area_is_twice_the_smaller_group(monkeypatch):
    monkeypatch.setattr(roc_curve, "of_area", lambda *given, times: (given[2], times))
    curve = SimpleNamespace(
        area=lambda: 0.5,
        _shares=lambda: np.array([0.5, 0.5, 0.5]),
        _first=np.array([True, False, False]),
        _person=np.array([0, 1, 2]),
        people=3,
    )
    assert (2.0, 4.0) == roc_curve.Curve.area_sample(curve, times=4.0)


def test_attacks_foresee_two_runs_for_an_edge_and_one_match_for_each_draw(
    monkeypatch,
):
    monkeypatch.setattr(edge_rerun, "_rerun_of", lambda _: None)
    monkeypatch.setattr("graphveil.attacks.attack.run_again", lambda _: 0.5)
    original = SimpleNamespace(n_edges=7, n_nodes=9)
    situation = SimpleNamespace(
        release=SimpleNamespace(guarantee=EdgeDP(epsilon=1.0)),
        comparison=SimpleNamespace(original=original),
    )
    asked = SimpleNamespace(runs=5, edges=3)
    assert 2 * 5 * 3 * 0.5 == edge_rerun.foreseen(situation, asked)
    monkeypatch.setattr(propagation, "check_matching", lambda _: None)
    monkeypatch.setattr(propagation, "seconds_of_draw", lambda _: 0.25)
    asked = SimpleNamespace(settings=[(1.0, 5), (0.9, 5)], draws=3)
    assert 3 * 2 * 0.25 == propagation.seconds(situation, asked)


# What is said


@pytest.mark.parametrize(("count", "rest"), [(12, False), (13, True)])
def test_twelve_columns_are_said_one_by_one(count, rest):
    cells = [ColumnCells(name=f"c{n}", values=4, generalized=0, suppressed=0) for n in range(count)]
    table = Described(kind="table", files=[], counts={}, suppressed_cells="", cells=cells)
    line = promise.columns_line(table, {})
    assert min(count, 12) == str(line).count("100% exact")
    assert rest == ("; 1 more (graphveil evaluate)" in str(line))


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
    figures_shown = legal_questions.Figures(after=Rows(rows))
    [line] = legal_questions._lines("membership", said, figures_shown)
    assert line.reason == "70 of 100 found; 31 of 100 for people not in the data"


# Pictures


def test_a_scale_of_shares_ends_at_none_and_all_and_one_of_powers_grows_by_its_range():
    shares = frontiers._scale([0.0, 1.0], frontiers.Axis("kept", share=True), 0, 100)
    assert (0.0, 1.0) == (shares.low, shares.high)
    powers = frontiers._scale([1.0, 1000.0], frontiers.Axis("k", logarithmic=True), 0, 100)
    assert (1000**-0.06, 1000**1.06) == pytest.approx((powers.low, powers.high))


def test_a_tick_at_the_end_of_a_scale_is_kept_however_it_is_rounded():
    scale = frontiers._Scale(0.0, 0.3, 0, 100, logarithmic=False)
    assert 0.3 == pytest.approx(frontiers._ticks(scale)[-1])


def test_ticks_have_room_for_their_words():
    frame, axis = frontiers._ALONE, frontiers.Axis("k", logarithmic=True)
    panel = frontiers.Panel("t", axis, frontiers.Axis("kept", share=True), [])
    x = frontiers._scale([1.0, 1000.0], axis, frame.left, frame.right)
    y = frontiers._scale([0.0, 1.0], panel.y, frontiers.BOTTOM, frontiers.TOP)
    drawn = "".join(frontiers._axes(panel, frame, x, y))
    at = sorted({x.at(value) for value in frontiers._ticks(x)})
    room, last = 0, -np.inf
    for place in at:
        if place - last > 42:
            room, last = room + 1, place
    assert room == drawn.count('class="tick" text-anchor="middle"') == 10


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
    name, few = until._strengths(METHODS["k-degree"], PATH)
    assert ("k", [2]) == (name, list(few))
    ten = gv.Graph.from_edges([0], [1], n=10)
    assert [2, 3, 4, 5] == list(until._strengths(METHODS["k-degree"], ten)[1])
    assert sorted(set(until.FINE_EPSILONS), reverse=True) == list(until.FINE_EPSILONS)
    for tried in trials.TRIED.values():
        assert list(tried) == sorted(tried)
    assert {"k": (2, 5, 10), "levels": (2, 5, 10), "epsilon": (1.0, 4.0, 8.0)} == trials.TRIED


def test_a_trial_has_the_parameters_of_the_example_but_its_own():
    for name in ("structural", "k-degree", "asymmetric-response"):
        method = METHODS[name]
        main = next(one for one in trials.TRIED if one in trials._parameters_of(method)[0])
        for value, given in zip(trials.TRIED[main], trials._parameters_of(method), strict=True):
            kept = {key: v for key, v in method.card.example.items() if key not in {"k", "goal"}}
            assert {**kept, main: value} == given


def test_the_unique_are_those_in_a_class_of_one():
    risk = advise._risk(gv.measure(PATH), "x", "degree")
    assert (1, 1 / 3, 3) == (risk.unique, risk.share_unique, risk.unprotected)


def test_the_risk_of_one_person_counts_one():
    alone = gv.Network({"ties": gv.Graph.from_edges([], [], n=1)})
    assert [1] == [risk.unique for risk in advise._of_network(alone, np.inf)]


def test_a_larger_k_protects_more_and_a_larger_epsilon_less():
    for method, better in (
        (gv.KDegree(k=2), "higher is better"),
        (METHODS["asymmetric-response"](epsilon=1.0), "lower is better"),
    ):
        release = method.anonymize(gv.Graph.from_networkx(nx.cycle_graph(8)))
        rows = {row.question: row for row in sweep._own_rows("r", method, release)}
        assert better == rows[sweep.STRENGTH].direction


def test_a_share_of_the_nodes_has_no_class_of_everybody():
    whole = METHODS["structural"](k=2).guarantee
    assert 2 == sweep.class_of(whole)
    assert sweep.class_of(msgspec.structs.replace(whole, share=0.9)) is None


@pytest.mark.parametrize(("met", "said"), [([], "No point meets"), ([3], "1 point meets")])
def test_points_that_meet_bounds_are_counted(met, said):
    swept = SimpleNamespace(results=[1, 2], counts={"finished": 2})
    assert results.answer_of(swept, ["a <= 1"], met).startswith(f"{said} a <= 1. 2 points: ")


def test_a_parameter_that_is_called_as_a_figure_has_another_column():
    assert "parameter_seconds" == points.parameter_column("seconds")
    assert "parameter_unit" == points.parameter_column("unit")
    assert "k" == points.parameter_column("k")


def test_a_missing_value_of_a_text_column_stays_missing():
    assert [None, "1", 1] == [
        points._cell(None, text=True),
        points._cell(1, text=True),
        points._cell(1, text=False),
    ]


def test_the_worst_of_repeats_is_the_high_end_where_lower_is_better():
    setting = SimpleNamespace(figure=lambda _: SimpleNamespace(low=0.1, high=0.4))
    assert (0.4, 0.1) == tuple(sweep_page._worst(setting, None, lower=one) for one in (True, False))


def test_figures_that_are_asked_for_are_drawn_and_else_the_attack_against_use():
    swept = SimpleNamespace(usual=(["strength"], "attack", "use"), axis=str.upper)
    assert ("X", "use") == points.SweptPoints.chosen(swept, "x", None)
    assert ("attack", "Y") == points.SweptPoints.chosen(swept, None, "y")
    swept.usual = (["strength"], None, "use")
    assert ("strength", "use") == points.SweptPoints.chosen(swept, None, None)


def test_a_page_of_advice_tries_strengths_that_double_or_more():
    for tried in strengths.STRENGTHS.values():
        assert list(tried) == sorted(tried)
    assert (1.0, 2.0, 4.0, 8.0) == strengths.STRENGTHS["epsilon"]
    assert (2, 3, 5, 10, 20) == strengths.STRENGTHS["k"] == strengths.STRENGTHS["levels"]


def test_a_line_joins_what_no_point_of_the_same_method_beats(monkeypatch):
    given = [(1, 0, 1.0, 0.5), (2, 0, 2.0, 0.6), (3, 0, 3.0, 0.55), (4, 1, 1.0, 0.9)]
    dots = [frontiers.Dot(n, series, "m", x, y) for n, series, x, y in given]
    dots.append(frontiers.Dot(5, 0, "m", 0.5, None))
    monkeypatch.setattr(sweep_page, "_dots", lambda *_: dots)
    axes = {"x": "lower is better", "y": "higher is better"}
    made = sweep_page._with_lines(SimpleNamespace(axes=axes), "x", "y")
    assert [1, 2, 4] == [dot.number for dot in made if dot.on_line]


def test_each_figure_of_a_row_is_shown_once(monkeypatch):
    monkeypatch.setattr(sweep_page, "best_of", lambda _: set())
    setting = SimpleNamespace(
        first=SimpleNamespace(number=1, method="m", words="m k=2", parameters={}),
        failure=None,
        figure=lambda _: SimpleNamespace(mean=0.5),
        results=[SimpleNamespace(promise="")],
    )
    swept = SimpleNamespace(usual=([], results.Axis("kept"), None), settings=[setting], methods="m")
    [row] = sweep_page._rows(swept)
    assert len(sweep_page.PLAIN) == len(row.figures)


@pytest.mark.parametrize(("after", "warned"), [(0.0, 0), (-1e-9, 0), (1e-9, 1)])
def test_an_attack_that_is_just_hindered_is_no_reason_to_warn(monkeypatch, after, warned):
    one, other = (
        SimpleNamespace(first=SimpleNamespace(parameters={"k": k}, method="m"), failure=None)
        for k in (2, 5)
    )
    reached = {id(one): 1.0, id(other): 1 - strengths.HARDLY + after}
    monkeypatch.setattr(results, "_found", lambda _, at: {("a", ""): (reached[id(at)], 0.1)})
    found = list(results._hardly(SimpleNamespace(settings=[one, other]), "k"))
    assert warned == len(found)


def test_people_who_are_found_are_a_share_of_those_who_were_tried():
    point = SimpleNamespace(found=0.25, of=8)
    assert 2 == strengths.Strengths.people_found(None, point)
    assert strengths.Strengths.people_found(None, SimpleNamespace(found=None, of=8)) is None


def test_only_k_is_drawn_in_powers():
    axis = results.Axis
    assert [True, False] == [
        sweep_page._axis(axis(*one)).logarithmic for one in (("strength", "k"), ("kept",))
    ]


def test_a_word_that_is_no_choice_of_a_parameter_is_read_as_what_else_it_may_be():
    item = SimpleNamespace(kind=Literal["auto"] | int)
    assert ["auto", 7] == [grid._value(item, text) for text in ("auto", "7")]


# What survived a draw of mutants


def test_a_share_without_a_direction_is_no_mark_of_what_is_kept():
    of = {"release": "a", "question": "q", "unit": "share", "value": 0.4}
    rows = [
        Row(**of, figure=figure, direction=way)
        for figure, way in (("x", "higher is better"), ("y", ""), ("relative error", "lower"))
    ]
    assert ["q: x"] == [mark.label for mark in report_figures._kept(Rows(rows))]


@pytest.mark.parametrize(
    ("shares", "lost"), [((0.8, 0.5), 0.7), ((0.75, None), 0.25), ((None, None), 2.0)]
)
def test_what_a_trial_loses_is_what_is_gone_and_what_is_false(monkeypatch, shares, lost):
    monkeypatch.setattr(trials, "shares_of", lambda _: shares)
    choice = SimpleNamespace(middle=SimpleNamespace(cost={}))
    assert lost == pytest.approx(trials.Choice.lost.fget(choice))


def test_costs_are_headed_once():
    names = dict.fromkeys(("method", "promise", "answers", "leaves_open", "call", "measured_on"))
    several = [SimpleNamespace(words=words) for words in ("k=2: 1 edge", "k=5: 9 edges")]
    choice = SimpleNamespace(**names, trials=several, when_large="")
    lines = list(trials._lines_of(choice, None))
    assert "  costs:       k=2: 1 edge" in lines
    assert f"  {'':<12} k=5: 9 edges" in lines


def test_columns_that_are_given_are_parameters_of_every_trial():
    method = SimpleNamespace(
        card=SimpleNamespace(example={"k": 5, "levels": 2, "epsilon_count": 0.1, "edits": "add"})
    )
    search = SimpleNamespace(given={"known": ["age"]}, method=method, name="levels")
    assert {"edits": "add", "known": ["age"]} == until._Search._example(search)


def test_a_sample_without_edges_has_the_size_of_one():
    search = SimpleNamespace(method=SimpleNamespace(trial_size=0), known={1: "run"})
    search._least, search._run = lambda: 0, lambda *_: None
    assert PATH is until._Search._sample(search, PATH, np.inf).data
    assert {} == search.known


class SomeBound(NamedTuple):
    what: str
    holds_so: bool

    def holds(self, _figure):
        return self.holds_so

    def missed_by(self, figure):
        return 2 * figure

    def __str__(self):
        return self.what


def test_only_bounds_that_do_not_hold_are_missed():
    search = SimpleNamespace(
        name="k", values=[7], known={}, method=gv.KDegree, sample=SimpleNamespace(words="all")
    )
    search._example = dict
    figures_found = {SomeBound("held", True): 0.1, SomeBound("missed", False): 0.2}
    outcome = until.Outcome(figures_found, 0.9, 0.05)
    reached = until._Search._reached(search, 0, outcome, outcome)
    assert {"missed": 0.4} == reached.missed
    assert (0.9, 0.05, {"k": 7}) == (reached.kept, reached.false, reached.parameters)


def test_a_strength_is_tried_with_the_other_parameters_of_the_advice(monkeypatch):
    made = []

    def from_parameters(given):
        made.append(given)
        raise ParameterError("no")

    method = SimpleNamespace(accepts=(gv.Network,), trial_size=99, from_parameters=from_parameters)
    monkeypatch.setattr(strengths, "METHODS", {"m": method})
    monkeypatch.setattr(strengths, "roles_of", lambda *_: {})
    choice = SimpleNamespace(method="m", parameters={"k": 5, "edits": "add"})
    assert "no" == strengths.strengths_of(PATH, choice).points[0].reason
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


def test_a_worker_answers_one_task_after_another(monkeypatch):
    answers = []
    monkeypatch.setattr(Queue, "get", partialmethod(Queue.get, timeout=10))
    monkeypatch.setattr(running, "SimpleQueue", Queue)
    monkeypatch.setattr(running.pickle, "dump", lambda answer, _: answers.append(answer))
    out = SimpleNamespace(flush=lambda: 1 / (2 - len(answers)))
    with pytest.raises(ZeroDivisionError):
        running.serve(Waiting((abs, None), -3, -4), out)
    assert [("done", 3), ("done", 4)] == answers


@pytest.mark.parametrize(("ok", "quote"), [(True, "held"), (False, "")])
def test_a_page_quotes_a_guarantee_only_if_it_holds(monkeypatch, ok, quote):
    for name in ("answer_of", "because_of", "facts_of"):
        monkeypatch.setattr(sections, name, lambda *_: "")
    verdict = SimpleNamespace(ok=ok, held="held", answer="", failures=list, undecided=[])
    claim = SimpleNamespace(guarantee=EdgeDP(epsilon=1.0), does_not_protect_against="")
    parts = sections.of_release(None, verdict, SimpleNamespace(claim=claim), {})
    assert quote == parts["quote"]
    assert "" == sections.of_release(None, verdict, None, {})["quote"]


def test_a_description_for_machines_is_public(monkeypatch):
    monkeypatch.setattr(report, "read_manifest_or_refuse", lambda _: "manifest")
    monkeypatch.setattr(report, "verify_release", lambda _: "verdict")
    monkeypatch.setitem(report.FORMS, "json", lambda *_: {})
    made = report._public(None, "a", "json", {})
    assert (True, "verdict") == (made.public, made.verdict)


def test_a_scale_holds_the_ends_of_repeats_and_a_line_only_its_own_method():
    axis = frontiers.Axis("a")
    ends = {"y_ends": (0.0, 9.0)}
    dots = [frontiers.Dot(1, 0, "m", 1.0, 1.0, on_line=True, **ends)]
    dots += [frontiers.Dot(2, 1, "n", x, 2.0, on_line=True) for x in (2.0, 3.0)]
    drawn = list(frontiers._parts(frontiers.Panel("t", axis, axis, dots), frontiers._ALONE, 0))
    lines = [part for part in drawn if part.startswith("<polyline")]
    assert [1, 2] == [line.count(",") for line in lines]
    y = frontiers._scale([0.0, 9.0], axis, frontiers.BOTTOM, frontiers.TOP)
    assert f",{y.at(2.0)}" in lines[1]


def test_new_pairs_have_two_ends_and_are_new_and_fill_up_to_the_size():
    draws = iter([np.array([[0, 1, 2], [0, 2, 1]]), np.array([[3, 0], [1, 3]])])
    rng = SimpleNamespace(integers=lambda *_, **__: next(draws))
    new = paired_copy._by_rejection(np.array([2]), 4, 4, rng, directed=False)
    assert [3, 6, 7] == new.tolist()


def test_a_rate_counts_those_in_both_among_those_in_the_second():
    one, whole = np.array([True, False, True, False]), np.array([True, True, False, False])
    rate = reidentification.Rate.of("r", Setting(), [(one, whole)], 0.1)
    assert ([1.0], [2.0]) == (rate.hits.tolist(), rate.base.tolist())


@pytest.mark.parametrize(("count", "is_one"), [(None, 1), (0, 0), (1, 1), (8, 1), (9, 0)])
def test_a_noisy_count_is_of_some_cells_and_not_of_all(count, is_one):
    assert is_one == cell_flips.is_possible_count(SimpleNamespace(noisy_count=count, cells=9))


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
    monkeypatch, chances, changed, answer
):
    one, zero = (chance * flip_probabilities.FULL for chance in chances)
    block = SimpleNamespace(cells=10_000, one=one, zero=zero)
    monkeypatch.setattr(block_flips, "blocks_of", lambda _: [block])
    kept, added = changed
    edits = SimpleNamespace(before=1000, kept=kept, added=added)
    evidence = SimpleNamespace(changes=lambda: edits)
    flips = SimpleNamespace(cells=10_000, groups=True)
    assert answer == block_flips.flips_of_blocks_are_plausible(evidence, flips).outcome


def test_levels_are_of_all_known_columns_or_of_none_and_in_their_file():
    columns = [
        SimpleNamespace(name="a", role="known", levels="a"),
        SimpleNamespace(name="b", role="known", levels="b"),
        SimpleNamespace(name="c", role="label", levels=None),
    ]
    described = SimpleNamespace(kind="table", columns=columns)
    data = SimpleNamespace(columns=["a", "b", "c"])
    right = SimpleNamespace(name=f"{LEVELS_ROLE}.csv", format="csv", columns=LEVELS_COLUMNS)
    assert [] == description._columns_described(described, data, [right])
    wrong = SimpleNamespace(name="x.csv", format="csv", columns=LEVELS_COLUMNS)
    [said] = description._columns_described(described, data, [right, wrong])
    assert "x.csv" in said
    columns[1].levels = None
    [said] = description._columns_described(described, data, [right])
    assert "others have none" in said
    data.columns = ["a", "c", "b"]
    assert 2 == len(description._columns_described(described, data, [right]))


def test_an_owners_file_that_is_there_or_recorded_is_checked(tmp_path):
    file = tmp_path / "levels"
    file.write_bytes(b"x")
    for levels, written, checks in ((None, None, 0), (file, None, 1), (None, "0" * 64, 1)):
        record = SimpleNamespace(levels_sha256=written, witness_sha256=None)
        owner = SimpleNamespace(record=record, levels=levels, witness=None)
        assert checks == len(further_file_checks(owner))


@pytest.mark.parametrize("attached", [None, SimpleNamespace(value=np.empty((0, 1)))])
def test_nothing_is_inferred_of_nobody_or_of_no_column(attached):
    with pytest.raises(NotMeasuredError):
        homogeneity.homogeneity(SimpleNamespace(comparison=None, attached=attached), None)


def test_something_is_said_of_an_attack_only_if_there_is_a_reason_or_a_time():
    missing = Rows([Row(release="a", question="b", figure="f", reason="too large")])
    known = [{}, {"after": Rows([])}, {"after": missing}]
    known.append({"after": Rows([]), "times": {"b": "an hour"}})
    every = [legal_questions.Figures(**one) for one in known]
    assert [True, False, True, True] == [legal_questions._has_a_say("b", one) for one in every]


@pytest.mark.parametrize(("samples", "words"), [(1, "in one sample"), (3, "strongest of 3")])
def test_a_strongest_draw_is_said_with_how_many_there_were(samples, words):
    said = Said("inferred", "right", label="l", does="asks", says="{n}", take=strongest)
    of = {"release": "a", "figure": "right", "sample_size": samples}
    rows = Rows([Row(**of, question="q", value=v) for v in (0.2, 0.7)])
    others = Rows([*rows, Row(**of, question="other", value=0.9)])
    [line] = legal_questions._lines("q", said, legal_questions.Figures(after=others))
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


def test_people_who_are_known_are_different_people(monkeypatch):
    known = []
    rng = np.random.default_rng(1)
    monkeypatch.setattr(matchings, "allowed", lambda _: None)
    monkeypatch.setattr(matching, "_candidates_of", lambda *_: np.empty(0, dtype=np.int64))
    monkeypatch.setattr(
        matching,
        "_remaining_candidates",
        lambda _, __, some: known.append(some) or matching._Remaining(0, 1, 1),
    )
    randomness = SimpleNamespace(stream=lambda _: rng)
    situation = SimpleNamespace(
        levels=np.full(4, 2), comparison=SimpleNamespace(randomness=randomness)
    )
    list(matching._known_pair_figures(SimpleNamespace(n=4), situation))
    assert {1, 2, 3} == {some.size for some in known}
    assert all(some.size == np.unique(some).size for some in known)


def test_a_chance_is_above_one_in_the_level_beyond_what_is_rounded():
    found = SimpleNamespace(exact=True, best_guesses=lambda: np.full(4, 0.5))
    chances = np.array([0.5, 0.5 + 0.5e-5, 0.5 + 1.5e-5, 0.6])
    said = list(matching._chance_figures(found, chances, np.full(4, 2)))
    assert [0.5] == [one.value for one in said if "above 1/level" in one.part]


@pytest.mark.parametrize(("more", "refused"), [(0, False), (1, True)])
def test_a_manifest_of_just_the_limit_is_read(monkeypatch, tmp_path, more, refused):
    monkeypatch.setattr("graphveil.claims.manifest.MOST_BYTES", 40)
    (tmp_path / MANIFEST).write_bytes(b" " * (40 + more))
    with pytest.raises(ReleaseError) as error:
        read_manifest(tmp_path)
    assert refused == ("more than 40 bytes" in str(error.value))
