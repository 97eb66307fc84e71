"""The data sets of the comparison: read from a folder, or made and named so.

Readers take the folder that holds ``adult``, ``googleplaystore``, ``email-Enron`` and so on.
"""

from __future__ import annotations

import csv
import gzip
import random  # noqa: TID251  the sample of the stand-in is defined by this module's generator
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from graphveil.data import Bipartite

ADULT_COLUMNS = {
    1: "workclass",
    3: "education",
    5: "marital-status",
    6: "occupation",
    7: "relationship",
    8: "race",
    9: "sex",
    13: "native-country",
}
ADULT_LABEL = 14
PLAY_COLUMNS = (
    "Category",
    "Rating",
    "Reviews",
    "Size",
    "Installs",
    "Type",
    "Price",
    "Content Rating",
    "Genres",
    "Android Ver",
)
PLAY_ROWS = 8672
TOPICS = 2000
TOPIC_FEATURES = 100
LISTED_FEATURES = 100_000


def one_hot(columns: dict[str, list[str]]) -> Bipartite:
    """Return a row per record and a feature per column and value, sorted within its column.

    Examples
    --------
    >>> data = one_hot({"sex": ["f", "m", "f"], "size": ["10", "10", "9"]})
    >>> data.feature_labels().tolist(), data.row(0).tolist()
    (['sex=f', 'sex=m', 'size=10', 'size=9'], [0, 2])
    """
    names: list[str] = []
    codes = []
    for column, values in columns.items():
        distinct, code = np.unique(np.array(values), return_inverse=True)
        codes.append(code + len(names))
        names += [f"{column}={value}" for value in distinct.tolist()]
    indices = np.stack(codes, axis=1)
    n, width = indices.shape
    return Bipartite(
        np.arange(0, n * width + 1, width),
        indices.ravel().astype(np.int32),
        len(names),
        features=np.array(names),
    )


def adult(folder: Path) -> Bipartite:
    """Return the categorical columns of the census income data: 32,561 x 102."""
    return one_hot(adult_columns(folder / "adult" / "adult.data.gz")[0])


