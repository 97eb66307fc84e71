"""Which released rows are equal or agree, which nodes look the same: from the tables.

Rows agree if no column has one value in one of them and a different value in the other. Many edges
are compared in buckets on the disk, by the range of ids that their smaller end is in. Nodes look
the same by every measure; nothing is decided by a hash: values are compared whole, subgraphs by
isomorphism.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.text import counted
from graphveil.verify.database import Database, literal
from graphveil.verify.recount.neighborhoods import (
    Ints,
    ReleasedBall,
    ReleasedNetwork,
    Shapes,
    Work,
    balls,
    network_of,
    surroundings,
)

_TABLES = """
    CREATE TABLE items AS SELECT item, row_number() OVER (ORDER BY item) AS number
        FROM (SELECT DISTINCT item FROM entries);
    CREATE TABLE numbered AS SELECT person, number FROM entries JOIN items USING (item);
    CREATE TABLE some_rows AS SELECT person, list_sort(list(number)) AS features
        FROM numbered GROUP BY person;
    CREATE TABLE all_rows AS SELECT person, coalesce(features, []) AS features
        FROM users LEFT JOIN some_rows USING (person);
    CREATE TABLE classes AS SELECT row_number() OVER () AS class, features, size, first_user
        FROM (SELECT features, count(*) AS size, min(person) AS first_user
              FROM all_rows GROUP BY features);
    CREATE TABLE members AS SELECT person, class FROM all_rows JOIN classes USING (features);
    DROP TABLE some_rows;
    DROP TABLE all_rows;
"""
_OF_LISTS = """
    CREATE TABLE list_classes AS SELECT items, count(*) AS size, min(person) AS first_user
    FROM lists GROUP BY items
"""
_COUNTS_OF_LISTS = """
    SELECT coalesce(sum(size), 0), coalesce(sum(size * len(items)), 0),
        (SELECT count(DISTINCT item) FROM (SELECT unnest(items) AS item FROM list_classes))
    FROM list_classes
"""
_FIRST_OF_LISTS = "FROM list_classes ORDER BY size, first_user LIMIT 1"
_TRUE_OF_CLASS = """
    CREATE TABLE true_of AS SELECT class, number, count(*) AS holders
    FROM had JOIN features USING (feature) JOIN items USING (item) JOIN members USING (person)
    GROUP BY class, number
"""
_PUBLISHED = """
    CREATE TABLE published AS
    SELECT class, size, first_user, item, coalesce(holders, 0) AS holders
    FROM (SELECT class, size, first_user, unnest(features) AS number FROM classes)
    JOIN items USING (number) LEFT JOIN true_of USING (class, number)
