"""Messages keep their options as hints, whoever shows them and wherever they went."""

import pickle

import numpy as np
import pytest

from graphveil import read_graph
from graphveil.core.errors import DataError, GraphveilError, InputError
from graphveil.core.hints import Message, option, several
from graphveil.core.questions import Problem, questions
from graphveil.core.warning_channel import as_argument_of
from graphveil.data.ids import as_ids

MATRIX = "%%MatrixMarket matrix coordinate pattern symmetric\n"


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


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.graph", "3 1\n2\n", "1 line of neighbors for 3 nodes."),
        ("a.graph", "3 1\n2\n1\n", "2 lines of neighbors for 3 nodes."),
        ("a.mtx", f"{MATRIX}3 3 2\n2 1\n", "1 entry, but line 2 declares 2."),
        ("a.mtx", f"{MATRIX}3 3 3\n2 1\n3 1\n", "2 entries, but line 2 declares 3."),
    ],
)
def test_one_thing_in_a_file_is_no_plural(name, text, said, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as refused:
        read_graph(tmp_path / name)
    assert said in str(refused.value)


@pytest.mark.parametrize(("n", "said"), [(1, "a: 1 id is missing."), (2, "a: 2 ids are missing.")])
def test_one_missing_id_is_no_plural(n, said):
    with pytest.raises(DataError) as refused:
        as_ids(np.array([1, *[None] * n], dtype=object), what="a")
    assert said in str(refused.value)


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
