from __future__ import annotations

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from tampering import smallest

import graphveil as gv
from graphveil.attacks import Attached
from graphveil.cli.app import call
from graphveil.core import warnings as owner_warnings
from graphveil.core.errors import GraphveilWarning
from graphveil.core.warnings import MATCHED_FROM, noisy_copy, strength_of_ties
from graphveil.methods import METHODS

COPY, APART, SEEDED = "with a copy", "distinguished from", "seed"


def ring(n, chords=()):
    """Return a ring of n nodes with further edges: every degree 2 but at the chords."""
    ends = [(v, (v + 1) % n) for v in range(n)] + list(chords)
    return gv.Graph.from_edges([u for u, _ in ends], [v for _, v in ends], n=n)


STAR = gv.Graph.from_edges([0] * 9, range(1, 10), n=10)
"""One node of degree 9: only many additions give it a look-alike."""

LISTS = gv.Bipartite.from_lists([["tea"]] * 4 + [["tea", "rye"]] * 3 + [[]] * 3)
ROWS = gv.Table.from_columns({"sex": ["f", "m"] * 5, "age": ["30", "30", "40", "*", "50"] * 2})
ARCS = gv.Network((gv.Layer.from_arcs([0] * 9, range(1, 10), n=10),))
TEN = {gv.Graph: STAR, gv.Bipartite: LISTS, gv.Table: ROWS, gv.Network: ARCS}
"""Ten people, by the kind of data."""


def run(method, graph, **how):
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        release = method.anonymize(graph, **how)
    return release, [str(w.message) for w in raised if issubclass(w.category, GraphveilWarning)]


def about(texts, words):
    return [text for text in texts if words in text]


@pytest.mark.parametrize("edits", ["add", "any"])
@pytest.mark.parametrize("graph", [ring(20), STAR], ids=["no edit needed", "many edits needed"])
def test_k_degree_always_warns_of_who_holds_a_copy(edits, graph):
    _, texts = run(gv.KDegree(k=2, edits=edits), graph)
    assert 1 == len(about(texts, COPY))
    assert "in our tests" in about(texts, COPY)[0]


def test_many_added_edges_warn_that_they_can_be_told_apart_with_the_way_out():
    release, texts = run(gv.KDegree(k=2, edits="add"), STAR)
    assert release.private.cost["edges_added"] > 0.05 * STAR.n_edges
    assert 1 == len(about(texts, APART))
    assert "any" in about(texts, APART)[0]


def test_few_added_edges_do_not_warn():
    graph = ring(100, chords=[(0, 50)])
    release, texts = run(gv.KDegree(k=4, edits="add"), graph)
    assert 0 < release.private.cost["edges_added"] <= 0.05 * graph.n_edges
    assert [] == about(texts, APART)


def test_deletions_and_additions_do_not_warn_of_added_edges():
    release, texts = run(gv.KDegree(k=3), ring(6, chords=[(0, 2), (0, 3)]))
    assert release.private.cost["edits"] > 0
    assert [] == about(texts, APART)


def test_a_seed_warns_that_it_must_be_kept_secret_and_none_does_not():
    _, with_seed = run(gv.KDegree(k=2), STAR, seed=0)
    _, without = run(gv.KDegree(k=2), STAR)
    assert 1 == len(about(with_seed, SEEDED))
    assert "secret" in about(with_seed, SEEDED)[0]
    assert [] == about(without, SEEDED)


def test_every_warning_is_in_the_private_record_and_none_in_the_manifest(tmp_path):
    release, texts = run(gv.KDegree(k=2, edits="add"), STAR, seed=4)
    assert 3 == len(texts)
    folder = release.write(tmp_path / "out")
    record = json.loads((tmp_path / "out.private" / "record.json").read_text())
    assert texts == record["warnings"]
    public = (folder / "release.json").read_text()
    assert not any(text in public for text in texts)
    assert not any(words in public for words in ("warning", COPY.replace("a ", ""), APART, SEEDED))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            owner_warnings.LARGE_EMPTY_CLASS.passed_by(11, 100),
            "11.0% of the rows were released without any feature",
        ),
        (
            owner_warnings.MANY_CERTAIN.passed_by(51, 100),
            "51.0% of the published entries are true of everyone",
        ),
        (owner_warnings.taking_part(7, 0.749), "whether the person is in the data"),
        (
            owner_warnings.MANY_ADDITIONS.passed_by(6, 100),
            "the added edges are 6.0% of the input's",
        ),
    ],
)
def test_an_advice_is_given_beyond_its_bound(told, words):
    assert 1 == len(told)
    assert words in told[0]


@pytest.mark.parametrize(
    "told",
    [
        owner_warnings.LARGE_EMPTY_CLASS.passed_by(10, 100),
        owner_warnings.LARGE_EMPTY_CLASS.passed_by(0, 0),
        owner_warnings.MANY_CERTAIN.passed_by(50, 100),
        owner_warnings.MANY_CERTAIN.passed_by(0, 0),
        owner_warnings.taking_part(8, 0.1),
        owner_warnings.taking_part(2, 0.75),
        owner_warnings.MANY_ADDITIONS.passed_by(5, 100),
        owner_warnings.MANY_ADDITIONS.passed_by(0, 0),
    ],
)
def test_an_advice_is_not_given_at_its_bound(told):
    assert () == told