"""
_MOST_SHOWN = 5


class EqualClasses(NamedTuple):
    """How many rows and classes of equal rows there are, and of those below k; 0 for none."""

    rows: int
    number: int
    smallest: int
    rows_below: int
    below: int


def equal_classes(db: Database, sizes: str, k: int) -> EqualClasses:
    """Return what the classes come to whose sizes a table has."""
    row = db.first(
        "SELECT sum(size), count(*), min(size), sum(CASE WHEN size < $1 THEN size END), "
        f"count(CASE WHEN size < $1 THEN 1 END) FROM {sizes}",
        [k],
    )
    return EqualClasses(*(int(number or 0) for number in row or (0,) * 5))


def classes_of(db: Database) -> None:
    """Create `classes(class, features, size, first_user)` and `members(person, class)` once.

    The features of a class are numbers of `items(item, number)`; those of the entries stand in
    `numbered(person, number)`.
    """
    if not db.holds("members"):
        db.run(_TABLES)


def sizes_of_classes(db: Database) -> str:
    """Return the table of the sizes of classes, which is made where it is not there.

    Rows that are lists are grouped as they stand: nothing is kept of each.
    """
    if not db.holds("lists"):
        classes_of(db)
        return "classes"
    if not db.holds("list_classes"):
        db.run(_OF_LISTS)
    return "list_classes"


def counts_of_lists(db: Database) -> dict[str, int]:
    """Return how many users, items and entries `lists(person, items)` has."""
    sizes_of_classes(db)
    users, entries, items = db.first(_COUNTS_OF_LISTS) or (0, 0, 0)
    return {"users": int(users), "items": int(items), "entries": int(entries)}


def smallest_class(db: Database) -> tuple[int, list[int]]:
    """Return the features of the smallest class, of the least user id among equals, and members."""
    if sizes_of_classes(db) == "list_classes":
        features = db.number(f"SELECT len(items) {_FIRST_OF_LISTS}")
        its = f"SELECT person FROM lists WHERE items = (SELECT items {_FIRST_OF_LISTS})"
        members = db.rows(f"{its} ORDER BY person LIMIT {_MOST_SHOWN}")
    else:
        number, features = db.first(
            "SELECT class, len(features) FROM classes ORDER BY size, first_user LIMIT 1"
        ) or (0, 0)
        its = "SELECT person FROM members WHERE class = ?"
        members = db.rows(f"{its} ORDER BY person LIMIT {_MOST_SHOWN}", [number])
    return int(features), [int(person) for (person,) in members]


def publish_pairs(db: Database) -> None:
    """Create `published(class, size, first_user, item, holders)` where it is not there yet.

    A row is a class and one of its features; `holders` of its members have it in the original,
    whose tables must be there.
    """
    classes_of(db)
    if not db.holds("published"):
        db.run(_TRUE_OF_CLASS)
        db.run(_PUBLISHED)


_KEPT = """
    CREATE TABLE kept AS SELECT person, number
    FROM had JOIN features USING (feature) JOIN items USING (item)
    SEMI JOIN numbered USING (person, number)
