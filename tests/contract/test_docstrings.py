"""Everything public says what its arguments mean and what comes back, and has an example."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import graphveil as gv


def section(doc: str, title: str) -> str:
    """Return a section of a numpy docstring, without its title; empty if there is none."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


def documented(doc: str) -> set[str]:
    """Return the names that stand at the margin of the section Parameters."""
    margin = re.findall(r"^(\S[^:\n]*?)(?: ?:.*)?$", section(doc, "Parameters"), re.MULTILINE)
    return {name.strip().lstrip("*") for line in margin for name in line.split(",")}


def problems(called: Any, doc: str, *, fields: frozenset[str] = frozenset()) -> list[str]:
    """Return which arguments a docstring omits, and whether it omits the result or an example.

    `fields`: arguments whose own help text says what they mean. A name that begins with an
    underscore is not used.
    """
    signature = inspect.signature(called)
    names = {
        name
        for name, item in signature.parameters.items()
        if name not in {"self", "cls"}
        and not name.startswith("_")
        and item.kind is not item.VAR_POSITIONAL
    }
    missing = [] if ">>> " in section(doc, "Examples") else ["Examples"]
    if not names:
        return missing
    missing += sorted(names - fields - documented(doc))
    nothing = signature.return_annotation in {"None", "NoReturn", None, inspect.Signature.empty}
    if not (
        inspect.isclass(called) or nothing or section(doc, "Returns") or section(doc, "Yields")
    ):
        missing.append("Returns")
    return missing


def described_above(owner: type, name: str) -> bool:
    """Return whether a class above describes the method that this one overrides."""
    for base in owner.__mro__[1:]:
        method = vars(base).get(name)
        if inspect.isfunction(method):
            return not problems(method, inspect.cleandoc(method.__doc__ or ""))
    return False


def everything() -> Iterator[tuple[str, Any, frozenset[str]]]:
    """Yield public functions, classes and their own methods, with fields that have a help text."""
    for name in gv.__all__:
        item = getattr(gv, name)
        if inspect.isclass(item) and not issubclass(item, BaseException):
            own = dataclasses.fields(item) if dataclasses.is_dataclass(item) else ()
            yield name, item, frozenset(each.name for each in own if "help" in each.metadata)
            for part, member in vars(item).items():
                method = getattr(member, "__func__", member)
                if not inspect.isfunction(method) or part.startswith("_"):
                    continue
                if not described_above(item, part):
                    yield f"{name}.{part}", method, frozenset()
        elif inspect.isfunction(item):
            yield name, item, frozenset()


PUBLIC = {name: (item, fields) for name, item, fields in everything()}


def test_most_of_the_public_names_are_looked_at():
    assert len(PUBLIC) > 150


@pytest.mark.parametrize("name", PUBLIC)
def test_arguments_results_and_an_example_are_described(name):
    item, fields = PUBLIC[name]
    doc = inspect.cleandoc(inspect.unwrap(item).__doc__ or "")
    assert [] == problems(item, doc, fields=fields)


def sample(k: int, *, seed: int | None = None, **more: Any) -> int:
    """Return k."""
    del seed, more
    return k


WHOLE = """Return k.

Parameters
----------
k
    A number.
seed : int
    Another.
**more
    Not used.

Returns
-------
int
    The number k.

Examples
--------
>>> sample(3)
3
"""


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Return k.", ["Examples", "k", "more", "seed", "Returns"]),
        (WHOLE.partition("seed")[0], ["Examples", "more", "seed", "Returns"]),
        (WHOLE.replace("**more", "**less"), ["more"]),
        (WHOLE.replace(">>> ", ""), ["Examples"]),
        (WHOLE, []),
    ],
)
def test_what_a_docstring_omits_is_found(doc, expected):
    assert expected == problems(sample, doc)
