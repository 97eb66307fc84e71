# ruff: noqa: INP001  read by a script that is run by hand, not a package
"""Small inputs for every method: graphs, networks, users by features, and tables.

They are the same on every machine: nothing is downloaded, and random numbers have fixed seeds.
"""

from __future__ import annotations

import csv
import itertools
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import graphveil as gv


class Input(NamedTuple):
    """A file that methods run on: its tags, how it is read, and the roles of its attributes."""

    file: str
    tags: str
    lists: str = ""
    reading: str = ""
    roles: str = ""


Pairs = list[tuple[Any, Any]]


def random_source(seed: int) -> np.random.Generator:
    """Return a generator whose numbers are the same everywhere."""
    return np.random.Generator(np.random.PCG64(seed))


def path(n: int, start: int = 0) -> Pairs:
    """Return the edges of a path."""
    return [(start + i, start + i + 1) for i in range(n - 1)]


def clique(n: int, start: int = 0) -> Pairs:
    """Return the edges of a complete graph."""
    return list(itertools.combinations(range(start, start + n), 2))


def erdos_renyi(n: int, p: float, seed: int, start: int = 0) -> Pairs:
    """Return edges between independently chosen pairs of nodes."""
    every = clique(n, start)
    return list(itertools.compress(every, random_source(seed).random(len(every)) < p))


def preferential(n: int, m: int, seed: int) -> Pairs:
    """Return the edges of a graph in which each new node joins m nodes, by their degrees."""
    rng, ends, edges = random_source(seed), list(range(m)), []
    for node in range(m, n):
        chosen = sorted({ends[i] for i in rng.integers(0, len(ends), size=m).tolist()})
        edges += [(one, node) for one in chosen]
        ends += [*chosen, *[node] * len(chosen)]
    return edges


def ring(n: int, steps: int, p: float = 0.0, seed: int = 0) -> Pairs:
    """Return the edges of a circulant graph, some of them rewired with probability p."""
    rng, edges = random_source(seed), set()
    for i, step in itertools.product(range(n), range(1, steps + 1)):
        other = int(rng.integers(0, n)) if rng.random() < p else (i + step) % n
        edges.add((min(i, other), max(i, other)))
    return sorted(edge for edge in edges if edge[0] != edge[1])


def communities(sizes: Iterable[int], inside: float, between: float, seed: int) -> Pairs:
    """Return the edges of a planted partition."""
    block = np.repeat(np.arange(len(list(sizes))), list(sizes)).tolist()
    rng = random_source(seed)
    return [
        (i, j)
        for i, j in clique(len(block))
        if rng.random() < (inside if block[i] == block[j] else between)
    ]


