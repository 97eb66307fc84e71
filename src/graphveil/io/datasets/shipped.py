"""The small data inside the package: one table, and the functions that read it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

from graphveil.core.errors import UsageError, did_you_mean
from graphveil.data import Bipartite, Data, Graph, Table

_FILES = Path(__file__).parent / "files"


@dataclass(frozen=True, kw_only=True)
class ShippedSet:
    """One data set inside the package, with its source and license.

    Parameters
    ----------
    name
        The name that `load` takes.
    kind
        The container it becomes.
    files
        The data file, and for user-item data the list of all users.
    n
        Nodes, users or rows.
    m
        Edges, entries or columns.
    license
        The SPDX identifier.
    source
        Whom to cite.
    url
        Where the original is.
    note
        How the file was derived from the original.
    categories
        Texts of a table that are values, although they often stand for a missing one.
    """

    name: str
    kind: Literal["graph", "bipartite", "table"]
    files: tuple[str, ...]
    n: int
    m: int
    license: str
    source: str
    url: str
    note: str
    categories: tuple[str, ...] = ()


_ALL = (
    ShippedSet(
        name="copenhagen-calls",
        kind="graph",
        files=("copenhagen_calls.csv",),
        n=536,
        m=621,
        license="MIT",
        source=(
            "P. Sapiezynski, A. Stopczynski, D. D. Lassen, S. Lehmann: Interaction data from the "
            "Copenhagen Networks Study. Scientific Data 6:315, 2019, "
            "doi:10.1038/s41597-019-0325-x"
        ),
        url="https://doi.org/10.6084/m9.figshare.7267433",
        note=(
            "Phone calls between students in Copenhagen over four weeks. Directions and times "
            "are dropped; participants are numbered consecutively. The license is the one "
            "stated for the deposit of the data."
        ),
    ),
    ShippedSet(
        name="spect-heart",
        kind="bipartite",
        files=("spect_heart.csv", "spect_heart_users.csv"),
        n=267,
        m=1830,
        license="CC-BY-4.0",
        source=(
            "K. Cios, L. Kurgan, L. Goodenday: SPECT Heart. UCI Machine Learning Repository, 2001"
        ),
        url="https://archive.ics.uci.edu/dataset/95/spect+heart",
        note=(
            "267 patients by 22 binary partial diagnoses, f1 to f22, training part first. The "
            "class is dropped. Patients without a finding are in the list of users."
        ),
    ),
    ShippedSet(
        name="adult-sample",
        kind="table",
        categories=("?",),
        files=("adult_sample.csv",),
        n=2000,
        m=8,
        license="CC-BY-4.0",
        source="B. Becker, R. Kohavi: Adult. UCI Machine Learning Repository, 1996",
        url="https://doi.org/10.24432/C5XW20",
        note=(
            "Every 16th row of adult.data, starting with the first (2,000 rows), and its 8 "
            "categorical columns without the class. A question mark is a value like any other."
        ),
    ),
)

DATASETS: dict[str, ShippedSet] = {item.name: item for item in _ALL}
"""Every data set inside the package, by name."""


def names() -> list[str]:
    """Return the name of every data set inside the package.

    Examples
    --------
    >>> names()
    ['copenhagen-calls', 'spect-heart', 'adult-sample']
    """
    return list(DATASETS)


def path_of(name: str) -> Path:
    """Return the path of a shipped data file, such as the command line takes.

    Raises
    ------
    UsageError
        Where no data set has this name.

    Examples
    --------
    >>> path_of("copenhagen-calls").name
    'copenhagen_calls.csv'
    """
    return _FILES / _shipped(name).files[0]


@overload
def load(name: Literal["copenhagen-calls"]) -> Graph: ...
@overload
def load(name: Literal["spect-heart"]) -> Bipartite: ...
@overload
def load(name: Literal["adult-sample"]) -> Table: ...
@overload
def load(name: str) -> Data: ...
def load(name: str) -> Data:
    """Return a data set that ships with the package.

    Raises
    ------
    UsageError
        Where no data set has this name.

    Examples
    --------
    >>> load("copenhagen-calls")
    Graph(n_nodes=536, n_edges=621)
    """
    from graphveil import io  # noqa: PLC0415  the table is read without loading the readers

    item = _shipped(name)
    path = _FILES / item.files[0]
    if item.kind == "graph":
        return io.read_graph(path, header="yes")
    if item.kind == "bipartite":
        return io.read_bipartite(path, header="yes", users=_FILES / item.files[1])
    return io.read_table(path, header="yes", categories=item.categories)


def _shipped(name: str) -> ShippedSet:
    if name not in DATASETS:
        raise UsageError(
            f"no data set {name!r} ships with graphveil. {did_you_mean(name, DATASETS)}Choose "
            f"one of {', '.join(DATASETS)}; larger ones are downloaded."
        )
    return DATASETS[name]
