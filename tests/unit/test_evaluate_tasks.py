"""What readers of a release can do with it: labels told, items recommended, on held-back people."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import graphveil as gv
from graphveil.core.errors import GraphveilWarning, UsageError
from graphveil.core.randomness import Randomness
from graphveil.evaluate import Attached
from graphveil.evaluate.held_back import held_back
from graphveil.evaluate.measuring import comparison_of
from graphveil.evaluate.metrics import classification
from graphveil.evaluate.metrics.classification import Labelled, hits, split_of
from graphveil.evaluate.metrics.recommendation import asked_of, factors_of
from graphveil.evaluate.metrics.tasks import under
from graphveil.verbs.evaluate import evaluate_release as evaluate

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def needs_learning():
    pytest.importorskip("sklearn", reason="the extra learning is not installed")


def table(n, start=0, *, label=True):
    """Return people whose income follows from their trade, among other columns."""
    rng = np.random.default_rng(start)
    trade = rng.integers(0, 4, n)
    columns = {
        "trade": np.array(["smith", "baker", "judge", "pilot"])[trade],
        "town": rng.integers(0, 3, n).astype(str),
    }
    if label:
        columns["income"] = np.array(["low", "low", "high", "high"])[trade]
    return gv.Table.from_columns(columns, ids=[f"p{start + i}" for i in range(n)])


def told(release, original, metric="classification", **how):
    evaluation = evaluate(release, original=original, metrics=[metric], seed=1, **how)
    return {row.part: row for row in evaluation}, evaluation.not_measured


def incomes(data):
    place = data.columns.index("income")
    return np.array(data.categories[place][data.codes[:, place]].tolist())


PEOPLE, TEST = table(120), table(50, 500)
CLASSIFIERS = ("perceptron", "logistic regression", "gradient boosting")


@pytest.mark.parametrize("method", [gv.ClusterK(k=2), gv.SmoothK(k=2)], ids=["table", "features"])
def test_a_label_is_told_by_what_was_learned_from_the_release(method):
    needs_learning()
    rows, missing = told(method.anonymize(PEOPLE), PEOPLE, test=TEST, label="income")
    assert {} == missing
    for name in CLASSIFIERS[1:]:
        for part in ("released", "original"):
            row = rows[f"{name}, {part}"]
            assert row.value == 1.0
            assert (50, 1.0) == (row.sample_size, row.high)
            assert 0.9 < row.low < 1
    assert rows["perceptron, original"].value > 0.9
    assert ["higher is better", "for comparison"] == [
        rows[f"perceptron, {part}"].direction for part in ("released", "original")
    ]
    values, number = np.unique(incomes(PEOPLE), return_counts=True)
    commonest = (incomes(TEST) == values[number.argmax()]).mean()
    assert commonest == rows["commonest label"].value < 0.8


def test_a_release_that_says_nothing_teaches_nothing():
    needs_learning()
    release = gv.ClusterK(k=2).anonymize(PEOPLE)
    codes = release.data.codes.copy()
    codes[:, :2] = -1
    hidden = dataclasses.replace(release, data=dataclasses.replace(release.data, codes=codes))
    rows, _ = told(hidden, PEOPLE, test=TEST, label="income")
    assert {rows["commonest label"].value} == {
        rows[f"{name}, released"].value for name in CLASSIFIERS[1:]
    }
    assert rows["perceptron, released"].value < 0.9  # its weights of unseen features are random


def test_people_of_whom_nothing_but_the_label_is_known_teach_nobody():
    needs_learning()
    alone = gv.Table.from_columns({"income": ["low", "high"] * 4}, ids=[f"q{i}" for i in range(8)])
    _, missing = told(gv.ClusterK(k=2).anonymize(alone), alone, test=TEST, label="income")
    assert "no column other than" in missing["classification"]


def test_a_label_that_is_no_column_is_named():
    needs_learning()
    _, missing = told(gv.ClusterK(k=2).anonymize(PEOPLE), PEOPLE, test=TEST, label="incom")
    assert missing["classification"].startswith(
        "no column 'incom' in the original or in the release"
    )


def test_a_label_that_is_published_beside_the_release_goes_with_its_rows():
    needs_learning()
    without = table(120, label=False)
    release = gv.SmoothK(k=2).anonymize(without)
    how = {"test": TEST, "label": "income"}
    attached = Attached("income", incomes(PEOPLE))
    rows, missing = told(release, without, attached=attached, **how)
    assert ({}, 1.0) == (missing, rows["logistic regression, released"].value)
    wrong = Attached("income", np.roll(incomes(PEOPLE), 1))
    rows, _ = told(release, without, attached=wrong, **how)
    assert rows["logistic regression, released"].value < 0.9
    _, missing = told(release, without, **how)
    assert "attach it: --attached FILE" in missing["classification"]


def test_rows_without_a_label_are_not_learned_from_and_not_asked_about():
    needs_learning()
    values = ["*" if number % 3 == 0 else value for number, value in enumerate(incomes(TEST))]
    half = {name: [] for name in TEST.columns}
    for place, name in enumerate(TEST.columns[:2]):
        half[name] = TEST.categories[place][TEST.codes[:, place]].tolist()
    test = gv.Table.from_columns({**half, "income": values}, ids=TEST.labels().tolist())
    rows, _ = told(gv.ClusterK(k=2).anonymize(PEOPLE), PEOPLE, test=test, label="income")
    assert sum(value != "*" for value in values) == rows["commonest label"].sample_size


def test_the_label_is_no_feature_and_others_keep_their_names():
    needs_learning()
    release = gv.SmoothK(k=2).anonymize(PEOPLE)
    pair = comparison_of(release, PEOPLE, Randomness(seed=1), wanted_by="evaluate").one_hot()
    asked = held_back(TEST, pair.original, label="income")
    split = split_of(dataclasses.replace(pair, held_back=asked))
    trades = ("baker", "judge", "pilot", "smith")
    names = np.array([*(f"town={t}" for t in "012"), *(f"trade={t}" for t in trades)])
    assert {names.size} == {some.features.shape[1] for some in split}
    assert split.test.features.sum() == 2 * len(split.test.labels)
    expected = under(TEST.one_hot(), names)
    assert expected.toarray().tolist() == split.test.features.toarray().tolist()


def test_the_same_seed_tells_the_same_labels():
    needs_learning()
    release = gv.ClusterK(k=4).anonymize(PEOPLE)
    one, other = (told(release, PEOPLE, test=TEST, label="income")[0] for _ in range(2))
    assert {p: r.value for p, r in one.items()} == {p: r.value for p, r in other.items()}


def test_trees_are_left_out_of_more_cells_than_they_can_read(monkeypatch):
    needs_learning()
    monkeypatch.setattr(classification, "MOST_CELLS", 10)
    with pytest.warns(GraphveilWarning, match="gradient boosting is not run: 120 x 7 cells"):
        rows, _ = told(gv.ClusterK(k=2).anonymize(PEOPLE), PEOPLE, test=TEST, label="income")
    assert {"gradient boosting"} == set(CLASSIFIERS) - {part.partition(",")[0] for part in rows}


def test_what_a_classifier_learned_is_counted_by_hand():
    needs_learning()
    features = sparse.csr_array(np.eye(2)[[0, 1] * 20])
    known = Labelled(features, np.array(["low", "high"] * 20))
    test = Labelled(sparse.csr_array(np.eye(2)[[0, 0, 1]]), np.array(["low", "high", "high"]))
    assert [2, 2] == [hits(name, known, test, seed=1) for name in CLASSIFIERS[1:]]


def test_without_the_library_the_words_to_install_it_are_given(monkeypatch):
    monkeypatch.setattr(classification, "find_spec", lambda _: None)
    _, missing = told(gv.ClusterK(k=2).anonymize(PEOPLE), PEOPLE, test=TEST, label="income")
    assert "pip install 'graphveil[learning]'" in missing["classification"]


def test_tasks_run_where_they_are_named_and_need_people_and_a_label():
    release = gv.ClusterK(k=2).anonymize(PEOPLE)
    unasked = evaluate(release, original=PEOPLE, test=TEST, label="income")
    assert not {"classification", "recommendation"} & {row.question for row in unasked}
    assert "--test FILE" in told(release, PEOPLE)[1]["classification"]
    assert "--test FILE" in told(release, PEOPLE, "recommendation")[1]["recommendation"]
    assert "--label COLUMN" in told(release, PEOPLE, test=TEST)[1]["classification"]
    with pytest.raises(UsageError, match="Give them as test"):
        evaluate(release, original=PEOPLE, label="income")


def test_people_of_the_original_are_no_test_people():
    release = gv.ClusterK(k=2).anonymize(PEOPLE)
    mixed = gv.Table.from_columns(
        {"trade": ["smith", "judge"], "town": ["0", "1"], "income": ["low", "high"]},
        ids=["p7", "p999"],
    )
    with pytest.raises(UsageError, match=r"1 of 2 test people are in the original, such as 'p7'"):
        evaluate(release, original=PEOPLE, metrics=["classification"], test=mixed, label="income")
    nameless = gv.Table(TEST.codes, TEST.columns, TEST.categories)
    with pytest.warns(GraphveilWarning, match="could not be ruled out"):
        evaluate(release, original=PEOPLE, metrics=["classification"], test=nameless)
    graph = gv.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(UsageError, match="not a network"):
        evaluate(gv.KDegree(k=2).anonymize(graph), original=graph, test=graph)
    few = Attached("income", np.array(["low"]))
    with pytest.raises(UsageError, match="1 value, but the original has 120 people"):
        evaluate(release, original=PEOPLE, test=TEST, label="income", attached=few)


def tastes(n, start=0):
    """Return people of two tastes of 30 items each, who have eight of theirs."""
    rng = np.random.default_rng(start)
    rows = [[f"{'ab'[i % 2]}{item}" for item in rng.choice(30, 8, replace=False)] for i in range(n)]
    return gv.Bipartite.from_lists(rows, users=[f"p{start + i}" for i in range(n)])


def test_items_are_recommended_by_what_was_learned_from_the_release():
    people, test = tastes(300), tastes(80, 1_000)
    rows, missing = told(gv.Rename().anonymize(people), people, "recommendation", test=test)
    assert {} == missing
    same = rows["factors, released"]
    assert same.value == rows["factors, original"].value > same.low > rows["popularity"].value
    assert 80 == same.sample_size
    merged = gv.SmoothK(k=150).anonymize(people)
    rows, _ = told(merged, people, "recommendation", test=test)
    assert rows["factors, released"].value <= rows["factors, original"].value


def test_hits_of_recommendations_are_those_of_a_slow_count():
    people, test = tastes(60), tastes(20, 1_000)
    release = gv.SmoothK(k=3).anonymize(people, seed=1)
    rows, _ = told(release, people, "recommendation", test=test)
    rng = Randomness(seed=1).stream("recommendation")
    columns = sorted(set(people.feature_labels()) | set(release.data.feature_labels()))
    dense = {
        name: under(data, np.array(columns)).toarray().astype(float)
        for name, data in (("test", test), ("released", release.data), ("original", people))
    }
    asked = asked_of(under(test, np.array(columns)), np.zeros(20, dtype=np.int64), rng)
    order = rng.permutation(len(columns)).tolist()
    for name in ("released", "original"):
        _, sizes, vectors = np.linalg.svd(dense[name], full_matrices=False)
        vectors = vectors[: min(50, (sizes > sizes[0] * 1e-10).sum())]
        hits = 0
        for person, hidden in enumerate(asked.hidden.tolist()):
            known = set(asked.known[[person]].indices.tolist())
            assert known | {hidden} == set(np.flatnonzero(dense["test"][person]).tolist())
            score = np.round(vectors.T @ (vectors @ asked.known[[person]].toarray()[0]), 12)
            ranked = sorted(
                set(range(len(columns))) - known, key=lambda item: (-score[item], order.index(item))
            )
            hits += hidden in ranked[:10]
        assert hits / 20 == rows[f"factors, {name}"].value


def test_an_item_that_nobody_knew_is_never_recommended():
    people = tastes(40)
    test = gv.Bipartite.from_lists([["new", "newer"]] * 5, users=[f"n{i}" for i in range(5)])
    rows, _ = told(gv.Rename().anonymize(people), people, "recommendation", test=test)
    assert {0.0} == {row.value for row in rows.values()}
    assert {5} == {row.sample_size for row in rows.values()}


def test_what_cannot_be_recommended_says_why():
    people = tastes(40)
    alone = gv.Bipartite.from_lists([["a1"]], users=["n1"])
    _, missing = told(gv.Rename().anonymize(people), people, "recommendation", test=alone)
    assert "no test person has two items" in missing["recommendation"]


def test_factors_of_large_data_are_those_of_the_dense_decomposition():
    rng = np.random.default_rng(1)
    dense = (rng.random((260, 230)) < 0.1).astype(float)
    factors = factors_of(sparse.csr_array(dense), rng)
    _, _, vectors = np.linalg.svd(dense)
    expected = vectors[:50].T @ vectors[:50]
    assert (factors @ factors.T) == pytest.approx(expected, abs=1e-8)
    assert (230, 0) == factors_of(sparse.csr_array((260, 230)), rng).shape


def test_importing_evaluate_loads_no_learner():
    script = "import sys, graphveil.evaluate as e; e.METRICS; print('sklearn' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "False" == done.stdout.strip()