"""


def find_kept(db: Database) -> None:
    """Create `kept(person, number)`, the entries of both, where it is not there yet.

    `had(person, feature)` and `features(feature, item)` must be there: the original, linked.
    """
    classes_of(db)
    if not db.holds("kept"):
        db.run(_KEPT)


Codes = NDArray[np.int32]

STAR = -1
"""The code of a suppressed cell, which agrees with every value."""

MOST_COMPARISONS = 500_000_000
"""Of pairs of rows: some seconds. Where more rows differ, they are not compared."""

_CELLS = 1 << 24


def coded_alone(db: Database, columns: Sequence[int]) -> Codes:
    """Return released cells as codes of their values, shape (n, columns), of columns by number."""
    codes = []
    for number in columns:
        order = f"dense_rank() OVER (ORDER BY c{number} NULLS FIRST)"
        first = f"CASE WHEN c{number} IS NULL THEN {STAR} ELSE {order} END"
        codes.append(db.column(f"SELECT {first} FROM shown ORDER BY row"))
    return np.column_stack(codes).astype(np.int32)


def fewest_agreeing(codes: Codes, *, enough: int) -> tuple[int, int] | None:
    """Return a row that agrees with fewest rows, itself counted, and their number."""
    if not codes.shape[0]:
        return 0, enough
    kinds, first, sizes = np.unique(codes, axis=0, return_index=True, return_counts=True)
    rare = np.flatnonzero(sizes < enough)
    if not rare.size:
        return int(first[np.argmin(sizes)]), int(sizes.min())
    if int(rare.size) * int(kinds.size) > MOST_COMPARISONS:
        return None
    agreeing = np.empty(rare.size, dtype=np.int64)
    step = max(1, _CELLS // len(kinds))
    for start in range(0, rare.size, step):
        some = kinds[rare[start : start + step]]
        agree = np.ones((some.shape[0], kinds.shape[0]), dtype=bool)
        for own, all_of in zip(some.T, kinds.T, strict=True):
            agree &= (
                (own[:, None] == all_of[None, :])
                | (own == STAR)[:, None]
                | (all_of == STAR)[None, :]
            )
        agreeing[start : start + step] = agree @ sizes
    least = int(np.argmin(agreeing))
    return int(first[rare[least]]), int(agreeing[least])


Keys = NDArray[np.int64]

MOST_AT_ONCE = 1 << 24
"""Up to so many edges are compared at once, in tables."""

MOST_IDS = 1 << 31
"""Published ids are below this, where they are compared in buckets."""

BUCKET_EDGES = 1 << 23
MOST_BUCKETS = 400
_BLOCK = 1 << 21
_BITS = 32
_LOW = (1 << _BITS) - 1


def link_in_buckets(
    db: Database, lists: tuple[NDArray[np.int64], NDArray[np.int32]], released: NDArray[np.int64]
) -> None:
    """Create `placed(u, v)`, a view of a file, and `missing(source, target)` of lost edges."""
    cuts = _cuts(released.size, lists[1].size // 2)
    original = _divided(db.scratch, "original", _placed(lists, released), cuts)
    published = _divided(db.scratch, "released", _published(db), cuts)
    missing = [np.empty(0, dtype=np.int64)]
    file = db.scratch / "placed.parquet"

    def kept() -> Iterator[Keys]:
        for mine, theirs in zip(original, published, strict=True):
            keys, there = (np.sort(np.fromfile(path, dtype=np.int64)) for path in (mine, theirs))
            missing.append(_only_in(keys, there))
            mine.unlink()
            theirs.unlink()
            yield keys

    _write(kept(), file)
    db.run(f"CREATE VIEW placed AS SELECT u, v FROM read_parquet({literal(str(file))})")
    lost = np.concatenate(missing)
    db.put("missing", {"source": lost >> _BITS, "target": lost & _LOW})


def _cuts(n_nodes: int, n_edges: int) -> Keys:
    """Return where buckets end, as keys: of random ids the low ones are smaller ends more often."""
    n_buckets = min(MOST_BUCKETS, max(1, -(-n_edges // BUCKET_EDGES)))
    shares = 1 - np.sqrt(1 - np.arange(1, n_buckets + 1) / n_buckets)
    ends: Keys = np.ceil(shares * n_nodes).astype(np.int64) << _BITS
    ends[-1] = np.iinfo(np.int64).max
    return ends


def _placed(
    lists: tuple[NDArray[np.int64], NDArray[np.int32]], released: NDArray[np.int64]
) -> Iterator[Keys]:
    """Yield the original's edges under their published ids, some at a time, each once."""
    indptr, indices = lists
    inner = np.searchsorted(indptr, np.arange(_BLOCK, int(indptr[-1]), _BLOCK))
    starts = np.unique(np.concatenate([[0], inner, [indptr.size - 1]])).tolist()
    for start, stop in pairwise(starts):
        here = indices[indptr[start] : indptr[stop]]
        owner = np.repeat(np.arange(start, stop), np.diff(indptr[start : stop + 1]))
        later = here > owner
        one, other = released[owner[later]], released[here[later]]
        yield (np.minimum(one, other) << _BITS) | np.maximum(one, other)


def _published(db: Database) -> Iterator[Keys]:
    """Yield the released edges, some at a time."""
    for block in db.blocks("SELECT source, target FROM edges", _BLOCK):
        source, target = (column.to_numpy(zero_copy_only=False) for column in block.columns)
        usual = (source < MOST_IDS) & (target < MOST_IDS)  # no others are ids of a linkage
        yield (source[usual] << _BITS) | target[usual]


def _divided(folder: Path, name: str, blocks: Iterable[Keys], ends: Keys) -> list[Path]:
    """Write keys into files by the range that they are in, and return these in order."""
    paths = [folder / f"{name}-{number:04d}" for number in range(ends.size)]
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for block in blocks:
            keys = np.sort(block)
            parts = pairwise([0, *np.searchsorted(keys, ends).tolist()])
            for file, (start, stop) in zip(files, parts, strict=True):
                if stop > start:
                    keys[start:stop].tofile(file)
    return paths


