"""Every public kernel is named in a test that imports its module: there its slow twin drives it."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
PACKAGE = SRC / "graphveil"
NUMBA = {"njit", "jit", "vectorize", "guvectorize"}


def name_of(node):
    """Return the last name of a decorator: that of ``leaf``, ``numba.njit`` or ``njit(...)``."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def house_decorators(tree):
    """Return the names that a module gives to Numba's decorators with options of its own."""
    assigned = [
        (name_of(node.targets[0]), name_of(node.value))
        for node in tree.body
        if isinstance(node, ast.Assign)
    ]
    made = {name for name, value in assigned if value in NUMBA | {"partial"}}
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    wrapping = {
        node.name
        for node in functions
        if any(isinstance(inner, ast.Call) and name_of(inner) in NUMBA for inner in ast.walk(node))
        and not {name_of(decorator) for decorator in node.decorator_list} & NUMBA
    }
    return made | wrapping


def compiled_in(tree, decorators):
    """Return the public functions of a module that are compiled."""
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        if {name_of(decorator) for decorator in node.decorator_list} & decorators
    }


def public_kernels(sources):
    """Return {(module, name)} of every compiled public function; sources are {module: text}."""
    trees = {module: ast.parse(text) for module, text in sources.items()}
    decorators = NUMBA.union(*(house_decorators(tree) for tree in trees.values()))
    return {
        (module, name) for module, tree in trees.items() for name in compiled_in(tree, decorators)
    }


def named_in(text):
    """Return {(module, name)} of everything that a test takes from a module and then uses."""
    tree = ast.parse(text)
    modules, imported = {}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                imported[alias.asname or alias.name] = (node.module, alias.name)
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
    named = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in imported:
            named.add(imported[node.id])
        elif isinstance(node, ast.Attribute):
            named.add((modules.get(ast.unparse(node.value), ""), node.attr))
    return named


def sources_of(folder):
    return {
        ".".join(path.relative_to(SRC).with_suffix("").parts): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("kernels/**/*.py"))
    }


def test_every_public_kernel_is_named_in_a_test_that_imports_its_module():
    paths = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    named = set().union(*(named_in(text) for text in texts if "kernels" in text))
    without = defaultdict(list)
    for module, name in sorted(public_kernels(sources_of(PACKAGE)) - named):
        without[module].append(name)
    assert {} == dict(without), "write a slow twin, or make it private with an underscore"


HOUSE = """
leaf = partial(njit, cache=True)
def quick(function):
    return numba.njit(function, nogil=True)
@leaf
def one(): ...
@njit(cache=True, nogil=True)
def two(): ...
@numba.njit
def three(): ...
@quick
def four(): ...
@njit
def _hidden(): ...
@property
def plain(): ...
def bare(): ...
"""


def test_a_kernel_is_known_by_its_decorator():
    kernels = public_kernels({"house.a": HOUSE, "house.b": "@leaf\ndef five(): ..."})
    names = ["one", "two", "three", "four"]
    assert {("house.b", "five"), *(("house.a", name) for name in names)} == kernels


def test_a_kernel_is_named_where_it_is_used_and_not_where_another_has_its_name():
    text = (
        "from house.a import one, two as second\n"
        "from house import b\n"
        "import house.c\n"
        "assert second(1) == b.five(2) == house.c.six(3)\n"
        "three = 'one'\n"
    )
    assert {("house.a", "two"), ("house.b", "five"), ("house.c", "six")} <= named_in(text)
    assert {("house.a", "one"), ("house.a", "three")}.isdisjoint(named_in(text))
