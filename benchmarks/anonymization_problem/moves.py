"""Moves that were tried for full anonymity by deletions, and were not built.

    python benchmarks/anonymization_problem/moves.py --data FOLDER [--seeds 2] [--networks NAME]
    python benchmarks/anonymization_problem/moves.py --table

A search of its own, over lists of the triangles of every edge: k=2, count, as many proposals for
every way. After one cooling from the input it goes on for `ROUNDS` rounds from where it stands,
warm again:

    plain      nothing else
    weights    who is unprotected at the start of a round counts one more, and less with every round
    sacrifice  as weights; where no round of ten leaves fewer, those who are left lose all ties
    template   one proposal in ten edits ties at an unprotected person, and then between neighbors,
               towards the nearest code that somebody else has, as one move
    hub        one proposal in ten flips two to six ties at an unprotected person, as one move

Then, where nobody is left, ties are given back. A row is written as soon as it is measured, to
``results/moves.parquet``. Who is left is counted by SciPy from the ties that are left.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mirrors import FILES, left, read
from numba import njit

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results" / "moves.parquet"
NETWORKS = ("polbooks", "moreno-innovation", "arenas", "maayan-faa")
"""Constants were looked at on arenas."""
WAYS = ("plain", "weights", "sacrifice", "template", "hub")
FIRST, ROUND, ROUNDS, BACK = 300_000, 40_000, 30, 150_000
PATIENCE = 10
MOST = 12
CHANGED, LEFT = range(2)
NO_MOVE, TEMPLATE, HUB = range(3)


class State(NamedTuple):
    """Edges with the lists of their triangles, nodes, and the cells of equal nodes.

    A cell holds how many these are, and what they weigh.
    """

    ends: Any
    first: Any
    third: Any
    sides: Any
    alive: Any
    degree: Any
    triangles: Any
    base: Any
    count: Any
    weigh: Any
    weight: Any
    start: Any
    around: Any
    order: Any
    position: Any
    tally: Any
    energy: Any


def state_of(graph: gv.Graph) -> State:
    """Return the state without edits."""
    edges, n, m = graph.edges().astype(np.int64), graph.n_nodes, graph.n_edges
    known = {edge: i for i, edge in enumerate(map(tuple, edges.tolist()))}
    near: list[set[int]] = [set() for _ in range(n)]
    for v, w in edges.tolist():
        near[v].add(w)
        near[w].add(v)
    first, third, sides = [0], [], []
    for v, w in edges.tolist():
        for x in sorted(near[v] & near[w]):
            third.append(x)
            sides.append((known[min(v, x), max(v, x)], known[min(w, x), max(w, x)]))
        first.append(len(third))
    triangles = np.bincount(np.array(third, dtype=np.int64), minlength=n)
    degree = graph.degrees().astype(np.int64)
    highest = [int(triangles[degree >= d].max()) for d in range(int(degree.max()) + 1)]
    room = [min(d * (d - 1) // 2, most) + 1 for d, most in enumerate(highest)]
    both = np.concatenate((edges[:, 0], edges[:, 1]))
    cells = sum(room)
    return State(
        edges,
        np.array(first),
        np.array(third, dtype=np.int64),
        np.array(sides, dtype=np.int64).reshape(-1, 2),
        np.ones(m, dtype=np.bool_),
        degree,
        triangles,
        np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(room))),
        np.zeros(cells, dtype=np.int64),
        np.zeros(cells),
        np.ones(n),
        np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(np.bincount(both, minlength=n)))),
        np.argsort(both, kind="stable") % m,
        np.arange(m),
        np.arange(m),
        np.zeros(2, dtype=np.int64),
        np.zeros(1),
    )


@njit(cache=True)
def refill(s: State) -> None:
    """Count afresh who is alone, and what they weigh."""
    s.count[:] = 0
    s.weigh[:] = 0.0
    for v in range(len(s.degree)):
        cell = s.base[s.degree[v]] + s.triangles[v]
        s.count[cell] += 1
        s.weigh[cell] += s.weight[v]
    s.energy[0], s.tally[LEFT] = 0.0, 0
    for v in range(len(s.degree)):
        cell = s.base[s.degree[v]] + s.triangles[v]
        if s.count[cell] == 1:
            s.energy[0] += s.weight[v]
            s.tally[LEFT] += 1


@njit(cache=True)
def leave_or_enter(s: State, v: int, sign: int) -> None:
    """Take a node out of its cell, or put it in."""
    cell = s.base[s.degree[v]] + s.triangles[v]
    if s.count[cell] == 1:
        s.energy[0] -= s.weigh[cell]
        s.tally[LEFT] -= 1
    s.count[cell] += sign
    s.weigh[cell] = s.weigh[cell] + sign * s.weight[v] if s.count[cell] else 0.0
    if s.count[cell] == 1:
        s.energy[0] += s.weigh[cell]
        s.tally[LEFT] += 1


@njit(cache=True)
def shift(s: State, v: int, degree: int, triangles: int) -> None:
    """Move a node to the cell of so many more."""
    leave_or_enter(s, v, -1)
    s.degree[v] += degree
    s.triangles[v] += triangles
    leave_or_enter(s, v, 1)


@njit(cache=True)
def flip(s: State, edge: int) -> None:
    """Delete an edge, or put it back."""
    sign = -1 if s.alive[edge] else 1
    common = 0
    for i in range(s.first[edge], s.first[edge + 1]):
        if s.alive[s.sides[i, 0]] and s.alive[s.sides[i, 1]]:
            common += 1
            shift(s, s.third[i], 0, sign)
    shift(s, s.ends[edge, 0], sign, sign * common)
    shift(s, s.ends[edge, 1], sign, sign * common)
    s.alive[edge] = not s.alive[edge]


@njit(cache=True)
def record(s: State, edge: int) -> None:
    """List a flipped edge among the deleted ones, or the others."""
    at = s.position[edge]
    if at < s.tally[CHANGED]:
        s.tally[CHANGED] -= 1
        border = s.tally[CHANGED]
    else:
        border = s.tally[CHANGED]
        s.tally[CHANGED] += 1
    other = s.order[border]
    s.order[border], s.order[at] = edge, other
    s.position[edge], s.position[other] = border, at


@njit(cache=True)
def go_to(s: State, alive: Any) -> None:
    """Make the state with these edges the present one."""
    for edge in range(len(alive)):
        if s.alive[edge] != alive[edge]:
            flip(s, edge)
            record(s, edge)


@njit(cache=True)
def edge_at(s: State, v: int, rng: Any) -> Any:
    """Return one of the edges of the input at a node that has some."""
    first, last = s.start[v], s.start[v + 1]
    return s.around[first + int(rng.random() * (last - first))]


@njit(cache=True)
def towards_template(s: State, v: int, trial: Any, rng: Any) -> int:
    """Flip ties at v, then between neighbors, towards the nearest code of another; return how many.

    A degree is worth eight triangles.
    """
    target, nearest = -1, 1 << 40
    for w in range(len(s.degree)):
        gap = abs(s.triangles[w] - s.triangles[v]) + 8 * abs(s.degree[w] - s.degree[v])
        if w != v and gap < nearest:
            target, nearest = w, gap
    degree, triangles = s.degree[target], s.triangles[target]
    size = 0
    for _ in range(4 * MOST):
        if size == MOST or (s.degree[v] == degree and s.triangles[v] == triangles):
            break
        edge = edge_at(s, v, rng)
        if s.degree[v] == degree:
            if s.first[edge] == s.first[edge + 1]:
                continue
            at = s.first[edge] + int(rng.random() * (s.first[edge + 1] - s.first[edge]))
            x, y = s.sides[at]
            edge = y if v in (s.ends[x, 0], s.ends[x, 1]) else x
            wanted = s.triangles[v] > triangles
        else:
            wanted = s.degree[v] > degree
        again = False
        for i in range(size):
            again |= trial[i] == edge
        if s.alive[edge] == wanted and not again:
            flip(s, edge)
            trial[size] = edge
            size += 1
    return size


@njit(cache=True)
def at_once(s: State, move: int, v: int, trial: Any, rng: Any) -> int:
    """Make a move of several flips at v, and write them; return how many."""
    if move == TEMPLATE:
        return towards_template(s, v, trial, rng)
    size = 2 + int(rng.random() * 5)
    for i in range(size):
        trial[i] = edge_at(s, v, rng)
        flip(s, trial[i])
    return size


@njit(cache=True)
def one_of(s: State, v: int, rng: Any) -> Any:
    """Return an edge at or near v, where v is a node, or a deleted one, or any; or -1."""
    changed, m = s.tally[CHANGED], len(s.order)
    if v >= 0:
        if rng.random() < 0.5:
            edge = edge_at(s, v, rng)
            v = s.ends[edge, 0] + s.ends[edge, 1] - v
        return edge_at(s, v, rng)
    if rng.random() < 0.3 and changed > 0:
        return s.order[int(rng.random() * changed)]
    return s.order[changed + int(rng.random() * (m - changed))] if changed < m else -1


@njit(cache=True)
def make(s: State, move: int, v: int, swap: float, trial: Any, rng: Any) -> int:
    """Flip the edges of a proposal, near v if it is a node, and write them; return how many."""
    changed, m = s.tally[CHANGED], len(s.order)
    if move != NO_MOVE and v >= 0 and rng.random() < 0.2:
        return at_once(s, move, v, trial, rng)
    trial[0] = one_of(s, v, rng)
    if trial[0] < 0:
        return 0
    flip(s, trial[0])
    first, last = 0, changed
    if s.position[trial[0]] < changed:
        first, last = changed, m
    if first == last or rng.random() >= swap:
        return 1
    trial[1] = s.order[first + int(rng.random() * (last - first))]
    flip(s, trial[1])
    return 2


@njit(cache=True)
def list_alone(s: State, listed: Any) -> int:
    """Write who is alone and has edges in the input; return how many."""
    size = 0
    for v in range(len(s.degree)):
        alone = s.count[s.base[s.degree[v]] + s.triangles[v]] == 1
        if alone and s.start[v] < s.start[v + 1]:
            listed[size] = v
            size += 1
    return size


@njit(cache=True)
def anneal(s: State, plan: Any, move: int, stop: Any, best: Any, reached: Any, rng: Any) -> None:
    """Cool down over so many proposals; write the best state, by who is left, then by edits."""
    steps, hot, cold, price, swap = plan
    trial = np.empty(MOST, dtype=np.int64)
    listed = np.empty(len(s.degree), dtype=np.int64)
    size_of_list = 0
    for step in range(int(steps)):
        if stop and s.tally[LEFT] == 0:
            return
        if step % 256 == 0:
            size_of_list = list_alone(s, listed)
        near = size_of_list > 0 and rng.random() < 0.5
        v = listed[int(rng.random() * size_of_list)] if near else -1
        before, edits = s.energy[0], s.tally[CHANGED]
        size = make(s, move, v, swap, trial, rng)
        for i in range(size):
            record(s, trial[i])
        rise = s.energy[0] - before + price * (s.tally[CHANGED] - edits)
        temperature = hot * (cold / hot) ** (step / steps)
        if rise > 0 and rise > -temperature * math.log(1 - rng.random()):
            for i in range(size - 1, -1, -1):
                flip(s, trial[i])
                record(s, trial[i])
        elif (s.tally[LEFT], s.tally[CHANGED]) < (reached[0], reached[1]):
            reached[0], reached[1] = s.tally[LEFT], s.tally[CHANGED]
            best[:] = s.alive


def alone_in(s: State) -> Any:
    """Return who is alone now."""
    return np.flatnonzero(s.count[s.base[s.degree] + s.triangles] == 1)


def sacrifice(s: State, best: Any) -> None:
    """Go where those who are left in the best state have no ties; they count five from there."""
    go_to(s, best)
    alone = alone_in(s)
    if len(alone) > MOST:
        alone = alone[np.argsort(s.degree[alone])][: len(alone) // 2]
    go_to(s, best & ~np.isin(s.ends, alone).any(axis=1))
    s.weight[:] = 1
    s.weight[alone] = 5
    refill(s)


def tried(graph: gv.Graph, way: str, seed: int) -> dict[str, Any]:
    """Return the row of one run."""
    busy = time.process_time()
    s, rng = state_of(graph), np.random.default_rng(seed)
    refill(s)
    best, reached = s.alive.copy(), np.array([s.tally[LEFT], 0])
    move = {"template": TEMPLATE, "hub": HUB}.get(way, NO_MOVE)

    def cool(*plan: float, stop: bool = True) -> None:
        anneal(s, plan, move, stop, best, reached, rng)

    cool(FIRST, 0.3, 0.05, 0.15, 0.3)
    fewest, since, given_up = int(reached[0]), 0, 0
    for _ in range(ROUNDS):
        if reached[0] == 0:
            break
        if way in {"weights", "sacrifice"}:
            s.weight[alone_in(s)] += 1
            np.maximum(1, 0.97 * s.weight, out=s.weight)
            refill(s)
        cool(ROUND, 0.15, 0.05, 0.1, 0.3)
        since = 0 if reached[0] < fewest else since + 1
        fewest = int(reached[0])
        if way == "sacrifice" and since >= PATIENCE:
            sacrifice(s, best)
            since, given_up = 0, given_up + 1
    s.weight[:] = 1
    go_to(s, best)
    refill(s)
    if reached[0] == 0:
        for plan in ((BACK, 0.05, 0.005, 0.1, 0.5), (BACK, 0.1, 0.01, 0.1, 0.3)):
            cool(*plan, stop=False)
            go_to(s, best)
    edges = graph.edges()[best]
    result = gv.Graph.from_edges(edges[:, 0], edges[:, 1], n=graph.n_nodes)
    return {
        "way": way,
        "seed": seed,
        "left_before": left(graph, "count", 2),
        "left": left(result, "count", 2),
        "kept": result.n_edges / graph.n_edges,
        "sacrifices": given_up,
        "cpu_seconds": time.process_time() - busy,
    }


def main() -> None:
    """Measure what is missing, or print the rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--networks", nargs="*", choices=[*FILES], default=[*NETWORKS])
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    if arguments.table or arguments.data is None:
        for row in read_rows(RESULTS):
            print(
                f"{row['network']:18} {row['way']:10} seed {row['seed']}: {row['left']} left of "
                f"{row['left_before']}, {row['kept']:.3f} kept, {row['cpu_seconds']:.1f} s"
            )
        return
    tried(gv.datasets.load("copenhagen-calls"), "plain", 1)
    for name in arguments.networks:
        graph = read(name, arguments.data)
        for seed, way in product(range(1, arguments.seeds + 1), WAYS):
            key = f"{name}/{way}/{seed}"
            if key not in {row["key"] for row in read_rows(RESULTS)}:
                append_rows(RESULTS, {"key": key, "network": name} | tried(graph, way, seed))


if __name__ == "__main__":
    main()
