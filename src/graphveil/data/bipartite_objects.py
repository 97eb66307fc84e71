"""What the arrays of users by features say, and how other libraries get and give it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.data.frames import Frames
from graphveil.data.ids import Ids, as_ids, to_arrow
from graphveil.data.left_out import attributes_of, noting, warn_left_out
from graphveil.data.people import Items
from graphveil.errors import DataError
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import networkx as nx
    import pyarrow as pa
    from scipy import sparse
else:
    pa = lazy_module("pyarrow")
    sparse = lazy_module("scipy.sparse")


class BipartiteObjects(Frames):
    """The views, exports and imports of `graphveil.data.Bipartite`, which explains the arrays."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    n_features: int
    users: Ids | None
    features: Ids | None

    @property
    def n_users(self) -> int:
        """The number of users, those without features included."""
        return int(self.indptr.size - 1)

    @property
    def size(self) -> int:
        """The number of users: of people, in most data."""
        return self.n_users

    @property
    def n_entries(self) -> int:
        """The number of (user, feature) pairs."""
        return int(self.indices.size)

    def row(self, user: int) -> NDArray[np.int32]:
        """Return the sorted features of one user."""
        return self.indices[self.indptr[user] : self.indptr[user + 1]]

    def rows(self) -> NDArray[np.int32]:
        """Return the user of every entry, int32, shape (entries,)."""
        return np.repeat(np.arange(self.n_users, dtype=np.int32), np.diff(self.indptr))

    def labels(self) -> Ids:
        """Return the id of every user; 0..n-1 where none were given."""
        return np.arange(self.n_users, dtype=np.int64) if self.users is None else self.users

    def feature_labels(self) -> Ids:
        """Return the name of every feature; 0..n-1 where none were given."""
        named = self.features
        return np.arange(self.n_features, dtype=np.int64) if named is None else named

    def to_arrow(self) -> pa.Table:
        """Return every entry as an Arrow table of `user` and `item`; empty rows are not in it."""
        columns = [
            to_arrow(self.labels()[self.rows()]),
            to_arrow(self.feature_labels()[self.indices]),
        ]
        return pa.table(columns, names=["user", "item"])

    def to_lists(self) -> pa.Table:
        """Return an Arrow table with one row a user: `user`, and the list column `items`."""
        items = to_arrow(self.feature_labels()[self.indices])
        column = pa.LargeListArray.from_arrays(pa.array(self.indptr), items)
        return pa.table([to_arrow(self.labels()), column], names=["user", "items"])

    def to_scipy(self) -> sparse.csr_array:
        """Return the matrix of ones, int8, shape (n_users, n_features)."""
        ones = np.ones(self.n_entries, dtype=np.int8)
        shape = (self.n_users, self.n_features)
        return sparse.csr_array((ones, self.indices.copy(), self.indptr.copy()), shape=shape)

    def to_networkx(self) -> nx.Graph[Any]:
        """Return a NetworkX graph; the attribute `bipartite` is 0 for users, 1 for features.

        Raises
        ------
        DataError
            Where a user and a feature have the same label.
        """
        import networkx as nx  # noqa: PLC0415  an optional library, accepted but never required

        users, features = self.labels().tolist(), self.feature_labels().tolist()
        shared = set(users) & set(features)
        if shared:
            raise DataError(f"{min(shared)!r} names a user and a feature. Rename one of them.")
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(users, bipartite=0)
        graph.add_nodes_from(features, bipartite=1)
        pairs = zip(self.rows().tolist(), self.indices.tolist(), strict=True)
        graph.add_edges_from((users[u], features[f]) for u, f in pairs)
        return graph

    @classmethod
    @abstractmethod
    def from_pairs(
        cls,
        user: ArrayLike,
        feature: ArrayLike,
        *,
        users: object = None,
        features: object = None,
        items: Items | None = None,
    ) -> Self:
        """Return the data of these pairs."""

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any], *, users: object) -> Self:
        """Return the data of a bipartite NetworkX graph whose nodes `users` are the users.

        Raises
        ------
        DataError
            Where an edge joins two users, or two features.

        Warns
        -----
        GraphveilWarning
            Where attributes of nodes or edges are left out, with their names.
        """
        further = [name for name in attributes_of(graph) if name != "bipartite"]
        left_out = warn_left_out(further)
        listed = list(users) if isinstance(users, list | tuple | set | frozenset) else users
        user_names = set(as_ids(listed, what="users").tolist())
        features = [node for node in graph.nodes if node not in user_names]
        pairs = [(u, v) if u in user_names else (v, u) for u, v in graph.edges()]
        for user, feature in pairs:
            if user not in user_names or feature in user_names:
                raise DataError(f"the edge ({user}, {feature}) does not join a user and a feature.")
        data = cls.from_pairs(
            as_ids([u for u, _ in pairs], what="users"),
            as_ids([v for _, v in pairs], what="features"),
            users=listed,
            features=features,
            items="things",
        )
        return noting(data, left_out)