def _only_in(keys: Keys, others: Keys) -> Keys:
    """Return those of some keys that are not among others; both are in order."""
    if not others.size:
        return keys
    at = np.minimum(np.searchsorted(others, keys), others.size - 1)
    only: Keys = keys[others[at] != keys]
    return only


def _write(buckets: Iterable[Keys], path: Path) -> None:
    """Write edges into a file of the checker's own, one that SQL reads."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and few checks need it
    from pyarrow import parquet  # noqa: PLC0415  as above

    schema: Any = pa.schema([("u", pa.int64()), ("v", pa.int64())])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for keys in buckets:
            for start in range(0, max(keys.size, 1), _BLOCK):
                some = keys[start : start + _BLOCK]
                columns = [pa.array(some >> _BITS), pa.array(some & _LOW)]
                writer.write_table(pa.table(columns, schema=schema))


MOST_STEPS = 1_000_000
"""Pairs of nodes that may be tried to map one subgraph onto another, before it is given up."""

_VALUES_SHOWN = 8

_NUMBERS = """
    SELECT nodes.node AS node, coalesce(ties, 0) AS ties FROM nodes
    LEFT JOIN (
        SELECT node, count(*) AS ties FROM ({ends}) WHERE layer = {layer} GROUP BY node) AS counted
    ON nodes.node = counted.node
    ORDER BY nodes.node, ties
