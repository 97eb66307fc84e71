"""The real networks and tables that published figures are about. They do not ship with graphveil.

They are looked for in the folder that the environment variable GRAPHVEIL_SHARED_DATA names, else
in ``../shared/data`` beside the checkout. A test without its data is skipped, and the last
lines of the run say so.
"""

from __future__ import annotations

import gzip
import importlib.util
import os
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from graphveil.data import Graph

ROOT = Path(__file__).resolve().parents[1]
VARIABLE = "GRAPHVEIL_SHARED_DATA"


def shared_folder() -> Path:
    """Return the folder of the shared data, whether it is there or not."""
    return Path(os.environ.get(VARIABLE) or ROOT.parent / "shared" / "data")


def shared(name: str) -> Path:
    """Return the path of a file or folder of the shared data, or skip the test that needs it."""
    path = shared_folder() / name
    if not path.exists():
        pytest.skip(f"needs the shared data <{name}>")
    return path


def lacking(reasons: list[str]) -> str:
    """Return the line on all data for lack of which tests were skipped, from their reasons."""
    absent = {name for reason in reasons for name in re.findall(r"shared data <(.*?)>", reason)}
    named = sorted({name.removesuffix("/edges.tsv.gz") for name in absent})
    if not named:
        return ""
    return (
        f"figures of {len(named)} networks and tables were not checked, the data being absent: "
        f"{', '.join(named)}. {VARIABLE} names their folder, else it is {ROOT.parent}/shared/data."
    )


def edge_array(name: str) -> np.ndarray:
    """Return the rows of ``anonet/x.edges``, whose nodes are numbers, or of a network's folder."""
    if name.endswith(".edges"):
        return np.loadtxt(shared(name), dtype=np.int64, ndmin=2)[:, :2]
    with gzip.open(shared(f"{name}/edges.tsv.gz"), "rt") as absent:
        return np.loadtxt(absent, dtype=np.int64, ndmin=2)[:, :2]


def network(name: str) -> Graph:
    """Return a network without loops and repeated edges; of a numbered file every id is a node."""
    ends = edge_array(name)
    n = int(ends.max()) + 1 if name.endswith(".edges") else None
    return Graph.assemble(ends[:, 0], ends[:, 1], n=n)[0]


def script(path: str) -> ModuleType:
    """Return a module of the checkout that is no part of the package, such as a benchmark's."""
    return _script(ROOT / path)


@cache
def _script(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
