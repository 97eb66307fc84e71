"""Pages of help: commands in the order of the work, methods by the data they take, few options."""

from __future__ import annotations

import re
from inspect import signature

import pytest

from graphveil.cli.app import GROUPS, call
from graphveil.cli.commands.sweep import subcommand
from graphveil.core.parameters import flat_parameters
from graphveil.data import Graph, Network
from graphveil.methods.registry import METHODS


@pytest.fixture
def page(capsys, monkeypatch):
    """Return what a page of help says, as one line per panel."""
    monkeypatch.setenv("COLUMNS", "100")

    def shown(*words):
        call([*words])
        return capsys.readouterr().out

    return shown


def panels(text):
    """Return what each panel of a page holds, by its title."""
    parts = re.split(r"╭─ (.*?) ─+╮", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_commands_are_grouped_in_the_order_of_the_work(page):
    found = panels(page("--help"))
    assert [*GROUPS, "General"] == list(found)
    for title, commands in GROUPS.items():
        listed = re.findall(r"^│ ([a-z]+) ", found[title], flags=re.MULTILINE)
        assert [*commands] == listed


def test_methods_are_listed_by_the_data_they_take_with_when_to_use_each(page):
    found = panels(page("anonymize", "--help"))
    networks = found["For networks, if"]
    every = " ".join(" ".join(found.values()).replace("│", " ").split())
    for name in METHODS:
        method = METHODS[name]
        alone = {*method.accepts} <= {Graph, Network}
        assert alone == (re.search(rf"^│ {name} ", networks, flags=re.MULTILINE) is not None)
        assert method.card.when.endswith(".")
        assert method.card.when in every


@pytest.mark.parametrize("name", METHODS)
def test_no_parameter_of_a_method_hides_an_option_of_a_sweep(name):
    taken = signature(subcommand(name)).parameters
    own = {item.name for item in flat_parameters(METHODS[name])}
    assert {"until", "seed", "out", *own} <= {*taken}
    assert "A bound such as" in taken["until"].annotation.__metadata__[0].help


@pytest.mark.parametrize("words", [("anonymize", "smooth-k"), ("sweep", "structural")])
def test_rare_options_for_reading_are_shown_if_asked_for(page, words):
    few, every = (
        panels(page(*words, f))["Reading the input"] for f in ("--help", "--help-reading")
    )
    assert "--help-reading" in few
    assert "--kind " in few
    assert "--delimiter" not in few
    assert "--delimiter" in every
    assert {*re.findall(r"--[a-z-]+", few)} <= {*re.findall(r"--[a-z-]+", every)}
    again = panels(page(*words, "--help"))["Reading the input"]
    assert few == again
