"""Sphinx: the pages, and the tables that are made from the code so that there is one of each."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import Any, get_args, get_origin

sys.path.append(str(Path(__file__).parent))
from first_picture import picture

import graphveil as gv
from gallery import gallery
from graphveil.claims.conditions import AnyCondition
from graphveil.cli.app import COMMANDS
from graphveil.core.parameters import FlatParameter, flat_parameters, is_spelled, options_of
from graphveil.data.columns import EDGE_NAMES, PAIR_NAMES
from graphveil.io import FORMATS
from graphveil.methods.base import Anonymizer
from graphveil.pages.html import WORDS
from graphveil.verbs.reproduce.names import marked_names

project = "graphveil"
author = "The graphveil developers"
copyright = "the graphveil developers"
release = version = gv.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"graphveil {release}"
myst_enable_extensions = ["substitution", "colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    escaped = ([str(cell).replace("|", "\\|") for cell in row] for row in lines)
    return "\n".join(f"| {' | '.join(row)} |" for row in escaped)


def parameters(method: type[Any]) -> str:
    """Return the parameters of a method as its class defines them."""
    items = flat_parameters(method)
    rows = [
        (
            f"`{item.name}`",
            kind_of(item.kind),
            default_of(item),
            range_of(item.metadata),
            item.metadata["help"],
            " or ".join(f"`{name}(...)`" for name in item.classes),
        )
        for item in items
    ]
    columns = ["parameter", "type", "default", "range", "meaning", "in Python, of"]
    if any(item.classes for item in items):
        return table(columns, rows)
    return table(columns[:-1], [row[:-1] for row in rows])


def default_of(item: FlatParameter) -> str:
    """Return the default of a parameter, or what stands in for one."""
    if item.default is MISSING:
        return "required"
    unset = item.metadata["unset"]
    if item.default is None and unset:
        return unset
    spelled = str(item.default) if is_spelled(type(item.default)) else repr(item.default)
    return f"`{spelled}`"


def kind_of(hint: Any) -> str:
    """Return a type in words; None, which says that nothing is given, is no type to the reader."""
    kind = next(kind for kind in options_of(hint) if kind is not type(None))
    if get_origin(kind) is None:
        return f"`{kind.__name__}`"
    return " or ".join(f"`{option!r}`" for option in get_args(kind))


def range_of(metadata: Mapping[str, Any]) -> str:
    """Return the range of a parameter in words."""
    low, high = metadata["minimum"], metadata["maximum"]
    parts = [f"at least {low}" if low is not None else "", f"at most {high}" if high else ""]
    return " and ".join(filter(None, parts)) or "any"


def help_page(*words: str) -> str:
    """Return what the command line prints as help, as a literal block."""
    command = [sys.executable, "-m", "graphveil", *words, "--help"]
    environment = os.environ | {"COLUMNS": "90", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603  our own command
    lines = "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())
    return f"```text\n{lines}\n```"


def formats() -> str:
    """Return the formats that are read and written."""
    rows = [
        (
            f"`{entry.name}`",
            " ".join(f"`{extension}`" for extension in entry.extensions),
            ", ".join(kind for kind in entry.kinds if kind != "ids"),
            "yes" if entry.keeps_isolated else "through a list beside it",
            "yes" if entry.text_ids else "integers only",
            "yes" if entry.compressible else "no",
        )
        for entry in FORMATS.values()
    ]
    columns = ["name", "extensions", "holds", "keeps isolated nodes", "text ids", ".gz, .zst"]
    return table(columns, rows)


def shipped() -> str:
    """Return the data that ships with the package."""
    rows = [
        (f"`{s.name}`", s.kind, f"{s.n:,}", f"{s.m:,}", s.license, f"{s.source}. <{s.url}>", s.note)
        for s in gv.datasets.DATASETS.values()
    ]
    return table(["name", "kind", "n", "m", "license", "source", "how it was derived"], rows)


def larger() -> str:
    """Return the larger sets that can be fetched."""
    rows = [
        (f"`{s.name}`", s.kind, f"{s.bytes:,}", s.license, s.source, f"`{s.sha256}`")
        for s in gv.datasets.LARGER.values()
    ]
    return table(["name", "kind", "bytes", "license", "source", "SHA-256"], rows)


WAYS = {
    "ships": "`gv.datasets.load({0!r})`",
    "drawn": "`gv.datasets.{0}`",
    "file": "`gv.datasets.found_in({0!r}, FOLDER)`, <{1}>",
    "elsewhere": "<{0}>",
    "not here": "not here: {0}",
}


def paper_data() -> str:
    """Return the data of the papers under the papers' names, and how to get it."""
    files = gv.datasets.PAPERS
    rows = []
    for one in gv.datasets.BY_PAPER:
        address = files[one.ours].url if one.way == "file" else ""
        rows.append((one.paper, one.theirs, WAYS[one.way].format(one.ours, address)))
    return table(["paper", "name in the paper", "here"], rows)


