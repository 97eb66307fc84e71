"""Options as types, and their flat form: on toy classes, so that every rule is seen alone."""

from __future__ import annotations

import pickle
from dataclasses import MISSING, dataclass
from typing import ClassVar, Literal, get_args

import pytest

from graphveil.core.errors import ParameterError
from graphveil.core.parameters import (
    Options,
    arguments_of,
    check_fields,
    flat_parameters,
    flat_values,
    parameter,
)


@dataclass(frozen=True, kw_only=True)
class Polish(Options):
    label: ClassVar[str] = "polishing"

    strokes: int = parameter(default=3, text="strokes", minimum=1, maximum=9)
    oil: float | None = parameter(default=None, text="litres of oil", unset="dry")


@dataclass(frozen=True, kw_only=True)
class Saw(Options):
    label: ClassVar[str] = "saw"

    teeth: int = parameter(default=5, text="teeth", minimum=2)
    polish: Polish | None = parameter(default=Polish(), text="polish afterwards")


@dataclass(frozen=True, kw_only=True)
class Axe(Options):
    label: ClassVar[str] = "axe"

    edge: Literal["one", "two"] = parameter(default="one", text="edges")
    polish: Polish | None = parameter(default=None, text="polish afterwards")


@dataclass(frozen=True, kw_only=True)
class Crate(Options):
    label: ClassVar[str] = "crates"

    width: int = parameter(text="width", minimum=4, unset="no crates", flat="crate_width")
    lid: bool = parameter(default=False, text="a lid")


@dataclass(frozen=True, kw_only=True)
class Carpenter:
    """Takes boards; a method as far as its parameters go."""

    boards: int = parameter(text="boards", minimum=1)
    tool: Saw | Axe = parameter(default=Saw(), text="what cuts")

    def __post_init__(self):
        check_fields(self)


@dataclass(frozen=True, kw_only=True)
class Joiner:
    """One choice that must be made."""

    tool: Saw | Axe = parameter(text="what cuts")
    crate: Crate | None = parameter(default=None, text="where boards go")


FLAT = ["tool", "teeth", "edge", "polish", "strokes", "oil", "crate_width", "lid"]


def test_what_one_choice_has_comes_before_what_all_have():
    assert FLAT == [item.name for item in flat_parameters(Joiner)]


def test_a_choice_is_one_of_the_labels_and_required_where_it_has_no_default():
    choice = flat_parameters(Joiner)[0]
    assert (("saw", "axe"), MISSING) == (get_args(choice.kind), choice.default)
    assert "saw" == flat_parameters(Carpenter)[1].default


