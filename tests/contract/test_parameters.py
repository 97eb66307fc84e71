"""One definition, four uses: Python arguments, flags, configuration keys, manifest."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import tomllib
from typing import Literal, get_args, get_origin

import numpy as np
import pytest

import graphveil as gv
from graphveil.claims.record import read_record
from graphveil.cli.app import call
from graphveil.core.errors import ParameterError, UsageError
from graphveil.core.parameters import Columns, PerColumn, flat_parameters, options_of
from graphveil.core.stated_parameters import private_parameters
from graphveil.methods import METHODS
from graphveil.methods.attributes import OF_ATTRIBUTES


def as_toml(parameters):
    """Return parameters as TOML text: numbers, texts and truth values are written as in JSON."""
    given = {name: value for name, value in parameters.items() if value is not None}
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in given.items())


def test_parameters_survive_pickle_copy_json_and_toml(case):
    anonymizer = case.anonymizer
    parameters = anonymizer.parameters()
    assert anonymizer == pickle.loads(pickle.dumps(anonymizer))  # noqa: S301  our own bytes
    assert anonymizer == copy.deepcopy(anonymizer)
    from_json = json.loads(json.dumps(parameters))
    assert anonymizer == case.method.from_parameters(from_json)
    from_toml = tomllib.loads(as_toml(parameters))
    assert anonymizer == case.method.from_parameters(from_toml)


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_the_manifest_holds_every_parameter_and_gives_the_method_back(few, sample, tmp_path):
    release = few.anonymizer.anonymize(sample(few))
    folder = release.write(tmp_path / "out")
    written = json.loads((folder / "release.json").read_text())["method"]
    withheld = read_record(folder).withheld
    everything = {**written["parameters"], **withheld}
    unused = {  # of attributes nothing is said where there are none, nor of phi and people
        item.name
        for item in flat_parameters(few.method)
        if (
            item.name in {*OF_ATTRIBUTES, "label"}
            and few.kind is not gv.Network
            and few.method is not gv.Generalize
        )
        or (
            item.name in {"phi", "keep", "people", "publish_levels", "may_narrow"}
            and not getattr(few.anonymizer, item.name)
        )
    }
    assert {item.name for item in flat_parameters(few.method)} == set(everything) | unused
    assert not unused & set(everything)
    assert private_parameters(few.method) == set(withheld)
    assert few.anonymizer == METHODS[written["name"]].from_parameters(everything)


def test_the_method_is_frozen_and_takes_keywords_only(method):
    anonymizer = method.from_parameters(method.card.example)
    first = dataclasses.fields(method)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(anonymizer, first, getattr(anonymizer, first))
    with pytest.raises(TypeError):
        method(*anonymizer.parameters().values())


def test_an_unknown_parameter_is_refused_with_the_known_ones(method):
    with pytest.raises(ParameterError, match="'shoe_size'") as caught:
        method.from_parameters({**method.card.example, "shoe_size": 43})
    assert all(item.name in str(caught.value) for item in flat_parameters(method))


def test_a_missing_parameter_is_refused_by_name(method):
    required = [
        item.name for item in flat_parameters(method) if item.default is dataclasses.MISSING
    ]
    for name in required:
        rest = {key: value for key, value in method.card.example.items() if key != name}
        with pytest.raises(ParameterError, match=rf"requires {name}\b"):
            method.from_parameters(rest)


OF_COLUMNS = (Columns | None, PerColumn | None)
"""Parameters that name columns: what a table has decides which values are wrong."""


def wrong_values(item):
    """Yield values that the parameter must refuse."""
    low, high, hint = item.metadata["minimum"], item.metadata["maximum"], item.kind
    if low is not None:
        yield low - 1
    if high is not None:
        yield high + 1
    if get_origin(hint) is Literal:
        yield "neither"
        yield 3
    elif hint == gv.Key | None:
        yield from (3, "")
    elif hint is bool:
        yield from (1, "yes", None)
    elif hint is int:
        yield from (True, "5", 2.5, float("nan"), None)
    elif hint is float:
        yield from (True, "0.5", float("nan"), None)


def test_a_value_out_of_range_or_of_another_type_is_refused_in_one_line(method):
    tried = 0
    for item in flat_parameters(method):
        for value in wrong_values(item):
            tried += 1
            with pytest.raises(ParameterError, match=f"{item.name}=") as caught:
                method.from_parameters({**method.card.example, item.name: value})
            assert "\n" not in str(caught.value)
            secret = item.kind == gv.Key | None
            shown = (
                [f"<{type(value).__name__}>", "<empty>"] if secret else [repr(value), str(value)]
            )
            assert any(text in str(caught.value) for text in shown), str(caught.value)
    of_columns = [item for item in flat_parameters(method) if item.kind in OF_COLUMNS]
    assert tried >= len(dataclasses.fields(method)) - len(of_columns)


def test_numpy_numbers_are_parameters_like_others(method):
    kinds = {int: np.int64, float: np.float64, bool: np.bool_}
    values = method.from_parameters(method.card.example).parameters()
    for item in flat_parameters(method):
        kind = next((kinds[kind] for kind in options_of(item.kind) if kind in kinds), None)
        value = values[item.name]
        if kind is not None and value is not None:
            made = method.from_parameters({**method.card.example, item.name: kind(value)})
            assert type(value) is type(made.parameters()[item.name])


def test_every_method_says_what_it_is(method):
    assert METHODS[method.name] is method
    assert all([method.card.promise, method.card.source, method.card.cost])
    assert set(method.card.example) <= {item.name for item in flat_parameters(method)}
    assert method.card.promise.endswith(".")
    assert (method.__doc__ or "").splitlines()[0] == method.card.promise
    assert ">>>" in (method.__doc__ or "")
    if method.__module__.startswith("graphveil."):
        assert getattr(gv, method.__name__) is method


def test_help_shows_every_field_with_its_default_and_range(method, capsys):
    call(["anonymize", method.name, "--help"])
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for item in flat_parameters(method):
        flag = f"--{item.name.replace('_', '-')}"
        assert flag in shown
        assert item.metadata["help"] in shown
        if item.default is dataclasses.MISSING:
            assert f"{flag} " in shown.split("INPUT")[0], f"{flag} is required: in the usage line"
        else:
            part = shown[shown.index(item.metadata["help"]) :]
            unset = item.default is None and item.metadata["unset"]
            assert f"[default: {unset or item.default}]" in part
        low, high = item.metadata["minimum"], item.metadata["maximum"]
        if low is not None and high is not None:
            assert f"({low} to {high})" in shown
        elif low is not None:
            assert f"(at least {low})" in shown
        for choice in get_args(item.kind) if get_origin(item.kind) is Literal else ():
            assert str(choice) in shown
    assert method.card.promise in shown
    assert method.card.source in shown
    assert method.card.limits in shown
    assert f"Example: graphveil anonymize {method.name} " in shown


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_a_seed_is_a_whole_number_of_any_kind(method, sample, tmp_path):
    anonymizer = sample.quick(method)
    data = sample(method)
    folders = [
        anonymizer.anonymize(data, seed=seed).write(tmp_path / str(place))
        for place, seed in enumerate((7, np.int64(7)))
    ]
    files = [[path.read_bytes() for path in sorted(folder.iterdir())] for folder in folders]
    assert files[0] == files[1]
    for wrong in (-1, 1.5, "seven"):
        with pytest.raises(UsageError, match="seed="):
            anonymizer.anonymize(data, seed=wrong)


def test_a_promise_that_any_data_keeps_is_refused(method, sample):
    for name in {"k", "levels"} & set(method.card.example):
        with pytest.raises(ParameterError, match=f"{name}=1 is out of range|protects nobody"):
            method.from_parameters({**method.card.example, name: 1}).anonymize(sample(method))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "{} has no rule. Give one COLUMN=RULE per column, or leave the option out."),
        ([], "[] has no rule. Give one COLUMN=RULE per column, or leave the option out."),
        (["age=3", "age=4"], "the column 'age' has two rules. Give one rule per column."),
    ],
)
def test_rules_that_are_none_are_not_called_two(given, said):
    with pytest.raises(ParameterError) as refused:
        PerColumn.parse(given)
    assert said in str(refused.value)
