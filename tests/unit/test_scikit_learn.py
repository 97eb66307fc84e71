"""Methods as steps of scikit-learn: cloned, changed, and a table in for a table out."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphveil as gv
from graphveil.core.errors import ParameterError, UsageError
from graphveil.methods import METHODS

PEOPLE = pd.DataFrame({"sex": [*"ffmm"] * 3, "zip": [*"xxyy"] * 3, "job": [*"abab"] * 3})


@pytest.mark.parametrize("name", METHODS)
def test_clone_makes_an_equal_method(name):
    base = pytest.importorskip("sklearn.base")
    method = METHODS[name].from_parameters(METHODS[name].card.example)
    step = gv.as_estimator(method)
    copy = base.clone(step)
    assert copy is not step
    assert copy.method == method
    assert copy.get_params() == step.get_params()


def test_clone_keeps_columns_and_rules():
    base = pytest.importorskip("sklearn.base")
    method = gv.Generalize(
        k=3, known="age,sex", attach=["ill"], levels={"age": "10"}, weight="age=2"
    )
    assert base.clone(gv.as_estimator(method)).method == method


def test_a_pipeline_clones_sets_and_runs_a_method():
    sklearn = pytest.importorskip("sklearn")
    pipeline = pytest.importorskip("sklearn.pipeline")
    encoder = pytest.importorskip("sklearn.preprocessing").OneHotEncoder()
    steps = sklearn.clone(pipeline.make_pipeline(gv.as_estimator(gv.SuppressK(k=2)), encoder))
    steps.set_params(estimator__k=4)
    assert steps[0].method.k == 4
    assert steps.fit_transform(PEOPLE).shape[0] == 12
    assert steps[0].method == gv.SuppressK(k=4)
    with pytest.raises(UsageError, match=r"protects nobody. Use fit_transform or anonymize"):
        steps.transform(PEOPLE)
    with pytest.raises(UsageError, match="in a new order"):
        steps.fit(PEOPLE, [0] * 12)


def test_parameters_stay_frozen_and_a_refused_change_changes_nothing():
    method = gv.SuppressK(k=2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        method.k = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        del method.k
    step = gv.as_estimator(method)
    with pytest.raises(ParameterError, match="k=0"):
        step.set_params(k=0)
    with pytest.raises(ParameterError, match="no parameter 'chunk'"):
        step.set_params(k=9, chunk=1)
    assert step.method == gv.SuppressK(k=2)


def test_a_method_keeps_its_place_in_a_dictionary_when_its_step_changes():
    method = gv.SuppressK(k=5)
    seen = {method: 1}
    step = gv.as_estimator(method).set_params(k=7)
    assert (5, 7) == (method.k, step.method.k)
    assert method in seen


def test_a_step_can_be_pickled():
    step = gv.as_estimator(gv.SuppressK(k=5))
    assert pickle.loads(pickle.dumps(step)).method == step.method  # noqa: S301  our own bytes


@pytest.mark.parametrize(
    "into", [lambda f: f, pl.from_pandas, pa.Table.from_pandas, gv.Table.from_arrow]
)
def test_a_table_comes_out_in_the_type_that_came_in(into):
    data = into(PEOPLE)
    done = gv.as_estimator(gv.SuppressK(k=2)).fit_transform(data, seed=1)
    assert type(done) is type(data)
    expected = gv.SuppressK(k=2).anonymize(PEOPLE, seed=1)
    assert gv.Table.from_arrow(done.to_arrow() if isinstance(done, gv.Table) else done) == (
        gv.Table.from_arrow(expected.to_arrow())
    )


def test_fit_transform_takes_tables_alone():
    pairs = pd.DataFrame({"user": [1, 2, 3, 4], "item": ["a", "a", "b", "b"]})
    with pytest.raises(UsageError, match=r"the data is a Bipartite. Use anonymize"):
        gv.as_estimator(gv.SuppressK(k=2)).fit_transform(pairs)


def test_the_package_does_not_import_scikit_learn():
    script = (
        "import sys, graphveil as g; g.as_estimator(g.SuppressK(k=2)).get_params(); "
        "print('sklearn' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