def test_help_names_the_options_and_shows_their_defaults():
    items = {item.name: item for item in flat_parameters(Joiner)}
    shown = {name: (items[name].metadata["help"], items[name].metadata["unset"]) for name in items}
    assert ("saw: teeth", "5") == shown["teeth"]
    assert ("polish afterwards", "yes with saw, no with axe") == shown["polish"]
    assert ("polishing: litres of oil", "dry") == shown["oil"]
    assert ("crates: width", "no crates") == shown["crate_width"]
    assert {None} == {items[name].default for name in FLAT[1:]}
    assert (("Saw",), ("Saw", "Axe"), ("Polish",)) == tuple(
        items[name].classes for name in ("teeth", "polish", "strokes")
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"tool": Saw()}),
        ({"teeth": 7, "oil": 1}, {"tool": Saw(teeth=7, polish=Polish(oil=1.0))}),
        ({"polish": False}, {"tool": Saw(polish=None)}),
        ({"tool": "axe"}, {"tool": Axe(polish=None)}),
        ({"tool": "axe", "polish": True, "strokes": 2}, {"tool": Axe(polish=Polish(strokes=2))}),
        ({"crate_width": 8, "lid": True}, {"crate": Crate(width=8, lid=True)}),
        ({"crate_width": None, "edge": None}, {}),
        ({"tool": Axe(edge="two")}, {"tool": Axe(edge="two")}),
        ({"crate": Crate(width=8), "teeth": 7}, {"tool": Saw(teeth=7), "crate": Crate(width=8)}),
        ({"polish": Polish(oil=2.0)}, {"tool": Saw(polish=Polish(oil=2.0))}),
    ],
)
def test_parameters_flat_values_and_objects_give_the_options_that_they_name(given, expected):
    assert Joiner(**{"tool": Saw(), **expected}) == Joiner(
        **arguments_of(Joiner, {"tool": "saw", **given})
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"edge": "two"}, "edge=two belongs to tool=axe, not to saw. Remove it."),
        ({"polish": False, "oil": 1}, "oil=1.0 belongs to polishing, which is off. Remove it."),
        ({"tool": "axe", "strokes": 2}, "strokes=2 belongs to polishing, which is off."),
        ({"lid": True}, "lid=True belongs to crates, which requires crate_width. Remove it."),
        (
            {"tool": Axe(), "edge": "two"},
            "edge=two cannot be combined with tool, which already sets all of its options",
        ),
        ({"strokes": 10}, "strokes=10 is out of range. Choose a value between 1 and 9."),
        ({"tool": "axe", "teeth": 1}, "teeth=1 is out of range"),
        ({"crate_width": 2}, "crate_width=2 is out of range"),
        ({"tool": "hand"}, "tool='hand' is not valid. Choose one of saw, axe."),
        ({"crate": 8}, "crate=8 is not a valid set of options. Give Crate()."),
        (
            {"tool": Crate(width=4)},
            "lid=False) is not a valid set of options. Give Saw() or Axe().",
        ),
        ({"polish": Saw()}, "is not a valid set of options. Give Polish()."),
        ({"teeth": Polish()}, "has the wrong type; expected int"),
    ],
)
def test_values_that_mean_nothing_together_are_refused(given, words):
    with pytest.raises(ParameterError) as refused:
        arguments_of(Joiner, {"tool": "saw", **given})
    assert words in str(refused.value)


@pytest.mark.parametrize("tool", [Saw(), Saw(polish=None, teeth=9), Axe(polish=Polish(oil=0.5))])
@pytest.mark.parametrize("crate", [None, Crate(width=4, lid=True)])
def test_the_flat_form_gives_the_options_back(tool, crate):
    joiner = Joiner(tool=tool, crate=crate)
    values = flat_values(joiner)
    assert FLAT == list(values)
    assert {int, float, str, bool, type(None)} >= {type(value) for value in values.values()}
    assert joiner == Joiner(**arguments_of(Joiner, values))
    given = {name: value for name, value in values.items() if value is not None}
    assert joiner == Joiner(**arguments_of(Joiner, given))
    assert joiner == pickle.loads(pickle.dumps(joiner))  # noqa: S301  our own bytes


def test_two_fields_that_flatten_to_one_name_are_a_mistake_of_the_class():
    @dataclass(frozen=True, kw_only=True)
    class Twice:
        tool: Saw | Axe = parameter(default=Saw(), text="what cuts")
        strokes: int = parameter(default=1, text="strokes")

    with pytest.raises(TypeError, match="Twice has two parameters with the flat name strokes"):
        flat_parameters(Twice)


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("hand", r"Give Saw\(\) or Axe\(\)"),
        ("axe", "is not a valid set of options"),
        (None, "tool=None"),
        (Crate(width=4), "tool=Crate"),
    ],
)
def test_an_object_of_another_class_is_refused(tool, words):
    with pytest.raises(ParameterError, match=words):
        Carpenter(boards=1, tool=tool)


def test_a_default_other_than_the_class_has_is_a_mistake_of_the_class():
    @dataclass(frozen=True, kw_only=True)
    class Odd:
        tool: Saw | Axe = parameter(default=Saw(teeth=9), text="what cuts")

    with pytest.raises(TypeError, match="the default of tool"):
        flat_parameters(Odd)
