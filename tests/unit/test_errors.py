"""Messages keep their options as hints, whoever shows them and wherever they went."""

import pickle

import pytest

from graphveil.core.errors import (
    DataError,
    GraphveilError,
    Message,
    Problem,
    as_argument_of,
    option,
    questions,
    several,
)


def test_an_error_from_another_process_has_its_hints_and_its_call():
    with pytest.raises(DataError) as caught, as_argument_of("graphveil.Graph.from_scipy(data, "):
        raise DataError(f"Say {option('directed', 'symmetrize')}.")
    error = pickle.loads(pickle.dumps(caught.value))  # noqa: S301  our own bytes
    assert 'Say graphveil.Graph.from_scipy(data, directed="symmetrize").' == str(error)
    assert "Say --directed symmetrize." == error.message.flags
    assert [("directed", "symmetrize")] == list(error.hints)


@pytest.mark.parametrize(
    "stray", ["\ufdd0[\ufdd1", "\ufdd0[[1, 2]]\ufdd1", "\ufdd0\ufdd1", "\ufdd0"]
)
def test_marks_in_data_stay_as_they_are(stray):
    message = GraphveilError(f"{stray}: say {several('suppressed', '*', '?')}").message
    assert f'{stray}: say suppressed=("*", "?")' == message
    assert f"{stray}: say --suppressed '*' --suppressed '?'" == message.flags


def test_a_message_pickles_with_its_hints():
    message = pickle.loads(pickle.dumps(Message(f"use {option('header', 'no')}")))  # noqa: S301  our own bytes
    assert ('use header="no"', "use --header no") == (str(message), message.flags)


def test_a_sentence_of_a_refusal_leaves_the_names_of_columns_as_they_are():
    asked = [
        Problem("", "header", "no", "the first line is odd", "say so"),
        Problem("name", "drop", "name", "name has 400 values", "drop it"),
        Problem("age", "bins", "median", "column age has fractions", "bin it"),
    ]
    assert questions(asked) == (
        "the first line is odd: say so. name has 400 values: drop it. "
        "Column age has fractions: bin it."
    )
    assert questions([asked[0], asked[2], asked[1]]).endswith("name has 400 values: drop it.")
