"""The digest of an input's content, whatever file or format it came in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite, Data, Graph
from graphveil.data.ids import Ids
from graphveil.data.kinds import kind_of
from graphveil.data.origin import FileOrigin, ObjectOrigin

_BLOCK = 1 << 22


def digest_of(data: Data) -> str:
    """Return the SHA-256 of a container's content: structure, names and ids, in canonical order.

    The digest does not depend on the file or format that the data came in.

    Examples
    --------
    >>> from graphveil import Graph
    >>> one, two = Graph.from_edges([0], [1], n=2), Graph.from_edges([1], [0], n=2)
    >>> digest_of(one) == digest_of(two)
    True
    """
    if type(data) is Graph:
        return digest_of_graph(data.indptr, data.indices, data.labels())
    seen = hashlib.sha256(type(data).__name__.encode())
    structure, names = kind_of(data).content(data)
    for part in structure:
        seen.update(part)
    for ids in names:
        seen.update(_bytes_of(ids))
    return seen.hexdigest()


def digest_of_graph(indptr: NDArray[np.int64], indices: NDArray[np.int32], ids: Ids) -> str:
    """Return what `digest_of` gives for a graph whose neighbors may be mapped from a file.

    Parameters
    ----------
    indptr, indices
        As in `graphveil.data.Graph`.
    ids
        The id of every node.

    Examples
    --------
    >>> from graphveil import Graph
    >>> graph = Graph.from_edges([0], [1], n=2)
    >>> digest_of_graph(graph.indptr, graph.indices, graph.labels()) == digest_of(graph)
    True
    """
    seen = hashlib.sha256(Graph.__name__.encode())
    seen.update(np.int64(indptr.size - 1).tobytes())
    seen.update(np.ascontiguousarray(indptr).data)
    for start in range(0, indices.size, _BLOCK):
        seen.update(np.ascontiguousarray(indices[start : start + _BLOCK]).data)
    seen.update(_bytes_of(ids))
    return seen.hexdigest()


def digests_of_origins(data: Data) -> tuple[str, ...]:
    """Return the digests of what a container was read from, by which the same is recognized.

    Examples
    --------
    >>> from graphveil import Table
    >>> from graphveil.data.kinds import encoded
    >>> people = Table.from_columns({"sex": ["f", "m"]})
    >>> digests_of_origins(encoded(people, Bipartite)) == (digest_of(people),)
    True
    """
    known = (
        one.digest() if isinstance(one, FileOrigin | ObjectOrigin) else digest_of(cast("Data", one))
        for one in data.origins
    )
    return tuple(sorted({digest for digest in known if digest is not None}))


class RowsPart(NamedTuple):
    """Some rows of users by features, in canonical order.

    Parameters
    ----------
    users
        Their ids: int64, or a list of text.
    sizes
        int64: how many features every row has.
    indices
        int32: the features, row by row.
    """

    users: NDArray[np.int64] | list[str]
    sizes: NDArray[np.int64]
    indices: NDArray[np.int32]


def digest_of_parts(parts: Callable[[], Iterator[RowsPart]], features: Ids) -> str:
    """Return what `digest_of` gives for users by features that come in parts.

    Parameters
    ----------
    parts
        Gives the rows from the beginning every time it is called.
    features
        The name of every feature.

    Examples
    --------
    >>> data = Bipartite.from_pairs([3, 8], ["tea", "rye"])
    >>> rows = [RowsPart(np.array([3]), np.array([1]), np.array([1], dtype=np.int32)),
    ...         RowsPart(np.array([8]), np.array([1]), np.array([0], dtype=np.int32))]
    >>> digest_of_parts(lambda: iter(rows), data.feature_labels()) == digest_of(data)
    True
    """
    seen = hashlib.sha256(Bipartite.__name__.encode())
    n = np.int64(sum(part.sizes.size for part in parts())).tobytes()
    end = np.zeros(1, dtype=np.int64)
    seen.update(n + end.tobytes())
    for part in parts():
        ends = end[-1] + np.cumsum(part.sizes, dtype=np.int64)
        seen.update(ends.tobytes())
        end = np.concatenate([end, ends])[-1:]
    for part in parts():
        seen.update(part.indices.astype(np.int32, copy=False).tobytes())
    for number, part in enumerate(parts()):
        if isinstance(part.users, list):
            seen.update((b"" if number else b"t" + n) + _lengths(_encoded(part.users)))
        else:
            seen.update((b"" if number else b"i" + n) + part.users.tobytes())
    for part in parts():
        if isinstance(part.users, list):
            seen.update(b"".join(_encoded(part.users)))
    seen.update(_bytes_of(features))
    return seen.hexdigest()


def _bytes_of(ids: Ids) -> bytes:
    """Return the bytes of some ids: of text the lengths first, so that nothing in them can part."""
    n = np.int64(ids.size).tobytes()
    if ids.dtype.kind == "i":
        return b"i" + n + ids.tobytes()
    texts = _encoded(ids.tolist())
    return b"t" + n + _lengths(texts) + b"".join(texts)


def _encoded(texts: list[str]) -> list[bytes]:
    return [one.encode("utf-8", "surrogatepass") for one in texts]


def _lengths(texts: list[bytes]) -> bytes:
    return np.array([len(one) for one in texts], dtype=np.int64).tobytes()