def lists_of(*rows):
    return gv.Bipartite.from_lists([list(row) for row, copies in rows for _ in range(copies)])


EMPTY, CERTAIN, PART = "without any feature", "true of everyone", "is in the data"


def test_mondrian_warns_of_a_large_class_of_empty_rows():
    full, none = (("tea",), 17), ((), 3)
    _, texts = run(gv.Mondrian(k=2, split="balanced"), lists_of(full, none))
    assert 1 == len(about(texts, "15.0% of the rows were released without any feature"))
    _, texts = run(gv.Mondrian(k=2, split="balanced"), lists_of((("tea",), 18), ((), 2)))
    assert [] == about(texts, EMPTY)


def test_mondrian_warns_of_entries_that_are_true_of_the_whole_class():
    data = lists_of((("gin", "tea", "rye"), 2), (("gin", "tea"), 2))
    _, texts = run(gv.Mondrian(k=4, release="majority"), data)
    assert 1 == len(about(texts, "66.7% of the published entries"))
    _, texts = run(
        gv.Mondrian(k=4, release="majority"), lists_of((("tea", "rye"), 2), (("tea",), 2))
    )
    assert [] == about(texts, CERTAIN)


@pytest.mark.parametrize(
    "method", [gv.Mondrian(k=4), gv.SuppressK(k=4), gv.SmoothK(k=4, theta="1")]
)
def test_nobody_is_warned_that_what_is_published_is_true_if_the_method_adds_nothing(method):
    _, texts = run(method, lists_of((("tea", "rye"), 2), (("tea",), 2)))
    assert [] == about(texts, CERTAIN)


def test_entries_of_merged_parts_are_certain_only_where_the_merged_class_is():
    parts = lists_of((("a", "b"), 2), (("a", "b", "c"), 1), (("b", "c"), 1), (("b",), 2))
    release, texts = run(gv.Mondrian(k=2, release="majority"), parts)
    names = release.data.feature_labels().tolist()
    order = release.private.linkage.released.tolist()
    classes = {}
    for user in range(parts.n_users):
        shown = frozenset(names[place] for place in release.data.row(order[user]))
        had = frozenset(parts.feature_labels()[parts.row(user)].tolist())
        classes.setdefault(shown, []).append(had)
    certain = sum(
        len(members)
        for shown, members in classes.items()
        for name in shown
        if all(name in had for had in members)
    )
    share = 100 * certain / release.data.n_entries
    assert 1 == len(about(texts, f"{share:.1f}% of the published entries are true"))


def test_mondrian_warns_that_taking_part_may_be_inferred_with_small_classes_and_much_lost():
    lost = lists_of(*((("tea", f"only {user}"), 1) for user in range(20)))
    release, texts = run(gv.Mondrian(k=7), lost)
    assert 0.5 == release.private.cost["jaccard"]
    assert 1 == len(about(texts, PART))
    _, texts = run(gv.Mondrian(k=8), lost)
    assert [] == about(texts, PART)
    _, texts = run(gv.Mondrian(k=2), lists_of((("tea",), 4)))
    assert [] == about(texts, PART)


def others_in(texts):
    return about(texts, "of this input")


def written(tmp_path, graph, name, k=2, **options):
    """Return the warnings of writing a release."""
    release, _ = run(gv.KDegree(k=k), graph)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        folder = release.write(tmp_path / name, **options)
    said = [str(warning.message) for warning in raised]
    record = json.loads((tmp_path / f"{folder.name}.private" / "record.json").read_text())
    assert said == others_in(record["warnings"])
    return said


def test_a_second_release_of_the_same_input_is_warned_of_and_written(tmp_path):
    assert [] == written(tmp_path, ring(8), "first")
    [text] = written(tmp_path, ring(8), "second", k=3)
    assert text == (
        "1 other release of this input is next to it, first: publish only one of them, or nest them"
    )


def test_the_same_input_is_known_again_in_another_format_and_order(tmp_path):
    (tmp_path / "one.csv").write_text("source,target\nann,bob\nbob,cyd\ncyd,dan\n")
    (tmp_path / "two.tsv").write_text("cyd\tdan\nbob\tann\ncyd\tbob\n")
    written(tmp_path, gv.read_graph(tmp_path / "one.csv"), "first")
    assert 1 == len(written(tmp_path, gv.read_graph(tmp_path / "two.tsv"), "second"))


def test_another_input_is_not_warned_of(tmp_path):
    renamed = gv.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
    rewired = gv.Graph.from_edges(["a", "c", "b"], ["c", "b", "d"])
    for number, graph in enumerate((ring(8), ring(9), renamed, rewired)):
        assert [] == written(tmp_path, graph, f"{number}")


