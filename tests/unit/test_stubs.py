"""What a stub says of a package is what Python finds there."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import graphveil
from graphveil.core.lazy import homes_in

SOURCE = Path(graphveil.__file__).parent
STUBS = sorted(SOURCE.rglob("__init__.pyi"))


def parsed(stub):
    """Return the names that a stub imports, as Python's own parser reads them."""
    homes = {}
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            for name in node.names:
                if name.name == "*":
                    homes |= parsed(stub.parent / node.module.rpartition(".")[2] / "__init__.pyi")
                else:
                    homes[name.asname or name.name] = (node.module, name.name)
    return homes


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_every_name_of_a_stub_is_read_and_can_be_imported(stub):
    assert parsed(stub) == homes_in(stub)
    package = ".".join(["graphveil", *stub.parent.relative_to(SOURCE).parts])
    module = importlib.import_module(package)
    assert [] == [name for name in homes_in(stub) if not hasattr(module, name)]
