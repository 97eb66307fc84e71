"""What neighbors tell of an attribute: against a slow count, and where it must succeed or fail."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.attacks import ATTACKS
from graphveil.attacks.attack import AttackInput
from graphveil.attacks.networks.attribute_inference import _passed_on, attribute_inference
from graphveil.core.errors import UsageError
from graphveil.core.randomness import Randomness
from graphveil.evaluate.comparison import NetworkComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.pages.answers.attacks import groups

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

OPTIONS = ATTACKS["attribute-inference"].options()
SEX = "sex"


def situation(ties, before, after, position):
    n = len(before)
    original = gv.Network({"ties": ties}, gv.Table.from_columns({SEX: before}))
    moved = np.empty(n, dtype=object)
    for place, value in zip(position, after, strict=True):
        moved[place] = value
    released = original.permuted(np.argsort(position)).with_people(
        gv.Table.from_columns({SEX: moved.tolist()})
    )
    pair = NetworkComparison.of(original, released, np.array(position), Randomness(seed=1))
    return AttackInput(comparison=pair, release=None)


def values(some):
    return {f.part: (f.value, f.baseline) for f in attribute_inference(some, OPTIONS).figures}


@st.composite
def networks(draw):
    n = draw(st.integers(2, 9))
    pairs = [(u, v) for v in range(n) for u in range(v)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True))
    before = draw(st.lists(st.sampled_from("abc*"), min_size=n, max_size=n))
    hidden = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    after = ["*" if hides else value for value, hides in zip(before, hidden, strict=True)]
    position = draw(st.permutations(range(n)))
    ties = gv.Graph.from_edges([u for u, _ in edges], [v for _, v in edges], n=n)
    return ties, before, after, position


def slow(ties, before, after, people):
    """Return how often the value that most neighbors show is a person's own, ties shared."""
    shown = [value for value in after if value != "*"]
    counts = Counter(shown)
    common = min(value for value, count in counts.items() if count == max(counts.values()))
    right = []
    for v in people:
        near = Counter(after[u] for u in ties.neighbors(v).tolist() if after[u] != "*")
        best = [value for value, count in near.items() if count == max(near.values())]
        right.append((before[v] in best) / len(best) if best else before[v] == common)
    return np.mean(right), np.mean([before[v] == common for v in people])


@settings(deadline=None)
@given(networks())
def test_a_guess_is_right_as_often_as_by_a_slow_count(case):
    ties, before, after, _ = case
    if set(after) == {"*"}:
        with pytest.raises(NotMeasuredError):
            attribute_inference(situation(*case), OPTIONS)
        return
    found = values(situation(*case))
    everybody = [v for v, value in enumerate(before) if value != "*"]
    hidden = [v for v in everybody if after[v] == "*"]
    expected = slow(ties, before, after, everybody)
    assert found[f"{SEX}, everybody: neighbors"] == pytest.approx(expected)
    if hidden:
        expected = slow(ties, before, after, hidden)
        assert found[f"{SEX}, suppressed: neighbors"] == pytest.approx(expected)
    else:
        assert [f"{SEX}, everybody: neighbors"] == list(found)


def two_groups(n=40, hide=5):
    """Return two groups without ties between them, of one sex each; every fifth is hidden."""
    half = n // 2
    rings = [(g * half + v, g * half + (v + 1) % half) for g in range(2) for v in range(half)]
    ties = gv.Graph.from_edges([u for u, _ in rings], [v for _, v in rings], n=n)
    before = ["f"] * half + ["m"] * half
    after = ["*" if v % hide == 0 else value for v, value in enumerate(before)]
    return ties, before, after, list(range(n))


def test_where_friends_are_alike_suppressing_hides_nothing():
    found = values(situation(*two_groups()))
    assert found[f"{SEX}, suppressed: neighbors"] == (1.0, 0.5)
    assert found[f"{SEX}, suppressed: passed on"] == (1.0, 0.5)


def test_who_has_no_neighbor_with_a_value_is_reached_by_passing_values_on():
    ties = gv.Graph.from_edges([0, 1, 3, 4], [1, 2, 4, 5], n=6)
    before, after = list("aaabbb"), list("a**b**")
    found = values(situation(ties, before, after, list(range(6))))
    assert found[f"{SEX}, suppressed: passed on"][0] == 1.0
    assert found[f"{SEX}, suppressed: neighbors"][0] < 1.0
    assert found[f"{SEX}, suppressed: neighbors"][1] == 0.5


def test_where_all_are_alike_nothing_is_learned_beyond_the_most_frequent_value():
    ties, _, _, position = two_groups()
    found = values(situation(ties, ["f"] * 40, ["*"] * 5 + ["f"] * 35, position))
    assert all(value == guess for value, guess in found.values())


def test_where_ties_say_nothing_the_guess_is_no_better_than_chance():
    rng = np.random.default_rng(2)
    n = 400
    ends = rng.integers(0, n, size=(2, 1200))
    ties = gv.Graph.from_edges(*ends[:, ends[0] != ends[1]], n=n, directed="symmetrize")
    before = [["f", "m"][code] for code in rng.integers(0, 2, n)]
    value, guess = values(situation(ties, before, before, list(range(n))))[
        f"{SEX}, everybody: neighbors"
    ]
    assert abs(value - guess) < 0.08


def test_of_too_many_values_nothing_is_passed_on(monkeypatch):
    monkeypatch.setattr("graphveil.attacks.networks.attribute_inference.MOST_CELLS", 3)
    codes = np.array([0, 1, -1, 0], dtype=np.int32)
    own = np.array([0, 1, 1, 0], dtype=np.int32)
    assert _passed_on(gv.Graph.from_edges([0], [1], n=4), codes, own) is None


def test_a_graph_has_no_attributes_and_the_command_says_so():
    graph = two_groups()[0]
    release = gv.KDegree(k=2).anonymize(graph, seed=1)
    with pytest.raises(UsageError, match="attribute-inference reads a Network"):
        gv.attack_release(release, graph, attacks=["attribute-inference"])
    assert not [row for row in gv.attack_release(release, graph) if "attribute" in row.question]


def test_the_attack_runs_by_default_on_networks_and_answers_in_words():
    ties, before, _, _ = two_groups()
    network = gv.Network({"ties": ties}, gv.Table.from_columns({SEX: ["x"] * 3 + before[3:]}))
    release = gv.KDegree(k=4, known="sex").anonymize(network, seed=1)
    rows = gv.attack_release(release, network)
    assert 2 < sum(row.question == "attribute-inference" for row in rows)
    lines = [line.question for group in groups(rows) for line in group.lines]
    assert "suppressed sex, inferred from the neighbors" in lines