def edge_lists() -> dict[str, Pairs]:
    """Return the edges of plain graphs by name."""
    crossing = [(i, 12 + j) for i in range(12) for j in range(i % 5 + 1)]
    grid = [(8 * r + c, 8 * r + c + 1) for r in range(6) for c in range(7)]
    grid += [(8 * r + c, 8 * r + c + 8) for r in range(5) for c in range(8)]
    chain = [edge for c in range(5) for edge in [*clique(6, 6 * c), (6 * c, (6 * c + 6) % 30)]]
    words = ["ann", "Bob", "cyd, jr", "d'or", "é", 'e "x"', "f;g", "zoë", "h i", "日本"]
    mixed = erdos_renyi(50, 0.1, 9)
    return {
        "edge": [(0, 1)],
        "path-12": path(12),
        "path-60": path(60),
        "star": [(0, i) for i in range(1, 21)],
        "cycle": ring(25, 1),
        "complete": clique(9),
        "er-sparse": erdos_renyi(60, 0.03, 1),
        "er-middle": erdos_renyi(80, 0.08, 2),
        "er-dense": erdos_renyi(40, 0.4, 3),
        "er-large": erdos_renyi(250, 0.014, 4),
        "tree": preferential(80, 1, 5),
        "preferential": preferential(100, 2, 6),
        "preferential-dense": preferential(140, 4, 7),
        "small-world": ring(60, 2, 0.1, 8),
        "small-world-loose": ring(70, 3, 0.4, 8),
        "clique-tail": clique(8) + path(11, 7),
        "cliques-ring": chain,
        "disconnected": [*erdos_renyi(20, 0.2, 1), *erdos_renyi(25, 0.15, 2, 20), *clique(4, 50)],
        "matching": [(2 * i, 2 * i + 1) for i in range(15)],
        "bipartite": crossing,
        "bipartite-complete": [(i, 5 + j) for i in range(5) for j in range(12)],
        "regular": ring(40, 3),
        "grid": grid,
        "binary-tree": [((i - 1) // 2, i) for i in range(1, 63)],
        "communities": communities((20, 25, 15), 0.3, 0.02, 10),
        "big-ids": [(910_000_000_019 + 1_000_003 * i, 7 * j) for i, j in mixed],
        "text-ids": [(f"person-{7 * i}", f"person-{7 * j}") for i, j in mixed],
        "odd-ids": [(words[i], words[j]) for i, j in erdos_renyi(10, 0.5, 11)],
    }


def write_csv(
    file: Path, header: str, rows: Iterable[Iterable[object]], delimiter: str = ","
) -> None:
    """Write rows under a header of words."""
    with file.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target, delimiter=delimiter, lineterminator="\n")
        writer.writerows([header.split(), *rows])


def graphs(folder: Path) -> Iterator[Input]:
    """Write plain graphs."""
    for name, edges in edge_lists().items():
        rows = " graph-as-rows" if name in {"preferential", "text-ids", "er-dense"} else ""
        write_csv(folder / f"{name}.csv", "source target", edges)
        yield Input(f"{name}.csv", "graph" + rows)
    hub = [(0, i) for i in range(1, 16)] + [(1, 2), (3, 4), (1, 5)]
    write_csv(folder / "hub-isolated.csv", "source target", hub)
    write_csv(folder / "hub-isolated-nodes.csv", "id", ([i] for i in range(30)))
    yield Input("hub-isolated.csv", "graph", "--nodes @/hub-isolated-nodes.csv")
    write_csv(folder / "tabs.tsv", "source target", preferential(50, 3, 12), "\t")
    yield Input("tabs.tsv", "graph")
    shutil.copy(gv.datasets.path_of("copenhagen-calls"), folder / "calls.csv")
    yield Input("calls.csv", "graph")


def attributes(n: int, seed: int) -> dict[str, list[str]]:
    """Return columns of n people; some cells are suppressed, and small n has a rare value."""
    rng = random_source(seed)
    sex = [("f", "m")[code] for code in rng.integers(0, 2, size=n)]
    zips = [f"z, {code}" for code in rng.integers(0, 2, size=n)]
    zips[7] = "far away" if n < 45 else zips[7]
    sex[11:14], zips[11:14] = ["*"] * 3, ["*"] * 3
    return {"sex": sex, "zip": zips, "town": [f"t{code}" for code in rng.integers(0, 3, size=n)]}


def people_file(file: Path, n: int, seed: int) -> str:
    """Write a list of nodes with attributes, and return the words that read it."""
    columns = attributes(n, seed)
    write_csv(file, "id sex zip town", zip(range(n), *columns.values(), strict=True))
    return f"--nodes @/{file.name}"


def arcs_of(edges: Pairs) -> Pairs:
    """Return arcs one way, the other way, and both ways, in turn."""
    turned = [[(i, j)] * (t != 1) + [(j, i)] * (t != 0) for (i, j), t in thirds(edges)]
    return list(itertools.chain.from_iterable(turned))


def thirds(edges: Pairs) -> Iterator[tuple[tuple[Any, Any], int]]:
    """Yield every edge with 0, 1 or 2, in turn."""
    return zip(edges, itertools.cycle(range(3)), strict=False)


def graphml(file: Path, n: int, edges: Pairs, *, directed: bool) -> None:
    """Write a network with attributes as GraphML."""
    columns = attributes(n, len(edges))
    keys = [f'<key id="{k}" for="node" attr.name="{k}" attr.type="string"/>' for k in columns]
    said = [[f'<data key="{k}">{v[i]}</data>' for k, v in columns.items()] for i in range(n)]
    nodes = [f'<node id="p{i}">{"".join(data)}</node>' for i, data in enumerate(said)]
    ties = [f'<edge source="p{i}" target="p{j}"/>' for i, j in edges]
    kind = "directed" if directed else "undirected"
    start = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    head = [start, *keys, f'<graph edgedefault="{kind}">']
    file.write_text("\n".join([*head, *nodes, *ties, "</graph></graphml>"]), encoding="utf-8")


def pajek(file: Path, n: int, relations: dict[str, Pairs], partitions: Iterable[str] = ()) -> None:
    """Write a network as Pajek: headings and their ties, and partitions into three clusters."""
    lines = [f"*Vertices {n}", *(f'{i + 1} "v{i}"' for i in range(n))]
    for heading, ties in relations.items():
        lines += [heading, *(f"{i + 1} {j + 1}" for i, j in ties)]
    for seed, name in enumerate(partitions):
        clusters = random_source(seed).integers(0, 2 + seed, size=n).tolist()
        lines += [f"*Partition {name}", f"*Vertices {n}", *map(str, clusters)]
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")


ROLES = "--known sex,zip --attach town"


def networks(folder: Path) -> Iterator[Input]:
    """Write networks with attributes, directions and several kinds of edges."""
    one = "network undirected attributes"
    small, large = erdos_renyi(40, 0.12, 20), preferential(80, 2, 21)
    for name, edges in {"small": small, "large": large}.items():
        n = 1 + max(map(max, edges)) + 2  # the last two people have no edges
        nodes = people_file(folder / f"{name}-people.csv", n, n)
        write_csv(folder / f"register-{name}.csv", "source target", edges)
        yield Input(f"register-{name}.csv", one, nodes, roles=ROLES)
        write_csv(folder / f"votes-{name}.csv", "source target", arcs_of(edges))
        keep = "network directed profile attributes"
        yield Input(f"votes-{name}.csv", keep, nodes, roles=ROLES)
        kinds = [(*edge, ("call", "mail", "family")[t]) for edge, t in thirds(arcs_of(edges))]
        undirected = [edge for edge in kinds if edge[2] != "family" or edge[0] < edge[1]]
        write_csv(folder / f"contacts-{name}.csv", "source target kind", undirected)
        words = "--kind-column kind --directed keep --undirected family"
        tags = "network kinds profile attributes"
        yield Input(f"contacts-{name}.csv", tags, nodes, words, ROLES)
    bare = arcs_of(ring(50, 2, 0.3, 22))
    write_csv(folder / "bare-arcs.csv", "source target", bare)
    yield Input("bare-arcs.csv", "network directed")
    graphml(folder / "people.graphml", 45, erdos_renyi(45, 0.1, 23), directed=False)
    yield Input("people.graphml", one, roles=ROLES)
    graphml(folder / "arcs.graphml", 50, arcs_of(erdos_renyi(50, 0.08, 24)), directed=True)
    yield Input("arcs.graphml", "network directed profile attributes", roles=ROLES)
    pajek(folder / "arcs.net", 40, {"*Arcs": arcs_of(preferential(40, 2, 25))})
    yield Input("arcs.net", "network directed")
    pajek(folder / "groups.net", 50, {"*Edges": ring(50, 2, 0.2, 26)}, ["sex", "zip", "town"])
    yield Input("groups.net", one, roles=ROLES)
    relations = {'*Arcs :1 "calls"': arcs_of(small), '*Edges :2 "friends"': path(40)}
    pajek(folder / "kinds.net", 40, relations)
    yield Input("kinds.net", "network kinds", reading="--kind-column relation --directed keep")


def lists_of(shares: Iterable[float], n: int, seed: int) -> list[list[str]]:
    """Return the items of n users, each item held by about a share of them."""
    shares = list(shares)
    held = random_source(seed).random((n, len(shares))) < np.array(shares)
    return [[f"i{i:02d}" for i in np.flatnonzero(row)] for row in held]


def zipf(items: int, top: float) -> list[float]:
    """Return shares that fall as one over the rank."""
    return [top / (1 + i) for i in range(items)]


def item_lists() -> dict[str, list[list[str]]]:
    """Return what users have, by the name of the data."""
    odd = {"i00": "rye, dark", "i01": '"mint"', "i02": " oil", "i03": "thé"}
    varied = lists_of([0.4] * 9, 45, 30)
    return {
        "popular": [["bread", *row] for row in lists_of([0.3] * 8, 40, 31)],
        "equal-rows": varied[:8] + [varied[0]] * 12 + [varied[1]] * 9,
        "zipf-60": lists_of(zipf(20, 0.9), 60, 32),
        "zipf-200": lists_of(zipf(40, 0.8), 200, 33),
        "dense": lists_of([0.7] * 10, 50, 34),
        "sparse": lists_of([0.06] * 30, 80, 35),
        "own-items": [[f"i{i}"] + ["all"] * (i % 3 > 0) for i in range(30)],
        "two-blocks": lists_of([0.6] * 6, 20, 36) + [["x", *row] for row in varied[:20]],
        "odd-names": [[odd.get(item, item) for item in row] for row in varied],
        "one-item": [["only"]] * 12,
    }


def features(folder: Path) -> Iterator[Input]:
    """Write users and their items."""
    tags, things = "rows features", "--items things"
    lists = item_lists()
    for name, rows in lists.items():
        pairs = [(user, item) for user, row in enumerate(rows) for item in row]
        write_csv(folder / f"{name}.csv", "user item", pairs)
        yield Input(f"{name}.csv", tags, reading=things)
    sparse = lists["sparse"]
    write_csv(folder / "empty-users.csv", "user", ([user] for user in range(len(sparse))))
    pairs = [(user, item) for user, row in enumerate(sparse) for item in row]
    write_csv(folder / "empty.csv", "user item", pairs)
    yield Input("empty.csv", tags, "--users @/empty-users.csv", things)
    lines = [" ".join([f"u{user}", *row]) for user, row in enumerate(lists["dense"])]
    (folder / "lines.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
    yield Input("lines.txt", tags, reading=f"{things} --layout lists")
    for name, seed, n in (("lists", 37, 60), ("lists-large", 38, 300), ("lists-text", 39, 90)):
        rows = lists_of(zipf(16, 0.8), n, seed)
        users = random_source(seed).permutation(n) + 100
        ids = [f"u-{user}" for user in users] if name == "lists-text" else users.tolist()
        parquet.write_table(pa.table({"user": ids, "items": rows}), folder / f"{name}.parquet")
        yield Input(f"{name}.parquet", f"{tags} spark", reading=things)
    shutil.copy(gv.datasets.path_of("spect-heart"), folder / "heart.csv")
    yield Input("heart.csv", tags, reading=things)


def codes(sizes: Iterable[int], n: int, seed: int) -> list[list[str]]:
    """Return n rows of cells, with so many values in each column."""
    rng = random_source(seed)
    columns = [[f"v{code}" for code in rng.integers(0, size, size=n)] for size in sizes]
    return [list(row) for row in zip(*columns, strict=True)]


def tables(folder: Path) -> Iterator[Input]:
    """Write tables of categories."""
    stars = codes((2, 3, 4), 40, 40)
    for row in stars[::7]:
        row[1:] = ["*", "*"]
    rare = [["v0"] * 4] * 25 + codes((2, 2, 2, 9), 12, 41)
    skewed = [[min(cell, "v2") for cell in row] for row in codes((9, 9, 9, 9), 50, 42)]
    for header, rows in {
        "narrow-a narrow-b": codes((3, 4), 50, 43),
        "wide-" + " wide-".join(map(str, range(15))): codes([2] * 15, 40, 44),
        "star-a star-b star-c": stars,
        "constant-a b c": codes((1, 3, 3), 45, 45),
        "age=x zip=code of=age": codes((4, 5, 2), 40, 46),
        "rare-a b c d": rare,
        "skewed-a b c d": skewed,
        "many-values b c": codes((30, 12, 2), 60, 47),
        "equal-a b": [["x", "y"]] * 9 + [["x", "z"]] * 8,
    }.items():
        name = f"table-{header.split()[0].replace('=', '-')}.csv"
        write_csv(folder / name, header, rows)
        yield Input(name, "rows table", reading="--kind table --person row")
    for n, most in ((30, 3), (40, 5), (60, 9)):
        wishes = random_source(n).integers(1, most, size=n).astype(str).tolist()
        rows = [[*row, wish] for row, wish in zip(codes((2, 4, 3), n, 49), wishes, strict=True)]
        write_csv(folder / f"table-wishes-{n}.csv", "sex zip town want", rows)
        yield Input(f"table-wishes-{n}.csv", "wishes", reading="--kind table --person row")
    named = [[f"person {i}", *row] for i, row in enumerate(codes((2, 3, 3), 40, 50))]
    write_csv(folder / "table-ids.csv", "name a b c", named)
    yield Input("table-ids.csv", "rows table ids", reading="--kind table --ids name")
    adult = gv.datasets.path_of("adult-sample").read_text(encoding="utf-8").splitlines()
    (folder / "adult.csv").write_text("\n".join([*adult[:201], ""]), encoding="utf-8")
    yield Input("adult.csv", "rows table", reading="--kind table --person row --categories ?")


def write_inputs(folder: Path) -> list[Input]:
    """Write every input, and the key that ids can be made with, into a folder."""
    key = folder / "people.key"
    key.write_text("0123456789abcdef" * 4)
    key.chmod(0o600)
    every = (graphs, networks, features, tables)
    return [item for write in every for item in write(folder)]
