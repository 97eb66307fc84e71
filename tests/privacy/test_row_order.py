"""Rows of users by features are published in a random order, in memory and on the disk."""

from __future__ import annotations

import csv
import math
from contextlib import contextmanager
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tampering import smallest

import graphveil as gv
from graphveil.data import Bipartite
from graphveil.engines import LocalEngine
from graphveil.engines.local import LocalTables
from graphveil.engines.processes import done
from graphveil.methods import METHODS
from graphveil.methods.smooth_k import Chunks, SmoothK
from graphveil.scale.columns import RowOrder
from graphveil.verbs.anonymize import anonymize_rows

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

N = 400
CHUNK = 20
DEVIATIONS = 6.8
"""A normal number is further from its mean with a probability of 1e-11."""
MOST_NEIGHBORS = 80
"""Of about `CHUNK` pairs of neighbors that are expected: a Poisson number is above with 1e-22."""

LIKES = pa.table({"user": np.arange(N), "items": [[f"item {row // 2:03d}"] for row in range(N)]})
"""Two rows of every kind, one below the other."""

ON_FEATURES = {name: m for name, m in METHODS.items() if Bipartite in m.accepts}


def deviations(order):
    """Return how far an order is from a random one, by three figures, in standard deviations.

    They are how often a row follows one that is before it in the original too, and how much of the
    order is that of the original, or that inside its chunks.

    Parameters
    ----------
    order
        Where the published rows stand in the original.
    """
    n = order.size
    ascents = np.count_nonzero(np.diff(order) > 0) - (n - 1) / 2
    whole, inside = np.corrcoef([np.arange(n), order, order % CHUNK])[0, 1:]
    correlations = [abs(r) * math.sqrt(n - 1) for r in (whole, inside)]
    return [abs(ascents) / math.sqrt((n + 1) / 12), *correlations]


def neighbors(groups):
    """Return how many published rows are of the same group as the one before."""
    return np.count_nonzero(np.diff(groups) == 0)