"""
_SIDES = {
    "out": "SELECT source AS node, layer FROM edges",
    "in": "SELECT target AS node, layer FROM edges",
}
NO_LAYERS: Mapping[str, bool] = MappingProxyType({})
"""What a graph has."""

_BOTH = {"": " UNION ALL ".join(_SIDES.values())}
"""The ends of edges that are counted: of a directed layer one side and then the other."""

_DEGREES = (
    """
    CREATE TABLE ends AS
    SELECT node, count(*) AS degree
    FROM (SELECT source AS node FROM edges UNION ALL SELECT target FROM edges)
    GROUP BY node
    """,
    """
    CREATE TABLE degrees AS
    SELECT nodes.node, coalesce(ends.degree, 0) AS degree
    FROM nodes LEFT JOIN ends ON nodes.node = ends.node
    """,
    "DROP TABLE ends",
)
"""In steps, since a count and a join in one keep the tables of both in memory."""


class EquivalenceClassIndex(NamedTuple):
    """The released nodes in classes."""

    nodes: Ints
    labels: Ints
    words: Callable[[int], str]
    kinds: str
    remark: str = ""
    network: ReleasedNetwork | None = None

    def among(self, rows: Ints, known: tuple[str, ...]) -> EquivalenceClassIndex:
        """Return the classes of nodes that have also the same row of attributes."""
        listed = ", ".join(known)
        return self._replace(
            labels=_joined(rows, self.labels),
            words=lambda position: f"equal {listed} and {self.words(position)}",
            kinds=f"distinct combinations of {listed} and {self.kinds.removeprefix('distinct ')}",
        )


def alike(
    db: Database, measure: str, distance: int, layers: Mapping[str, bool] = NO_LAYERS
) -> EquivalenceClassIndex | None:
    """Return the classes under a measure, or None where the release is not a simple graph.

    Degrees are counted whatever the graph, an edge that stands twice twice.
    """
    if measure == "degree":
        return _alike_in_degree(db)
    if measure == "profile":
        return _alike_in_profile(db, layers)
    if measure == "directed-count":
        return _alike_in_surroundings(db)
    network = network_of(db)
    if network is None:
        return None
    labels, given_up = _LABELS[measure](network, distance)
    words = partial(_in_words, network, measure, distance)
    kinds = f"distinct values of {measure} at distance {distance}"
    undecided = f"{given_up} pairs of pieces are undecided after {MOST_STEPS} steps"
    remark = f"; {undecided} and count as different" if given_up else ""
    return EquivalenceClassIndex(np.arange(network.n), labels, words, kinds, remark, network)


def labels_of(indptr: NDArray[Any], indices: NDArray[Any], measure: str) -> Ints:
    """Return the class of every node of a valid graph under a measure that reaches one hop."""
    network = ReleasedNetwork(indptr.astype(np.int64), indices.astype(np.int64), Work(2**62))
    return network.degrees() if measure == "degree" else _LABELS[measure](network, 1)[0]


def similar(network: ReleasedNetwork, phi: float) -> Ints:
    """Return how many nodes are in the box of every node, itself included.

    In the box of a node are those whose degree and triangles are each at most phi percent of its
    own away, in whole numbers.
    """
    degrees, triangles = network.degrees(), _triangles_of(network)
    share = Fraction(str(phi)) / 100
    part, whole = share.numerator, share.denominator
    pairs, label, counts = np.unique(
        np.stack((degrees, triangles)), axis=1, return_inverse=True, return_counts=True
    )
    sizes = []
    for degree, closed in pairs.T.tolist():
        first = np.searchsorted(pairs[0] * whole, degree * (whole - part), side="left")
        last = np.searchsorted(pairs[0] * whole, degree * (whole + part), side="right")
        near = np.abs(pairs[1, first:last] - closed) * whole <= part * closed
        sizes.append(int(counts[first:last][near].sum()))
    return np.array(sizes, dtype=np.int64)[label.ravel()]


def class_sizes(db: Database) -> dict[int, int]:
    """Return the number of nodes of every degree that occurs; isolated nodes have degree 0."""
    count_degrees(db)
    return dict(db.rows("SELECT degree, count(*) FROM degrees GROUP BY degree ORDER BY degree"))


def count_degrees(db: Database) -> None:
    """Create `degrees(node, degree)` where it is not there yet."""
    if not db.holds("degrees"):
        for step in _DEGREES:
            db.run(step)


def _alike_in_degree(db: Database) -> EquivalenceClassIndex:
    count_degrees(db)
    nodes = db.column("SELECT node FROM degrees ORDER BY node, degree")
    degrees = db.column("SELECT degree FROM degrees ORDER BY node, degree")
    return EquivalenceClassIndex(
        nodes, degrees, lambda position: f"degree {degrees[position]}", "distinct degrees"
    )


def numbers_of_ties(db: Database, layer: str, side: str) -> Ints:
    """Return how many edges of a layer everyone has, ascending by id."""
    ends = (_SIDES if side else _BOTH)[side]
    numbers_of = _NUMBERS.format(ends=ends, layer=literal(layer))
    numbers: Ints = db.column(f"SELECT ties FROM ({numbers_of})")
    return numbers


def sides_of(layers: Mapping[str, bool]) -> list[tuple[str, str]]:
    """Return every layer, with each side of it that is counted."""
    sides = [(name, _SIDES if is_directed else _BOTH) for name, is_directed in layers.items()]
    return [(name, side) for name, of_layer in sides for side in of_layer]


def _alike_in_profile(db: Database, layers: Mapping[str, bool]) -> EquivalenceClassIndex:
    """Return the classes of nodes with the same numbers of edges of every layer and side."""
    sides = sides_of(layers)
    numbers = [numbers_of_ties(db, *side) for side in sides]
    labels = np.zeros_like(numbers[0])
    for each in numbers:
        labels = _joined(labels, each)

    def words(position: int) -> str:
        if [*layers] == [""]:
            return f"out-degree {numbers[0][position]} and in-degree {numbers[1][position]}"
        each = zip(sides, numbers, strict=True)
        return ", ".join(
            f"{layer} {f'{side}-degree' if side else 'degree'} {counted[position]}"
            for (layer, side), counted in each
        )

    return EquivalenceClassIndex(
        db.column("SELECT node FROM nodes ORDER BY node"),
        labels,
        words,
        "distinct pairs of out-degree and in-degree"
        if [*layers] == [""]
        else "distinct combinations of degrees by layer",
    )


def _alike_in_surroundings(db: Database) -> EquivalenceClassIndex | None:
    """Return the classes of nodes with the same directed edges, neighbors and edges among these."""
    around = surroundings(db)
    if around is None:
        return None
    labels = np.zeros_like(around.out)
    for numbers in around:
        labels = _joined(labels, numbers)
    nodes = np.arange(labels.size)
    return EquivalenceClassIndex(
        nodes,
        labels,
        around.words,
        "distinct combinations of out-degree, in-degree, number of neighbors and edges among them",
    )


def _count(network: ReleasedNetwork, distance: int) -> tuple[Ints, int]:
    return _joined(*_sizes_of_balls(network, distance)), 0


def _degree_distribution(network: ReleasedNetwork, distance: int) -> tuple[Ints, int]:
    """Compare degrees inside; at distance 1 the center's own is the length of its list."""
    if distance == 1:
        return _equal(_sorted_rows(network, network.common_neighbors)), 0
    return _of_balls(network, distance, lambda ball: _histogram(ball.degrees())), 0


