"""The checker's own tables of parameters, beside the methods that they describe."""

from __future__ import annotations

import math
from typing import Literal, get_args, get_origin

import pytest

from graphveil.flat import flat_parameters
from graphveil.methods import METHODS
from graphveil.parameters import is_spelled, options_of
from graphveil.verify.by_method import METHOD_CHECKS
from graphveil.verify.parameters import parameter_problems

pytestmark = pytest.mark.parametrize("name", METHODS)


def fields_of(name):
    """Return the name of every field of a method with its types and its range."""
    items = flat_parameters(METHODS[name])
    return {item.name: (options_of(item.kind), item.metadata) for item in items}


def kind_of(options):
    return next(option for option in options if option is not type(None))


def choices_of(options):
    kind = kind_of(options)
    return get_args(kind) if get_origin(kind) is Literal else ()


def test_the_table_has_the_fields_of_the_method_with_their_choices_and_ranges(name):
    known, fields = METHOD_CHECKS[name].parameters, fields_of(name)
    assert set(fields) == set(known)
    for key, (options, metadata) in fields.items():
        kind, choices, parameter = kind_of(options), choices_of(options), known[key]
        assert (type(None) in options) == parameter.optional, key
        assert choices == parameter.choices, key
        assert is_spelled(kind) == (parameter.spelling is not None), key
        if choices or is_spelled(kind):
            assert str is parameter.kind, key
        else:
            found = (parameter.kind, parameter.low, parameter.high)
            assert (kind, metadata["minimum"], metadata["maximum"]) == found, key


def test_every_name_and_choice_of_a_method_is_a_fixed_word(name):
    words = METHOD_CHECKS[name].words
    for key, (options, _) in fields_of(name).items():
        assert key in words
        assert [] == [text for text in choices_of(options) if text not in words]
    assert all(text in words for text in (name, METHODS[name].source, "parameters"))


def test_the_parameters_that_a_method_writes_have_no_problem(name):
    method = METHODS[name]
    known = METHOD_CHECKS[name].parameters
    assert [] == parameter_problems(name, known, method(**method.example).parameters())


def wrong_values(parameter):
    """Yield values that the parameter may not have."""
    yield from ("garbage", ["garbage"], {}, "", math.nan if parameter.kind is int else "1")
    if not parameter.optional:
        yield None
    if parameter.low is not None:
        yield parameter.kind(parameter.low) - 1
        yield parameter.kind(parameter.low) == 0
    if parameter.high is not None:
        yield parameter.kind(parameter.high) + 1
    if parameter.kind is int:
        yield float(parameter.low) + 1
    if parameter.kind is float:
        yield int(parameter.low) + 1


def test_a_value_of_another_type_or_out_of_range_is_named_with_its_key(name):
    known = METHOD_CHECKS[name].parameters
    whole = METHODS[name](**METHODS[name].example).parameters()
    for key, parameter in known.items():
        for value in wrong_values(parameter):
            if parameter.spelling is not None and parameter.fits(value):
                continue
            (problem,) = parameter_problems(name, known, whole | {key: value})
            assert problem.startswith(f"{key}={value!a} is n"), problem


def test_a_missing_and_an_unknown_key_are_named(name):
    known = METHOD_CHECKS[name].parameters
    whole = METHODS[name](**METHODS[name].example).parameters()
    for key in known:
        less = {other: value for other, value in whole.items() if other != key}
        assert [f"the parameter {key} is missing"] == parameter_problems(name, known, less)
    more = parameter_problems(name, known, whole | {"nonsense": "HIV list of 2019"})
    told = f"'nonsense' with the value 'HIV list of 2019' is no parameter of {name}"
    assert [told] == more