def metrics() -> str:
    """Return the metrics of evaluate."""
    rows = [
        (
            f"`{m.name}`",
            f"{m.kind.__name__}, Table" if m.reads_tables else m.kind.__name__,
            m.definition,
            m.direction,
            "yes" if m.needs_linkage else "no",
            f"{m.cost}; by name" if m.by_name else m.cost,
            m.as_sample if isinstance(m.as_sample, str) else ", ".join(m.as_sample) or "none",
            m.card.source,
        )
        for m in gv.METRICS.values()
    ]
    columns = ["metric", "data", "definition", "direction", "needs the linkage", "cost"]
    return table([*columns, "share kept at random", "source"], rows)


def _named(kinds: tuple[type, ...]) -> str:
    return ", ".join(kind.__name__ for kind in kinds)


def attacks() -> str:
    """Return the attacks."""
    rows = [
        (f"`{a.name}`", _named(a.kinds), a.knows, a.definition, a.cost, a.source)
        for a in gv.ATTACKS.values()
    ]
    return table(["attack", "data", "the attacker knows", "definition", "cost", "source"], rows)


def measures() -> str:
    """Return the structural measures."""
    rows = [
        (f"`{m.name}`", m.knows, m.definition, m.largest_distance or "any", m.card.source)
        for m in gv.MEASURES.values()
    ]
    columns = ["measure", "the attacker knows", "value", "distance", "source"]
    return table(columns, rows)


def conditions() -> str:
    """Return the conditions that a manifest may state, as their classes describe them."""
    rows = []
    for kind in get_args(AnyCondition):
        fields = ", ".join(f"`{name}`" for name in kind.__struct_fields__)
        said = " ".join(kind.__doc__.partition(">>>")[0].replace("``", "`").split())
        rows.append((f"`{kind.__struct_config__.tag}`", fields, said))
    return table(["type", "fields", "says"], rows)


def kinds(method: type[Anonymizer[Any]]) -> str:
    """Return the kinds of data that a method takes."""
    return " or ".join(kind.__name__ for kind in method.accepts)


def methods() -> str:
    """Return the methods that exist."""
    rows = [
        (f"[`{name}`](/methods/{name}.md)", kinds(m), m.card.promise, m.card.source, m.card.cost)
        for name, m in gv.METHODS.items()
    ]
    return table(["method", "data", "guarantee", "source", "cost"], rows)


def python_methods() -> str:
    """Return the reference of every method's class: what all methods have, and what it adds."""
    entries = []
    for method in gv.METHODS.values():
        own = [name for name, value in vars(method).items() if callable(value) and value.__doc__]
        every = ["anonymize", "parameters", "from_parameters"]
        members = [*every, *(name for name in own if name[0] != "_" and name not in every)]
        entries.append(f".. autoclass:: {method.__name__}\n   :members: {', '.join(members)}\n")
    return "\n".join(["```{eval-rst}", *entries, "```"])


def python_warnings() -> str:
    """Return the reference of every class of warnings."""
    names = [name for name in vars(gv.warnings) if name.endswith("Warning")]
    entries = [f".. autoclass:: {name}\n" for name in names if name != "GraphveilWarning"]
    head = ".. currentmodule:: graphveil.core.warnings\n"
    return "\n".join(["```{eval-rst}", head, *entries, "```"])


def known_names() -> str:
    """Return the names of columns by which the two ends of a row are recognized."""
    named = {"two ends of an edge": EDGE_NAMES, "a user and an item": PAIR_NAMES}
    rows = [(what, ", ".join(f"`{a}`/`{b}`" for a, b in pairs)) for what, pairs in named.items()]
    return table(["columns", "names"], rows)