def test_a_release_elsewhere_does_not_count(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    written(tmp_path / "elsewhere", ring(8), "first")
    assert [] == written(tmp_path, ring(8), "second", k=3)


def test_a_release_without_a_linkage_is_remembered_all_the_same(tmp_path):
    written(tmp_path, ring(8), "first", linkage=False)
    assert ["record.json"] == [path.name for path in (tmp_path / "first.private").iterdir()]
    assert 1 == len(written(tmp_path, ring(8), "second"))


WEAK = "false ones hide them too little"
NOISY = [
    gv.AsymmetricResponse,
    gv.RandomizedResponse,
    gv.DegreePriorResponse,
    gv.MixingPriorResponse,
    gv.TopMFilter,
]


@pytest.mark.parametrize("method", NOISY)
def test_noise_so_weak_that_true_ties_stand_out_warns_of_copies(method):
    graph = ring(100)
    _, weak = run(method(epsilon=9.0), graph)
    assert 1 == len(about(about(weak, WEAK), COPY))
    _, strong = run(method(epsilon=1.0), graph)
    assert [] == about(strong, WEAK)


def test_what_keeps_no_edge_of_the_original_warns_of_no_copies():
    _, texts = run(gv.OneKSeries(epsilon=9.0), ring(100))
    assert [] == about(texts, WEAK)


def test_what_is_weak_follows_from_the_released_count_and_never_from_the_true_one():
    graph = ring(40)
    for _ in range(20):
        release, texts = run(gv.AsymmetricResponse(epsilon=4.0), graph)
        [flips] = release.conditions
        chances = (int(flips.T0) / flips.FULL, int(flips.T1) / flips.FULL)
        strength = strength_of_ties(40, int(flips.noisy_count), chances)
        assert (strength >= MATCHED_FROM) == bool(about(texts, WEAK))


@pytest.mark.parametrize(
    ("nodes", "edges", "epsilon", "broken"),
    [
        (105, 441, 2.0, True),  # a whole copy names all of polbooks, with nobody known
        (1224, 16715, 2.0, True),
        (105, 441, 0.5, False),
        (1224, 16715, 0.5, False),
    ],
)
def test_networks_that_randomized_response_leaves_open_to_a_copy_are_warned_of(
    nodes, edges, epsilon, broken
):
    """By `benchmarks/attacks/noisy_copies.py`: named at half or more, or hardly at all."""
    one = 1 / (1 + math.exp(-epsilon))
    assert broken == bool(noisy_copy(nodes, edges, (1 - one, one)))


def test_where_all_or_nobody_is_tied_nothing_stands_out():
    for edges in (0, 30 * 29 // 2):
        assert 0 <= strength_of_ties(30, edges, (0.01, 0.99)) < 1e-9


def test_users_by_features_and_epsilons_of_all_of_a_person_are_not_warned_of_copies():
    _, texts = run(gv.RandomizedResponse(epsilon=9.0), LISTS)
    assert [] == about(texts, WEAK)
    _, texts = run(gv.RandomizedResponse(epsilon=9.0, unit="node"), ring(100))
    assert [] == about(texts, WEAK)


def test_an_attached_column_warns_of_the_people_whose_class_tells_it():
    release, _ = run(gv.SmoothK(k=3), LISTS)
    values = np.array(["low"] * 4 + ["high", "low", "low"] + ["high"] * 3)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        attacked = gv.attack_release(
            release,
            original=LISTS,
            attacks=["homogeneity"],
            attached=Attached("income", values),
        )
    [text] = [str(w.message) for w in raised if issubclass(w.category, GraphveilWarning)]
    [share] = [row.value for row in attacked if row.part == "in a class of one value"]
    assert 0 < share < 1
    assert "'income' is published unprotected next to the release" in text
    assert f"for {100 * share:.1f}% of the people" in text


def limits_of_example(method):
    return method.from_parameters(method.card.example).limits()


def test_every_method_says_on_one_line_what_it_leaves_open_and_who_measured_it():
    for sentence in map(limits_of_example, METHODS.values()):
        assert "\n" not in sentence
        assert "in our tests" in sentence.lower()


@pytest.mark.parametrize("name", METHODS)
def test_the_docs_page_of_a_method_carries_what_is_not_protected(name):
    page = Path(__file__).resolve().parents[2] / "docs" / "methods" / f"{name}.md"
    text = page.read_text(encoding="utf-8")
    assert METHODS[name].card.limits in text or f"{{{{ limit_{name.replace('-', '_')} }}}}" in text


@pytest.mark.parametrize("name", METHODS)
def test_help_manifest_and_list_carry_what_is_not_protected(name, tmp_path, capsys):
    call(["anonymize", name, "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert limits_of_example(METHODS[name]) in shown
    call(["methods", "--json"])
    listed = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert limits_of_example(METHODS[name]) == listed[name]["does_not_protect_against"]
    method = smallest(METHODS[name])
    release, _ = run(method, TEN[METHODS[name].accepts[0]])
    folder = release.write(tmp_path / "out")
    manifest = json.loads((folder / "release.json").read_text())
    kind = manifest["data"]["kind"]
    assert method.limits(kind) == manifest["claim"]["does_not_protect_against"]
    assert METHODS[name].card.limits not in manifest["claim"]["sentence"]