def adult_columns(path: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Return the categorical columns of one of the files, `?` being a value, and its labels."""
    with gzip.open(path, "rt") as lines:
        records = [
            [cell.strip() for cell in line.rstrip().rstrip(".").split(",")]
            for line in lines
            if line.count(",") == ADULT_LABEL
        ]
    columns = {name: [record[at] for record in records] for at, name in ADULT_COLUMNS.items()}
    return columns, [record[ADULT_LABEL] for record in records]


def playstore(folder: Path) -> Bipartite:
    """Return the stand-in for the app data: a sample of 8,672 records, ten columns, 516 features.

    The original's columns and sample are not stated, so that figures are not comparable.
    """
    path = folder / "googleplaystore" / "googleplaystore.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        records = [record for record in csv.DictReader(lines) if record["Category"] != "1.9"]
    chosen = random.Random(0).sample(records, PLAY_ROWS)  # noqa: S311  a sample, not a secret
    shaped = {"Reviews": _first_digit, "Size": _rounded_size}
    return one_hot(
        {name: [shaped.get(name, str)(record[name]) for record in chosen] for name in PLAY_COLUMNS}
    )


def _first_digit(count: str) -> str:
    return f"{count[0]}e{len(count)}" if len(count) > 1 else count


def _rounded_size(size: str) -> str:
    if size.endswith("M"):
        return f"{round(float(size[:-1]))}M"
    return f"{int(float(size[:-1])) // 100}00k" if size.endswith("k") else size


def email_enron(folder: Path) -> Bipartite:
    """Return the rows of the largest component's adjacency matrix: 33,696 square."""
    return _component(folder / "email-Enron" / "edges.tsv.gz")


def ca_astroph(folder: Path) -> Bipartite:
    """Return the rows of the largest component's adjacency matrix: 17,903 square."""
    return _component(folder / "ca-AstroPh" / "edges.tsv.gz")


def ca_hepph(folder: Path) -> Bipartite:
    """Return the rows of the largest component's adjacency matrix: 11,204 square."""
    return _component(folder / "ca-HepPh" / "edges.tsv.gz")


def ego_twitter(folder: Path) -> Bipartite:
    """Return the rows of the largest component's adjacency matrix: circles of who follows whom."""
    return _component(folder / "standin-ego-Twitter" / "edges.tsv.gz")


def web_notredame(folder: Path) -> Bipartite:
    """Return links of web pages, loops kept: pages that link by pages linked to.

    The numbers are 137,941 x 325,729 with 1,497,134 entries.
    """
    path = folder / "standin-web-NotreDame" / "web-NotreDame.txt.gz"
    source, target = _pairs(path)
    rows, columns = _renumbered(source), _renumbered(target)
    return _from_pairs(rows, columns, (int(rows.max()) + 1, int(columns.max()) + 1))


def _pairs(path: Path) -> NDArray[np.int64]:
    with gzip.open(path, "rt") as lines:
        return np.loadtxt(lines, dtype=np.int64, comments="#", ndmin=2).T


def _renumbered(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(nodes, return_inverse=True)[1]


def _from_pairs(
    rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]
) -> Bipartite:
    ones = np.ones(rows.size, dtype=np.int8)
    matrix = sparse.csr_array((ones, (rows, columns)), shape=shape)
    return Bipartite.from_scipy(matrix, items="things")


def _component(path: Path) -> Bipartite:
    source, target = _pairs(path)
    n = int(max(source.max(), target.max())) + 1
    ones = np.ones(source.size, dtype=np.int8)
    graph = sparse.csr_array((ones, (source, target)), shape=(n, n))
    graph = sparse.csr_array(graph + graph.T)
    _, which = connected_components(graph, directed=False)
    inside = np.nonzero(which == np.bincount(which).argmax())[0]
    return Bipartite.from_scipy(graph[inside][:, inside], items="things")


def stochastic(
    seed: int, *, n: int = 1024, block: int = 64, inner: float = 0.8, outer: float = 0.01
) -> Bipartite:
    """Return n rows of n features in planted blocks.

    A row has a feature of its own block with probability `inner`, another with `outer`. The blocks
    themselves, as clusters, keep ``inner * block / (block + outer * (n - block))``: 69.6 %.
    """
    rng = np.random.default_rng(seed)
    own = np.arange(n) // block * block
    numbers = rng.binomial(block, inner, n), rng.binomial(n - block, outer, n)
    lists = []
    for first, near, far in zip(own, *numbers, strict=True):
        elsewhere = rng.choice(n - block, far, replace=False)
        elsewhere += block * (elsewhere >= first)
        lists.append(np.concatenate([first + rng.choice(block, near, replace=False), elsewhere]))
    return _from_lists(lists, n)


def _from_lists(lists: Iterable[NDArray[np.int64]], n_features: int) -> Bipartite:
    rows = [np.sort(features) for features in lists]
    indptr = np.concatenate([[0], np.cumsum([row.size for row in rows])])
    indices = np.concatenate(rows).astype(np.int32)
    return Bipartite(indptr, indices, n_features, items="things")


def userlists(n: int, seed: int = 0) -> Bipartite:
    """Return n users' interests: 100,000 features in 2,000 topics, about 8.1 a user.

    A user has two topics, of popularity rank^-0.8, and draws a geometric number of times (mean 10,
    at most 60): 70 % from the first topic, by rank^-1.2. One draw in five is replaced by a feature
    of popularity 1/rank among all.
    """
    rng = np.random.default_rng(seed)
    topics = np.array(
        [rng.choice(LISTED_FEATURES, TOPIC_FEATURES, replace=False) for _ in range(TOPICS)]
    )
    ranked = rng.permutation(LISTED_FEATURES)
    chosen = _by_rank(rng, TOPICS, 0.8, (n, 2))
    draws = np.clip(rng.geometric(1 / 10, n), 1, 60)
    user = np.repeat(np.arange(n), draws)
    second = (rng.random(user.size) >= 0.7).astype(np.int64)
    feature = topics[chosen[user, second], _by_rank(rng, TOPIC_FEATURES, 1.2, user.size)]
    noise = rng.random(user.size) < 0.2
    feature[noise] = ranked[_by_rank(rng, LISTED_FEATURES, 1.0, int(noise.sum()))]
    return _from_pairs(user, feature, (n, LISTED_FEATURES))


def _by_rank(
    rng: np.random.Generator, n: int, power: float, size: int | tuple[int, ...]
) -> NDArray[np.int64]:
    """Draw ranks 0..n-1, rank r with probability proportional to (r + 1)^-power."""
    cumulative = np.cumsum(np.arange(1, n + 1) ** -power)
    drawn = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    return np.minimum(drawn, n - 1)


def popular(
    n: int,
    *,
    items: int = 5000,
    exponent: float = 0.9,
    groups: int = 200,
    liked: int = 40,
    share: float = 0.6,
    draws: int = 8,
    seed: int = 1,
) -> Bipartite:
    """Return n users of popular items: rank^-exponent, of 5,000; 7.5 a user.

    A user is of one of the groups, which likes so many items, drawn by popularity. Each of the
    user's draws is of these with probability `share`, else of all by popularity.
    """
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(1, items + 1) ** exponent
    popularity /= popularity.sum()
    likes = rng.choice(items, (groups, liked), p=popularity)
    own = likes[rng.integers(groups, size=n)[:, None], rng.integers(liked, size=(n, draws))]
    every = rng.choice(items, (n, draws), p=popularity)
    drawn = np.where(rng.random((n, draws)) < share, own, every)
    pairs = np.unique(np.arange(n)[:, None] * items + drawn)
    return _from_pairs(pairs // items, pairs % items, (n, items))
