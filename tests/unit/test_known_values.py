"""Diversity counts known values: missing cells and words for missing never help."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest

import graphveil as gv
from graphveil.claims.conditions import Diverse
from graphveil.core.errors import InfeasibleError, ParameterError

MISSING = (
    None,
    "N.A.",
    "n.a.",
    " Unknown\u200b",
    "UNKNOWN\u00a0",
    "keine Angabe",
    "?",
    "wei\u00df nicht",
)
KNOWN = ("a", "b", "c", "none")


def table(seed, rows=60):
    rng = np.random.default_rng(seed)
    ages = [str(20 + age) for age in rng.integers(9, size=rows).tolist()]
    ills = [
        known[rng.integers(len(known))]
        for known in (KNOWN if few else MISSING for few in rng.random(rows) < 0.4)
    ]
    return gv.Table.from_columns({"age": ages, "ill": ills}, exact=True, person="row")


def released(seed, rule):
    method = gv.Generalize(
        k=2, known="age", attach="ill", levels={"age": "3"}, diverse={"ill": rule}
    )
    return method.anonymize(table(seed))


def known_values_by_class(release):
    """Return how often each class has each known value, counted cell by cell."""
    frame = release.to_pandas()
    classes = defaultdict(Counter)
    for age, ill in zip(frame["age"], frame["ill"], strict=True):
        classes[age].update([ill] if ill in KNOWN else [])
    return list(classes.values())


@pytest.mark.parametrize("seed", range(8))
def test_each_class_has_as_many_known_values_as_asked_for(seed):
    counts = known_values_by_class(released(seed, "3"))
    assert len(counts) > 1
    assert 3 <= min(map(len, counts))


@pytest.mark.parametrize("seed", range(8))
def test_each_class_has_the_entropy_among_known_values(seed):
    counts = known_values_by_class(released(seed, "entropy:2.5"))
    assert len(counts) > 1
    for values in counts:
        shares = [n / values.total() for n in values.values()]
        assert math.log(2.5) - 1e-9 <= -sum(p * math.log(p) for p in shares)


def test_words_alone_are_too_few_values_and_the_error_says_why():
    columns = {"age": list("34" * 9), "ill": ["a", "b", "?", None, "n.a.", "NSP"] * 3}
    data = gv.Table.from_columns(columns, exact=True, person="row")
    method = gv.Generalize(k=2, known="age", attach="ill", diverse={"ill": "3"})
    with pytest.raises(InfeasibleError, match="2 values, missing cells and words for missing"):
        method.anonymize(data)


def test_the_words_of_a_claim_have_one_spelling():
    assert "unknown" in Diverse(column="ill", least="2").missing
    for words in (("b", "a"), ("a", "a"), ("A",), (" a",), ("a\u200b",)):
        with pytest.raises(ParameterError, match="not a list of words"):
            Diverse(column="ill", least="2", missing=words)
