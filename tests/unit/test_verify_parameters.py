"""A parameter that bears the name of a field of the claim has its value, whatever states it."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import get_args

import msgspec
import pytest

import graphveil as gv
from graphveil.claims.conditions import (
    AnyCondition,
    AttachedColumns,
    BlockFlips,
    Close,
    DifferentPeople,
    Diverse,
    EditBudget,
    ExactSize,
    Generalized,
    NoisyDegrees,
    NoisyStatistics,
    ProtectedPeople,
    RandomizedCells,
    SuppressionHistogram,
    TopMThresholds,
    TrueOfMoreThanHalf,
    TrueOfShare,
)
from graphveil.claims.guarantees import (
    AdaptiveAnonymity,
    AnyGuarantee,
    EdgeDP,
    KAnonymity,
    NodeDP,
    NotClaimed,
    SmoothKAnonymity,
    StructuralKAnonymity,
    SuperNodeAnonymity,
)
from graphveil.claims.manifest import read_manifest
from graphveil.verify.parameters import parameters_check

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLIPS = {"cells": "6", "epsilon_cells": "2", "noisy_count": "3"}
LISTS = {"noisy_degrees": "0 1 2", "noisy_mixing": "-3", "noisy_triangles": "0", "aims": "0"}
LISTS |= {"group_cuts": "0", "class_cuts": "0", "degrees": "0 1 1", "stubs": "1"}
DRAWN = {"nodes": 3, "noisy_count": "1", "floor": 1, "rate": "31/200", "unmended": 0, **LISTS}
DRAWN |= {"epsilon_count": "1/50", "epsilon_degrees": "11/20", "epsilon_mixing": "3/25"}
DRAWN |= {"epsilon_triangles": "31/100", "seed_of_drawing": "7"}
OF_DEGREES = {"nodes": 3, "noisy_count": "1", "noisy_degrees": "0 1 2", "group_cuts": "0"}
OF_DEGREES |= {"epsilon_count": "1/20", "epsilon_degrees": "19/20", "seed_of_drawing": "7"}
STATED = (
    EditBudget(edges=3),
    EditBudget(share=0.25),
    SuppressionHistogram(rows=((0, 3),)),
    TrueOfShare(theta="2/3"),
    TrueOfMoreThanHalf(columns=("age",)),
    RandomizedCells(**FLIPS, T0="5", T1="7"),
    TopMThresholds(**FLIPS, T0="5", T1="7"),
    BlockFlips(**FLIPS, sizes=(4,), weights=("9",)),
    ExactSize(size="12"),
    AttachedColumns(attach=("town",)),
    ProtectedPeople(k=5),
    Generalized(columns=("age",)),
    Diverse(column="town", least="3"),
    DifferentPeople(k=5, of="people"),
    Close(column="town", most="0.25"),
    NoisyDegrees(**OF_DEGREES, sizes=(3,), weights=("9",)),
    NoisyStatistics(**DRAWN),
)
PROMISED = (
    KAnonymity(k=5, person="row"),
    SmoothKAnonymity(k=5, theta="2/3"),
    StructuralKAnonymity(k=5, share=0.9),
    SuperNodeAnonymity(k=5),
    AdaptiveAnonymity(level=5, common=True),
    EdgeDP(epsilon=1.5),
    NodeDP(epsilon=1.5),
    NotClaimed(reasons=("trial",)),
)
CLAIMED = [
    pytest.param(value, name, id=f"{value.__struct_config__.tag}-{name}")
    for value in (*STATED, *PROMISED)
    for part in (value, *getattr(value, "implied", ()))
    for name in part.__struct_fields__
    if name.islower() and getattr(part, name) is not msgspec.UNSET
]
"""What is claimed, and a field of it, or of what it implies, that a parameter may be called."""


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    ring = gv.Graph.from_edges(range(6), [(v + 1) % 6 for v in range(6)], n=6)
    folder = gv.KDegree(k=2).anonymize(ring).write(tmp_path_factory.mktemp("ring") / "out")
    return read_manifest(folder)


def outcome(manifest, claimed, parameters):
    """Return what the check says of these parameters beside a guarantee, or a condition."""
    alone = NotClaimed(reasons=("trial",))
    stated = {"conditions": [], "guarantee": claimed}
    if claimed in STATED:
        stated = {"conditions": [claimed], "guarantee": alone}
    return parameters_check(
        msgspec.structs.replace(
            manifest,
            method=msgspec.structs.replace(manifest.method, parameters=parameters),
            claim=msgspec.structs.replace(manifest.claim, **stated),
        )
    )


def own(claimed, name):
    parts = (claimed, *getattr(claimed, "implied", ()))
    return next(getattr(part, name) for part in parts if hasattr(part, name))


def others(value):
    """Return values that nearly are this one."""
    if isinstance(value, bool):
        return [not value, int(value)]
    if isinstance(value, int | float):
        return [value + 1, value + 0.125, str(value), value == 1]
    return [f"{value}1", 7, 0.125, True] if isinstance(value, str) else [7, "7", 0.125]


@pytest.mark.parametrize(("claimed", "name"), CLAIMED)
def test_a_parameter_with_the_name_of_a_field_has_its_value(claimed, name, manifest):
    value = own(claimed, name)
    if not isinstance(value, tuple):
        assert "holds" == outcome(manifest, claimed, {name: value}).outcome
    for other in others(value):
        told = outcome(manifest, claimed, {name: other})
        assert "fails" == told.outcome
        assert f"the claim states {name}=" in told.detail
    assert "holds" == outcome(manifest, claimed, {f"other_{name}": 7}).outcome


def test_everything_that_can_be_claimed_with_a_number_is_among_these():
    every = (*get_args(AnyGuarantee), *get_args(AnyCondition))
    able = {kind for kind in every if kind.__struct_fields__}
    assert able == {type(value) for value in (*STATED, *PROMISED)}


@pytest.mark.parametrize("name", ["asymmetric-response", "randomized-response"])
@pytest.mark.parametrize("seed", [None, 1])
def test_an_honest_release_of_values_verifies_with_a_seed_as_without(name, seed):
    table = gv.Table.from_columns({"a": list("xyxyzz"), "b": list("uuvvuv")}, person="row")
    release = gv.METHODS[name](epsilon=2.0).anonymize(table.one_hot(), seed=seed)
    assert [] == release.verify(table.one_hot()).failures()
    flips = next(one for one in release.conditions if isinstance(one, RandomizedCells))
    other = msgspec.structs.replace(flips, epsilon_cells=str(Fraction(flips.epsilon_cells) * 4))
    conditions = tuple(other if one is flips else one for one in release.conditions)
    forged = dataclasses.replace(release, conditions=conditions)
    assert "method" in {check.name for check in forged.verify(table.one_hot()).failures()}