COMPARED = tomllib.loads(Path(__file__).with_name("comparison.toml").read_text(encoding="utf-8"))


def comparison(*names: str) -> str:
    """Return some columns of the comparison with other tools, each cell with its source."""
    columns = {name: COMPARED["columns"][name] for name in names}
    rows = [
        (f"**{tool['name']}**", *(compared(tool[name]) for name in columns))
        for tool in COMPARED["tools"]
    ]
    return table(["tool", *columns.values()], rows)


def compared(cell: str | Mapping[str, str]) -> str:
    """Return a cell of the comparison: its text and its source, or that it is not known."""
    if isinstance(cell, str):
        return f"*{cell}*"
    source = COMPARED["sources"][cell["source"]]
    return f"{cell['text']} ([source]({source['url']}))"


def comparison_sources() -> str:
    """Return what was read for the comparison."""
    rows = [(f"<{s['url']}>", s["version"], s["read"]) for s in COMPARED["sources"].values()]
    return table(["address", "version", "read on"], rows[:-1])


ATTACKED = tomllib.loads(Path(__file__).with_name("evidence").joinpath("limits.toml").read_text())


def figures(method: str, most: int | None = None) -> str:
    """Return what attacks on a method's releases reached; the first rows link to all."""
    entry = ATTACKED[method]
    rows = [(*cells, f"`{source}`") for *cells, source in entry["rows"][:most]]
    lines = [table(["figure", "attack", "data", "source"], rows), ""]
    if most is None:
        return "\n".join(lines + [f"- {note}" for note in entry["notes"]])
    return "\n".join([*lines, f"[All figures of this method](/evidence/limits.md#{method})."])


def commands() -> str:
    """Return the commands, each with what it answers."""
    rows = [(f"[`{name}`](commands-{name}.md)", line) for name, line in COMMANDS.items()]
    return table(["command", "what it does"], rows)


def names(paper: str) -> str:
    """Return the names that a paper uses, each with ours; methods are links."""

    def linked(code: re.Match[str]) -> str:
        return f"[{code[1]}](../methods/{code[1]}.md)" if code[1] in gv.METHODS else code[0]

    rows = [
        (name.theirs.replace("*", "\\*"), re.sub("`([^`]+)`", linked, name.ours))
        for name in marked_names()
        if name.paper == paper
    ]
    return table(["in the paper", "here"], rows)


myst_substitutions = {
    "formats": formats(),
    "shipped": shipped(),
    "larger": larger(),
    "paper_data": paper_data(),
    "metrics": metrics(),
    "attacks": attacks(),
    "measures": measures(),
    "methods": methods(),
    "conditions": conditions(),
    "python_methods": python_methods(),
    "python_warnings": python_warnings(),
    "known_names": known_names(),
    "gallery": gallery(),
    "first_picture": picture(),
    "commands": commands(),
    "comparison_of_results": comparison("data", "promise", "result"),
    "comparison_of_checks": comparison("recheck", "attacks", "page"),
    "comparison_sources": comparison_sources(),
    "words_of_a_page": table(["word", "what it says"], WORDS),
    "help": help_page(),
    **{f"help_{verb}": help_page(verb) for verb in COMMANDS},
    **{f"help_{name.replace('-', '_')}": help_page("anonymize", name) for name in gv.METHODS},
    **{
        f"limit_{n.replace('-', '_')}": m.from_parameters(m.card.example).limits()
        for n, m in gv.METHODS.items()
    },
    **{
        f"limit_of_attributes_{n.replace('-', '_')}": m.card.limits_of_attributes
        for n, m in gv.METHODS.items()
        if m.card.limits_of_attributes
    },
    "limit_of_directions_structural": gv.StructuralAnonymity(measure="directed-count").limits(),
    **{f"figures_{n.replace('-', '_')}": figures(n) for n in ATTACKED},
    **{f"measured_{n.replace('-', '_')}": figures(n, most=3) for n in ATTACKED},
    **{f"names_{p.replace('-', '_')}": names(p) for p in {name.paper for name in marked_names()}},
    **{f"parameters_{n.replace('-', '_')}": parameters(m) for n, m in gv.METHODS.items()},
}