def assert_random(order):
    """Fail where published rows stand in the order of the original, or in that of its chunks."""
    assert max(deviations(order)) < DEVIATIONS
    assert neighbors(order // CHUNK) < MOST_NEIGHBORS


def kinds_published(folder):
    """Return the users of a release in csv, and the number of the kind of each, in file order."""
    with (folder / "data.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["item"].startswith("item")]
    users, first = np.unique([int(row["user"]) for row in rows], return_index=True)
    in_file = np.sort(first)
    listed = np.array([int(rows[at]["user"]) for at in in_file])
    assert users.tolist() == listed.tolist(), "users do not stand in the order of their ids"
    return users, np.array([int(rows[at]["item"].removeprefix("item ")) for at in in_file])


def assert_released_in_random_order(folder):
    """Fail where the linkage or the rows themselves show the order of the original."""
    released = parquet.read_table(f"{folder}.private/linkage.parquet")["released"].to_numpy()
    order = np.argsort(released)
    assert_random(order)
    users, kinds = kinds_published(folder)
    assert N // 2 < users.size
    assert max(deviations(kinds)) < DEVIATIONS
    assert np.mean(order[users] // 2 == kinds) > 0.9, "the linkage is of other rows"


@pytest.mark.parametrize("seed", [1, None])
@pytest.mark.parametrize("method", ON_FEATURES.values(), ids=ON_FEATURES)
def test_rows_in_memory_are_written_in_a_random_order(method, seed, tmp_path):
    strongest = {"epsilon": 40.0} if "epsilon" in {item.name for item in fields(method)} else {}
    least = method.from_parameters({**smallest(method).parameters(), **strongest})
    release = least.anonymize(gv.Bipartite.from_arrow(LIKES), seed=seed)
    assert_released_in_random_order(release.write(tmp_path / "out"))


@dataclass(frozen=True)
class InPairs:
    """Every two rows that follow each other."""

    def __call__(self, rows, rng):
        del rng
        kinds = np.unique(rows.kinds, return_inverse=True)[1]
        return kinds.astype(np.int32)


@dataclass(frozen=True, kw_only=True)
class Quick(SmoothK):
    """`SmoothK` without its search: equal rows are a cluster."""

    def clustering(self):
        return InPairs()


def run_on_disk(table, folder, *, seed, order="none", engine=None, **form):
    parquet.write_table(table, folder / "likes.parquet")
    method = Quick(k=2, chunks=Chunks(rows=CHUNK, order=order))
    alone = engine or LocalEngine(jobs=1)
    given = {"engine": alone, "seed": seed, **(form or {"format": "csv"})}
    return anonymize_rows(method, folder / "likes.parquet", folder / "out", **given)


@pytest.mark.parametrize("seed", [1, 2, None])
def test_rows_on_the_disk_are_written_in_a_random_order(tmp_path, seed):
    assert_released_in_random_order(run_on_disk(LIKES, tmp_path, seed=seed))


@pytest.mark.parametrize("seed", [1, None])
def test_like_rows_that_were_sorted_together_are_not_published_together(tmp_path, seed):
    kinds = np.random.Generator(np.random.PCG64(3)).permutation(np.arange(N) // CHUNK)
    table = pa.table({"user": np.arange(N), "items": [[f"item {kind:03d}"] for kind in kinds]})
    out = run_on_disk(table, tmp_path, seed=seed, order="minhash")
    _, published = kinds_published(out)
    assert N == published.size
    assert neighbors(published) < MOST_NEIGHBORS


def test_two_runs_on_the_disk_have_unrelated_orders(tmp_path):
    orders = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        out = run_on_disk(LIKES, tmp_path / name, seed=None)
        orders.append(parquet.read_table(f"{out}.private/linkage.parquet")["released"].to_numpy())
    assert abs(np.corrcoef(orders)[0, 1]) * math.sqrt(N - 1) < DEVIATIONS


# the tests themselves


@pytest.mark.parametrize(
    "order",
    {
        "that of the original": np.arange(N),
        "its reverse": np.arange(N)[::-1],
        "random chunks": np.random.Generator(np.random.PCG64(1))
        .permutation(np.arange(N).reshape(-1, CHUNK))
        .ravel(),
        "random inside chunks": np.random.Generator(np.random.PCG64(1))
        .permuted(np.arange(N).reshape(-1, CHUNK), axis=1)
        .ravel(),
        "the first rows of all chunks first": np.arange(N).reshape(-1, CHUNK).T.ravel(),
        "half of it": np.concatenate(
            [
                np.arange(N // 2),
                np.random.Generator(np.random.PCG64(1)).permutation(N // 2) + N // 2,
            ]
        ),
    }.values(),
)
def test_an_order_that_is_not_random_is_noticed(order):
    with pytest.raises(AssertionError):
        assert_random(order)


def test_random_orders_pass():
    rng = np.random.Generator(np.random.PCG64(1))
    for _ in range(500):
        assert_random(rng.permutation(N))


# the last look of a run on the disk


def order_of(positions, parts=1):
    seen = RowOrder()
    for part in np.array_split(positions, parts):
        seen.add(part)
    return seen


@pytest.mark.parametrize("parts", [1, 7, N])
def test_ascents_are_counted_over_all_parts(parts):
    positions = np.random.Generator(np.random.PCG64(5)).permutation(N)
    expected = np.count_nonzero(np.diff(positions) > 0)
    assert expected == order_of(positions, parts).ascents


@pytest.mark.parametrize("n", [20, 400])
@pytest.mark.parametrize("step", [1, -1])
def test_the_order_of_the_original_is_never_published(n, step):
    with pytest.raises(RuntimeError, match="order"):
        order_of(np.arange(n)[::step]).check()


def test_a_random_order_is_published_and_so_is_any_of_a_few_rows():
    rng = np.random.Generator(np.random.PCG64(1))
    for n in range(60):
        order_of(rng.permutation(n)).check()
    for n in range(15):
        order_of(np.arange(n)).check()


class SortingTables(LocalTables):
    """Tables that give what is about to be released by where rows stand in the original."""

    order = None

    def batches(self, rows, by):
        if by is None:
            yield from super().batches(rows, by)
            return
        table = pa.Table.from_batches(super().batches(rows, by)).sort_by("user").take(self.order)
        ids = pa.array(np.arange(table.num_rows))
        yield from table.set_column(0, "id", ids).combine_chunks().to_batches()


class Sorting(LocalEngine):
    """An engine that sorts what is about to be released by where rows stand in the original."""

    def __init__(self, order):
        super().__init__(jobs=1)
        object.__setattr__(self, "order", order)

    @contextmanager
    def at(self, folder, run):
        del run
        tables = SortingTables(folder, self.memory_mib, lambda tasks: map(done, tasks))
        tables.order = self.order
        yield tables


ORDERS = {
    "that of the original": np.arange(N),
    "its reverse": np.arange(N)[::-1],
    "the first rows of all chunks first": np.arange(N).reshape(-1, CHUNK).T.ravel(),
    "but for a few": np.concatenate([np.arange(N - 40) + 40, np.arange(40)[::-1]]),
}


@pytest.mark.parametrize("seed", [1, None])
@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_a_run_on_the_disk_in_another_order_than_the_drawn_one_releases_nothing(
    order, seed, tmp_path
):
    with pytest.raises(RuntimeError, match="were about to be published in an order"):
        run_on_disk(LIKES, tmp_path, seed=seed, engine=Sorting(order))
    assert [".out.working", "likes.parquet"] == sorted(path.name for path in tmp_path.iterdir())


def test_parts_in_another_order_than_the_drawn_one_are_not_released(tmp_path):
    engine = Sorting(ORDERS["that of the original"])
    with pytest.raises(RuntimeError, match="were about to be published in an order"):
        run_on_disk(LIKES, tmp_path, seed=None, engine=engine, parts=True)
    assert [".out.working", "likes.parquet"] == sorted(path.name for path in tmp_path.iterdir())


def test_a_run_on_the_disk_in_the_order_of_an_engine_that_sorts_at_random_is_released(tmp_path):
    order = np.random.Generator(np.random.PCG64(1)).permutation(N)
    assert_released_in_random_order(run_on_disk(LIKES, tmp_path, seed=None, engine=Sorting(order)))