def _vrq(network: ReleasedNetwork, distance: int) -> tuple[Ints, int]:
    """Compare degrees in the graph; at distance 1 the center's own is the length of its list."""
    degrees = network.degrees()
    if distance == 1:
        return _equal(_sorted_rows(network, degrees[network.indices])), 0
    return _of_balls(network, distance, lambda ball: _histogram(degrees[ball.nodes])), 0


def _dk(network: ReleasedNetwork, distance: int) -> tuple[Ints, int]:
    """Compare subgraphs by isomorphism, among nodes whose pairs (distance, degree inside) agree.

    At distance 1 these decide where a node has at most three neighbors, and where none or all
    of its neighbors are linked.
    """
    if distance > 1:
        coarse = _of_balls(
            network, distance, lambda ball: _histogram(ball.hops * ball.nodes.size + ball.degrees())
        )
        return _split_by_shape(network, distance, coarse, np.bincount(coarse)[coarse] > 1)
    coarse, _ = _degree_distribution(network, 1)
    degrees, edges = network.degrees(), _sizes_of_balls(network, 1)[1]
    decided = (degrees <= 3) | (edges == degrees) | (edges == degrees * (degrees + 1) // 2)
    return _split_by_shape(network, 1, coarse, (np.bincount(coarse)[coarse] > 1) & ~decided)


def _split_by_shape(
    network: ReleasedNetwork, distance: int, coarse: Ints, undecided: NDArray[np.bool_]
) -> tuple[Ints, int]:
    """Return the classes with those of undecided nodes split by shape, and the pairs given up."""
    shape = np.zeros(network.n, dtype=np.int64)
    given_up = 0
    positions = np.flatnonzero(undecided)
    positions = positions[np.argsort(coarse[positions], kind="stable")]
    for members in np.split(positions, np.flatnonzero(np.diff(coarse[positions])) + 1):
        shapes = Shapes(MOST_STEPS, network.work)
        some, at = _representatives(network, members)
        numbers = [shapes.number(ball) for ball in balls(network, some, distance)]
        shape[members] = np.array(numbers, dtype=np.int64)[at]
        given_up += shapes.given_up
    return _joined(coarse, shape), given_up


def _hybrid(network: ReleasedNetwork, distance: int) -> tuple[Ints, int]:
    shapes, given_up = _dk(network, distance)
    return _joined(shapes, _vrq(network, distance)[0]), given_up


_LABELS: dict[str, Callable[[ReleasedNetwork, int], tuple[Ints, int]]] = {
    "count": _count,
    "edge-count": lambda network, distance: (_sizes_of_balls(network, distance)[1], 0),
    "degree-distribution": _degree_distribution,
    "dk": _dk,
    "vrq": _vrq,
    "hybrid": _hybrid,
}
"""Classes of all nodes, and how many comparisons were given up, by measure."""


def _sizes_of_balls(network: ReleasedNetwork, distance: int) -> tuple[Ints, Ints]:
    """Return how many nodes and edges are within a distance of every node."""
    if distance == 1:
        return network.degrees() + 1, network.degrees() + _triangles_of(network)
    some, at = _representatives(network, np.arange(network.n))
    sizes = [(ball.nodes.size, ball.edges) for ball in balls(network, some, distance)]
    nodes, edges = np.array(sizes, dtype=np.int64).reshape(-1, 2)[at].T
    return nodes, edges


def _triangles_of(network: ReleasedNetwork) -> Ints:
    """Return in how many triangles every node is."""
    sums = np.concatenate([[0], np.cumsum(network.common_neighbors)])
    triangles: Ints = (sums[network.indptr[1:]] - sums[network.indptr[:-1]]) // 2
    return triangles


def _of_balls(
    network: ReleasedNetwork, distance: int, value: Callable[[ReleasedBall], bytes]
) -> Ints:
    """Return labels that are equal exactly where a value of the balls around nodes is."""
    some, at = _representatives(network, np.arange(network.n))
    return _equal(value(ball) for ball in balls(network, some, distance))[at]


def _representatives(network: ReleasedNetwork, nodes: Ints) -> tuple[Ints, Ints]:
    """Return one of all nodes that are interchangeable, and at which of these each node is.

    Around interchangeable nodes the graph is the same: one ball is looked at for all of them.
    """
    _, first, at = np.unique(network.interchangeable[nodes], return_index=True, return_inverse=True)
    return nodes[first], at


def _joined(one: Ints, other: Ints) -> Ints:
    """Return labels that are equal exactly where both are."""
    _, first = np.unique(one, return_inverse=True)
    values, second = np.unique(other, return_inverse=True)
    both = first * values.size + second
    labels: Ints = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return labels


def _equal(values: Iterable[bytes]) -> Ints:
    """Return labels that are equal exactly where the bytes are."""
    numbers: dict[bytes, int] = {}
    labels = [numbers.setdefault(value, len(numbers)) for value in values]
    return np.array(labels, dtype=np.int64)


def _sorted_rows(network: ReleasedNetwork, values: Ints) -> Iterable[bytes]:
    """Yield, of every node, the values of its links in ascending order."""
    ordered = values[np.lexsort((values, network.owners()))].astype(np.int32).tobytes()
    ends = (network.indptr * 4).tolist()
    return (ordered[start:end] for start, end in pairwise(ends))


def _histogram(values: Ints) -> bytes:
    """Return a multiset as its distinct values and then how often each stands in it."""
    return np.concatenate(np.unique(values, return_counts=True)).tobytes()


def _in_words(network: ReleasedNetwork, measure: str, distance: int, node: int) -> str:
    """Return a node's value: whole where it is a number or two, else its beginning."""
    ball = next(iter(balls(network, np.array([node]), distance)))
    edges, degree = ball.edges, ball.nodes.size - 1
    if measure == "edge-count":
        return f"{counted(edges, 'edge')} within distance {distance}"
    if measure == "count" and distance == 1:
        return f"degree {degree}, {counted(edges - degree, 'triangle')}"
    if measure == "degree-distribution":
        return f"inner degrees {_first(ball.degrees())} within distance {distance}"
    if measure == "vrq":
        return f"degrees {_first(network.degrees()[ball.nodes])} within distance {distance}"
    sizes = f"{counted(degree + 1, 'node')} and {counted(edges, 'edge')} within distance {distance}"
    return sizes if measure == "count" else f"the subgraph around node {node}, {sizes}"


def _first(values: Ints) -> str:
    shown = ", ".join(map(str, np.sort(values)[::-1][:_VALUES_SHOWN].tolist()))
    return f"{shown}, ..." if values.size > _VALUES_SHOWN else shown
