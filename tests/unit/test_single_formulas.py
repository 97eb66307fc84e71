"""Values that one formula alone gives: where a test of the whole would not see another."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Literal

import msgspec
import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binomtest

import graphveil as gv
from graphveil.attacks import ATTACKS, edge_rerun, intervals, likelihood_ratio
from graphveil.attacks.networks import propagation
from graphveil.attacks.networks.copies import _risk
from graphveil.attacks.wording import Said
from graphveil.claims.changes import EntryChanges
from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.claims.ledger import Entry, Limit
from graphveil.claims.manifest import ColumnCells, Described, read_manifest
from graphveil.cli.summaries import promise, standing_out
from graphveil.core.errors import DataError, ParameterError
from graphveil.core.rows import Row, Rows, Setting
from graphveil.data import csr, ids
from graphveil.data.layers import ListedTies
from graphveil.data.layers import _ends as ends_of_arcs
from graphveil.data.measures import rows as single_rows
from graphveil.methods import METHODS
from graphveil.verbs.advise import advise, page, trials, until
from graphveil.verbs.report import frontiers, legal_questions, paper, sections
from graphveil.verbs.sweep import figures, grid, results, sweep
from graphveil.verify.database import UnreadableError, database
from graphveil.verify.kinds import kind
from graphveil.verify.promises import graphs
from graphveil.verify.recount import assignments, look_alikes, redrawing
from graphveil.verify.recount.neighborhoods import ReleasedNetwork, Work

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
    found = ids._sign_of_people("patient", values, np.full(len(texts), 2))
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
    monkeypatch.setattr(graphs, "strange_cell", lambda *_, **__: strange)
    evidence = SimpleNamespace(original_as=lambda _: None, tables=None)
    detail = graphs._cells(evidence, "name", {"sex": 0}, stars=False).detail
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
    assert ends == kind._ends(first, reading)


def test_a_file_of_just_the_limit_is_read():
    with database(limit_bytes=1 << 28) as db:
        db.refuse_beyond(1 << 28, "data.csv")
        with pytest.raises(UnreadableError):
            db.refuse_beyond((1 << 28) + 1, "data.csv")


def test_the_pairs_of_a_block_are_each_once():
    assert [6, 12, 3] == [
        redrawing._plan([4, 3], [1, 1], a, b).pairs for a, b in ((0, 0), (0, 1), (1, 1))
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
    assert words == look_alikes._in_words(network, measure, 1, 0)


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
    monkeypatch.setattr(intervals, "of_area", lambda *given, times: (given[2], times))
    curve = SimpleNamespace(
        area=lambda: 0.5,
        _shares=lambda: np.array([0.5, 0.5, 0.5]),
        _first=np.array([True, False, False]),
        _person=np.array([0, 1, 2]),
        people=3,
    )
    assert (2.0, 4.0) == intervals.Curve.area_sample(curve, times=4.0)


def test_attacks_foresee_two_runs_for_an_edge_and_one_match_for_each_draw(
    monkeypatch,
):
    monkeypatch.setattr(edge_rerun, "_rerun_of", lambda _: None)
    monkeypatch.setattr(edge_rerun, "run_again", lambda _: 0.5)
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
    count = len(paper.SERIES) + 1
    dots = [frontiers.Dot(n, n, f"m{n}", float(n), 0.5) for n in range(count)]
    panel = frontiers.Panel("t", frontiers.Axis("k"), frontiers.Axis("kept", share=True), dots)
    drawn = paper.scatter(panel, [f"m{n}" for n in range(count)]).axes[0]
    marks = [line.get_marker() for line in drawn.lines if line.get_label().startswith("m")]
    assert marks == [paper.SHAPES[n % len(paper.SHAPES)] for n in range(count)]


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
            kept = {key: v for key, v in method.example.items() if key not in {"k", "goal"}}
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
    assert "parameter_seconds" == figures.parameter_column("seconds")
    assert "parameter_unit" == figures.parameter_column("unit")
    assert "k" == figures.parameter_column("k")


def test_a_missing_value_of_a_text_column_stays_missing():
    assert [None, "1", 1] == [
        figures._cell(None, text=True),
        figures._cell(1, text=True),
        figures._cell(1, text=False),
    ]


def test_the_worst_of_repeats_is_the_high_end_where_lower_is_better():
    setting = SimpleNamespace(figure=lambda _: SimpleNamespace(low=0.1, high=0.4))
    assert (0.4, 0.1) == tuple(results._worst(setting, None, lower=one) for one in (True, False))


def test_figures_that_are_asked_for_are_drawn_and_else_the_attack_against_use():
    swept = SimpleNamespace(usual=(["strength"], "attack", "use"), axis=str.upper)
    assert ("X", "use") == figures.SweptPoints.chosen(swept, "x", None)
    assert ("attack", "Y") == figures.SweptPoints.chosen(swept, None, "y")
    swept.usual = (["strength"], None, "use")
    assert ("strength", "use") == figures.SweptPoints.chosen(swept, None, None)


def test_a_page_of_advice_tries_strengths_that_double_or_more():
    for tried in page.STRENGTHS.values():
        assert list(tried) == sorted(tried)
    assert (1.0, 2.0, 4.0, 8.0) == page.STRENGTHS["epsilon"]
    assert (2, 3, 5, 10, 20) == page.STRENGTHS["k"] == page.STRENGTHS["levels"]


def test_a_line_joins_what_no_point_of_the_same_method_beats(monkeypatch):
    given = [(1, 0, 1.0, 0.5), (2, 0, 2.0, 0.6), (3, 0, 3.0, 0.55), (4, 1, 1.0, 0.9)]
    dots = [frontiers.Dot(n, series, "m", x, y) for n, series, x, y in given]
    dots.append(frontiers.Dot(5, 0, "m", 0.5, None))
    monkeypatch.setattr(results, "_dots", lambda *_: dots)
    axes = {"x": "lower is better", "y": "higher is better"}
    made = results._with_lines(SimpleNamespace(axes=axes), "x", "y")
    assert [1, 2, 4] == [dot.number for dot in made if dot.on_line]


def test_each_figure_of_a_row_is_shown_once(monkeypatch):
    monkeypatch.setattr(results, "_best", lambda _: set())
    setting = SimpleNamespace(
        first=SimpleNamespace(number=1, method="m", words="m k=2", parameters={}),
        failure=None,
        figure=lambda _: SimpleNamespace(mean=0.5),
        results=[SimpleNamespace(promise="")],
    )
    swept = SimpleNamespace(usual=([], results.Axis("kept"), None), settings=[setting])
    [row] = results._rows(swept, ["m"])
    assert len(results.PLAIN) == len(row.figures)


@pytest.mark.parametrize(("after", "warned"), [(0.0, 0), (-1e-9, 0), (1e-9, 1)])
def test_an_attack_that_is_just_hindered_is_no_reason_to_warn(monkeypatch, after, warned):
    one, other = (
        SimpleNamespace(first=SimpleNamespace(parameters={"k": k}, method="m"), failure=None)
        for k in (2, 5)
    )
    reached = {id(one): 1.0, id(other): 1 - page.HARDLY + after}
    monkeypatch.setattr(results, "_found", lambda _, at: {("a", ""): (reached[id(at)], 0.1)})
    found = list(results._hardly(SimpleNamespace(settings=[one, other]), "k"))
    assert warned == len(found)


def test_people_who_are_found_are_a_share_of_those_who_were_tried():
    point = SimpleNamespace(found=0.25, of=8)
    assert 2 == page.Strengths.people_found(None, point)
    assert page.Strengths.people_found(None, SimpleNamespace(found=None, of=8)) is None


def test_only_k_is_drawn_in_powers():
    axis = results.Axis
    assert [True, False] == [
        results._axis(axis(*one)).logarithmic for one in (("strength", "k"), ("kept",))
    ]


def test_a_word_that_is_no_choice_of_a_parameter_is_read_as_what_else_it_may_be():
    item = SimpleNamespace(kind=Literal["auto"] | int)
    assert ["auto", 7] == [grid._value(item, text) for text in ("auto", "7")]
