"""Users by features, binary: who has what.

What the arrays of users by features say, and how other libraries get and give it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.core.errors import DataError, UsageError
from graphveil.core.lazy import needs_library
from graphveil.core.libraries import pa, sparse
from graphveil.core.text import counted
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import DroppedWarning
from graphveil.data.columns import Frames, arrow_table, chosen_names
from graphveil.data.csr import sorted_lists, taken
from graphveil.data.ids import (
    Ids,
    as_ids,
    as_text,
    check_distinct,
    distinct,
    frozen,
    ids_in_ties,
    not_unicode,
    numbers_where_all,
    positions,
    same_ids,
    stored,
    to_arrow,
)
from graphveil.data.origin import (
    LISTS,
    Items,
    List,
    Person,
    PublicLists,
    attributes_of,
    check_values,
    checked_lists,
    noting,
    of_frame,
    of_pattern,
    read_from,
    shared_ids,
    warn_left_out,
    warn_of_missing,
)
from graphveil.data.spellings import check_ids

if TYPE_CHECKING:
    import igraph as ig
    import networkx as nx


@dataclass(frozen=True, eq=False)
class Bipartite(Frames):
    """Users by features; the features of every user are sorted and distinct.

    Parameters
    ----------
    indptr
        int64, shape (n_users + 1,): the features of user u are
        ``indices[indptr[u]:indptr[u + 1]]``.
    indices
        int32, shape (entries,).
    n_features
        The number of features, those that nobody has included.
    users, features
        Ids and names; None stands for 0..n-1. Users' ids are replaced in a release, names of
        features are published as they are, unless features are people.
    items
        Whether features are ``people``, the users themselves, ``things``, or ``values`` of
        columns, named ``column=value``, of which a user has one per column; None where nobody said.
        Where neither users nor features have names and their numbers differ, as in a matrix that
        is not square, they are things.
    left_out
        The names of attributes and weights that the data came with and that are not in here.
    origins
        What it was read from (`graphveil.data.origin`).
    public_lists
        Which lists the owner says are public and not collected from the entries: ``people``,
        ``items``, both or none; see `with_public_lists`.
    person
        What the owner said of the rows of the table that it was made of, as in
        `graphveil.data.Table`; None where it was no table: then a user is a person.
    column_of
        int32, shape (n_features,): the number of the column whose value a feature is, where what
        is made of these features is released as the table that they came from; else None.

    Raises
    ------
    DataError
        Where the arrays break these rules; the message names the first that does.

    Examples
    --------
    >>> data = Bipartite.from_pairs(["ann", "ann", "bob"], ["tea", "rye", "tea"])
    >>> data.n_users, data.n_features, data.n_entries
    (2, 2, 3)
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    n_features: int
    users: Ids | None = None
    features: Ids | None = None
    items: Items | None = None
    left_out: tuple[str, ...] = ()
    origins: tuple[object, ...] = ()
    public_lists: PublicLists = ()
    person: Person | None = None
    column_of: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        """Validate once; everything after trusts."""
        is_matrix = self.users is None and self.features is None
        indptr = np.ascontiguousarray(self.indptr, dtype=np.int64)
        indices = np.ascontiguousarray(self.indices, dtype=np.int32)
        _check_rows(indptr, indices, self.n_features)
        object.__setattr__(self, "indptr", frozen(indptr))
        object.__setattr__(self, "indices", frozen(indices))
        object.__setattr__(self, "users", stored(self.users, n=self.n_users, what="users"))
        if self.features is not None:
            names = as_ids(self.features, what="features")
            names = check_distinct(names, n=self.n_features, what="features")
            object.__setattr__(self, "features", names)
        if self.items == "people":
            self._check_people()
        elif self.items is None and is_matrix and self.n_features != self.n_users:
            object.__setattr__(self, "items", "things")
        elif self.items == "values":
            check_values(self.feature_labels())
        elif self.items not in (None, "things"):
            raise DataError(f"items={self.items!r} is unknown. Use people, things or values.")

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
        """Return the sorted features of one user.

        Parameters
        ----------
        user
            The position of the user.

        Returns
        -------
        NDArray[np.int32]
            Positions of features, ascending; a view.

        Examples
        --------
        >>> Bipartite([0, 2, 3], [0, 2, 1], n_features=3).row(0).tolist()
        [0, 2]
        """
        return self.indices[self.indptr[user] : self.indptr[user + 1]]

    def rows(self) -> NDArray[np.int32]:
        """Return the user of every entry, in the order of `indices`.

        Returns
        -------
        NDArray[np.int32]
            Shape (entries,): with `indices`, the coordinates of all entries.

        Examples
        --------
        >>> Bipartite([0, 2, 3], [0, 2, 1], n_features=3).rows().tolist()
        [0, 0, 1]
        """
        return np.repeat(np.arange(self.n_users, dtype=np.int32), np.diff(self.indptr))

    def labels(self) -> Ids:
        """Return the id of every user; 0..n-1 where none were given.

        Returns
        -------
        NDArray
            int64 or text, shape (n_users,).

        Examples
        --------
        >>> Bipartite.from_lists([["tea"], []], users=["ann", "bob"]).labels().tolist()
        ['ann', 'bob']
        """
        return np.arange(self.n_users, dtype=np.int64) if self.users is None else self.users

    def feature_labels(self) -> Ids:
        """Return the name of every feature; 0..n-1 where none were given.

        Returns
        -------
        NDArray
            int64 or text, shape (n_features,).

        Examples
        --------
        >>> Bipartite.from_lists([["tea"], ["rye"]]).feature_labels().tolist()
        ['rye', 'tea']
        """
        named = self.features
        return np.arange(self.n_features, dtype=np.int64) if named is None else named

    def to_arrow(self) -> pa.Table:
        """Return every entry as an Arrow table of `user` and `item`; empty rows are not in it.

        Returns
        -------
        pyarrow.Table
            One row per entry, user by user, under the ids and names.

        Examples
        --------
        >>> Bipartite.from_lists([["tea"], []], users=["ann", "bob"]).to_arrow().to_pylist()
        [{'user': 'ann', 'item': 'tea'}]
        """
        users, items = self.labels()[self.rows()], self.feature_labels()[self.indices]
        return pa.table([to_arrow(users), to_arrow(items)], names=["user", "item"])

    def to_lists(self) -> pa.Table:
        """Return an Arrow table with one row per user: `user`, and the list column `items`.

        Returns
        -------
        pyarrow.Table
            Users without items have an empty list.

        Examples
        --------
        >>> data = Bipartite.from_lists([["tea"], []], users=["ann", "bob"])
        >>> data.to_lists()["items"].to_pylist()
        [['tea'], []]
        """
        items = to_arrow(self.feature_labels()[self.indices])
        column = pa.LargeListArray.from_arrays(pa.array(self.indptr), items)
        return pa.table([to_arrow(self.labels()), column], names=["user", "items"])

    def to_scipy(self) -> sparse.csr_array:
        """Return the matrix of entries, users by features.

        Returns
        -------
        scipy.sparse.csr_array
            int8 ones, shape (n_users, n_features), with sorted indices; a copy.

        Examples
        --------
        >>> Bipartite([0, 2, 3], [0, 2, 1], n_features=3).to_scipy().toarray().tolist()
        [[1, 0, 1], [0, 1, 0]]
        """
        ones = np.ones(self.n_entries, dtype=np.int8)
        shape = (self.n_users, self.n_features)
        return sparse.csr_array((ones, self.indices.copy(), self.indptr.copy()), shape=shape)

    @needs_library
    def to_networkx(self) -> nx.Graph[Any]:
        """Return a NetworkX graph; the attribute `bipartite` is 0 for users, 1 for features.

        If features are people, it is a directed graph of people without that attribute: an arc
        leads from each person to each of their features.

        Returns
        -------
        networkx.Graph or networkx.DiGraph
            Nodes are named by `labels` and `feature_labels`.

        Raises
        ------
        DataError
            If a user and a feature have the same label, and features are not people.

        Examples
        --------
        >>> sorted(Bipartite.from_lists([["tea"]], users=["ann"]).to_networkx().edges())
        [('ann', 'tea')]
        """
        import networkx as nx  # noqa: PLC0415  an optional library, accepted but never required

        users, features = self.labels().tolist(), self.feature_labels().tolist()
        pairs = zip(self.rows().tolist(), self.indices.tolist(), strict=True)
        if self.items == "people":
            people: nx.DiGraph[Any] = nx.DiGraph()
            people.add_nodes_from(users)
            people.add_edges_from((users[u], features[f]) for u, f in pairs)
            return people
        shared = set(users) & set(features)
        if shared:
            raise DataError(
                f"{min(shared)!r} names both a user and a feature. Rename one of them, or, if "
                'features are people, use data.with_items("people").to_networkx().'
            )
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(users, bipartite=0)
        graph.add_nodes_from(features, bipartite=1)
        graph.add_edges_from((users[u], features[f]) for u, f in pairs)
        return graph

    @needs_library
    def to_igraph(self) -> ig.Graph:
        """Return a directed igraph graph of people, if features are people.

        Returns
        -------
        igraph.Graph
            Directed, one vertex per person; the vertex attribute `name` has the ids.

        Raises
        ------
        UsageError
            If features are not people.

        Examples
        --------
        >>> follows = Bipartite.from_pairs(["ann"], ["bob"], items="people")
        >>> follows.to_igraph().ecount()
        1
        """
        import igraph as ig  # noqa: PLC0415  an optional library, accepted but never required

        if self.items != "people":
            raise UsageError(
                "to_igraph does not apply to a Bipartite. Use to_networkx, or, if features are "
                'people, use data.with_items("people").to_igraph().'
            )
        pairs = zip(self.rows().tolist(), self.indices.tolist(), strict=True)
        graph = ig.Graph(n=self.n_users, edges=list(pairs), directed=True)
        graph.vs["name"] = self.labels().tolist()
        return graph

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any], *, users: object) -> Self:
        """Return the data of a bipartite NetworkX graph whose nodes `users` are the users.

        Parameters
        ----------
        graph
            Each edge joins a user and a feature; its direction is not kept.
        users
            The nodes that are users; all others are features.

        Returns
        -------
        Bipartite
            Users and features with their names; features are things.

        Raises
        ------
        DataError
            If an edge joins two users, or two features.

        Warns
        -----
        GraphveilWarning
            If attributes of nodes or edges are omitted, with their names.

        Examples
        --------
        >>> import networkx as nx
        >>> likes = nx.Graph([("ann", "tea"), ("bob", "tea")])
        >>> Bipartite.from_networkx(likes, users=["ann", "bob"])
        Bipartite(n_users=2, n_features=1, n_entries=2)
        """
        further = [name for name in attributes_of(graph) if name != "bipartite"]
        return cls._of_nodes(list(graph.nodes), list(graph.edges()), users, further)

    @classmethod
    def from_igraph(cls, graph: ig.Graph, *, users: object) -> Self:
        """Return the data of a bipartite igraph graph whose vertices `users` are the users.

        Parameters
        ----------
        graph
            Each edge joins a user and a feature; its direction is not kept.
        users
            The names of the vertices that are users, or their numbers if vertices have no names.

        Returns
        -------
        Bipartite
            Users and features with their names or numbers; features are things.

        Raises
        ------
        DataError
            If an edge joins two users, or two features.

        Warns
        -----
        GraphveilWarning
            If attributes of vertices or edges are omitted, with their names.

        Examples
        --------
        >>> import igraph as ig
        >>> likes = ig.Graph(edges=[(0, 2), (1, 2)])
        >>> Bipartite.from_igraph(likes, users=[0, 1])
        Bipartite(n_users=2, n_features=1, n_entries=2)
        """
        vertices = graph.vs.attributes()
        names = graph.vs["name"] if "name" in vertices else list(range(graph.vcount()))
        further = [name for name in vertices if name not in ("name", "type")]
        pairs = [(names[u], names[v]) for u, v in graph.get_edgelist()]
        return cls._of_nodes(names, pairs, users, [*further, *graph.es.attributes()])

    @classmethod
    def _of_nodes(
        cls, nodes: Sequence[Any], edges: Sequence[tuple[Any, Any]], users: object, further: Any
    ) -> Self:
        """Return the data of edges between users and the other nodes."""
        left_out = warn_left_out(further)
        listed = list(users) if isinstance(users, list | tuple | set | frozenset) else users
        user_names = set(as_ids(listed, what="users").tolist())
        features = [node for node in nodes if node not in user_names]
        pairs = [(u, v) if u in user_names else (v, u) for u, v in edges]
        for user, feature in pairs:
            if user not in user_names or feature in user_names:
                raise DataError(
                    f"the edge ({user}, {feature}) does not connect a user and a feature."
                )
        left = as_ids([u for u, _ in pairs], what="users")
        right = as_ids([v for _, v in pairs], what="features")
        data = cls.from_pairs(left, right, users=listed, features=features, items="things")
        return noting(data, left_out)

    def _check_people(self) -> None:
        """Keep the features' names as those of the users, once they are the same."""
        names = stored(self.features, n=self.n_features, what="features")
        if self.n_features != self.n_users or not same_ids(self.users, names):
            raise DataError(
                "items are people, but the features do not match the users one by one. Use "
                "with_items."
            )
        object.__setattr__(self, "features", self.users)

    def permuted(self, order: NDArray[np.int64], *, ids: Ids | None = None) -> Bipartite:
        """Return the same rows with user ``order[j]`` at position j, under the ids given.

        If features are people, they are put in the same order under the same ids.

        Parameters
        ----------
        order
            int64, shape (n_users,): a permutation of the positions.
        ids
            The new ids, by new position; None for 0..n-1.

        Returns
        -------
        Bipartite
            What a release publishes: without origins, dropped names and public lists.

        Examples
        --------
        >>> data = Bipartite.from_lists([["tea"], ["rye"]])
        >>> data.permuted(np.array([1, 0]), ids=np.array([7, 8])).to_lists()["items"].to_pylist()
        [['rye'], ['tea']]
        """
        matrix = self.to_scipy()[order]
        features = self.features
        if self.items == "people":
            matrix, features = matrix[:, order], ids
        matrix.sort_indices()
        indptr, indices = matrix.indptr, matrix.indices
        return Bipartite(indptr, indices, self.n_features, ids, features, self.items)

    def part(self, people: NDArray[np.int64]) -> Bipartite:
        """Return the rows of some users, without their ids.

        Parameters
        ----------
        people
            int64: the positions of the users to keep, in the order wanted.

        Returns
        -------
        Bipartite
            The same features; items that are people become things, since they no longer match the
            users.

        Examples
        --------
        >>> Bipartite.from_lists([["tea"], ["rye"], ["tea"]]).part(np.array([0, 2])).n_entries
        2
        """
        starts, entries = taken(self.indptr, people)
        items: Items = "values" if self.items == "values" else "things"
        kept = (self.indices[entries], self.n_features, None, self.features, items)
        return Bipartite(starts, *kept, person=self.person)

    def with_items(self, items: Items) -> Self:
        """Return the same entries, once it is said whether items are people or things.

        Parameters
        ----------
        items
            ``things`` are published under their names. ``people`` get the new ids that they have
            as users: those who were items alone become users without items. ``values`` are named
            ``column=value``: an epsilon is then that of one value, which is two entries.

        Returns
        -------
        Bipartite
            The same entries. For ``people``, users and features are all people, in the order of
            their ids.

        Raises
        ------
        DataError
            For ``values``, if a feature is not named ``column=value``.

        Examples
        --------
        >>> data = Bipartite.from_pairs(["ann", "bob"], ["bob", "cyd"]).with_items("people")
        >>> data.labels().tolist(), data.features is data.users, data.n_entries
        (['ann', 'bob', 'cyd'], True, 2)
        """
        if items != "people" or self.items == "people":
            return dataclasses.replace(self, items=items)
        users, features = self.labels(), self.feature_labels()
        if users.dtype.kind != features.dtype.kind:
            users, features = as_text(users), as_text(features)
        everyone = distinct(np.concatenate([users, features]))
        row = positions(users, everyone, what="users")[self.rows()]
        column = positions(features, everyone, what="features")[self.indices]
        indptr, indices = sorted_lists(row, column, everyone.size)
        public: PublicLists = LISTS if self.public_lists == LISTS else ()
        came = (self.left_out, self.origins, public)
        return type(self)(indptr, indices, everyone.size, everyone, everyone, "people", *came)

    def with_public_lists(self, *lists: List) -> Bipartite:
        """Return the same entries, once their owner says which lists are public.

        Claims of differential privacy are about entries, given these lists. Where one was
        collected from the entries, an item or user that one entry alone puts there shows that
        entry.

        Parameters
        ----------
        *lists
            ``"people"``, ``"items"`` or both.

        Returns
        -------
        Bipartite
            The same entries, with the lists named in `public_lists`.

        Raises
        ------
        DataError
            Where a list is named that there is not.

        Examples
        --------
        >>> data = Bipartite.from_pairs(["ann"], ["tea"], features=["rye", "tea"])
        >>> data.with_public_lists("items").public_lists
        ('items',)
        """
        named = checked_lists(lists, LISTS, "user-item data")
        return dataclasses.replace(self, public_lists=named)

    def check_items(self) -> None:
        """Refuse data in which items may be people and nobody said whether they are.

        Returns
        -------
        None
            Nothing: the data is accepted, or an error raised.

        Raises
        ------
        DataError
            Where ids stand for users and for items, and `items` is None.

        Examples
        --------
        >>> Bipartite.from_pairs(["ann", "bob"], ["tea", "tea"]).check_items()
        """
        if self.items is not None:
            return
        refusal = shared_ids(self.labels(), self.feature_labels()).refusal
        if refusal:
            raise DataError(refusal)

    def without_unused(self) -> Bipartite:
        """Return the same rows; features that nobody has are omitted, the rest are sorted.

        Features are put in canonical order, and names of which each is a whole number become
        integers: order and type follow from what is kept. Where none were named, the numbers of
        those that are kept become their names, unless they are 0..n-1. Where items are people,
        that is to be said again, since features are no longer the users one by one.

        Returns
        -------
        Bipartite
            The same entries over the features that at least one user has.

        Examples
        --------
        >>> data = Bipartite.from_pairs(["ann"], ["tea"], features=["rye", "tea"])
        >>> data.without_unused().feature_labels().tolist()
        ['tea']
        >>> Bipartite([0, 1], [3], n_features=9).without_unused().feature_labels().tolist()
        [3]
        """
        used = np.unique(self.indices)
        labels = numbers_where_all(self.feature_labels()[used])
        order = np.argsort(labels, kind="stable")
        names = labels[order]
        column = np.zeros(self.n_features, dtype=np.int32)
        column[used[order]] = np.arange(names.size, dtype=np.int32)
        indptr, indices = sorted_lists(self.rows(), column[self.indices], self.n_users)
        kept = stored(names, n=names.size, what="features") if names.size else None
        items = None if self.items == "people" else self.items
        return Bipartite(indptr, indices, names.size, self.users, kept, items)

    @classmethod
    def from_pairs(
        cls,
        user: ArrayLike,
        feature: ArrayLike,
        *,
        users: object = None,
        features: object = None,
        items: Items | None = None,
    ) -> Self:
        """Return the data whose entries are these pairs of labels; repeats are dropped.

        Parameters
        ----------
        user, feature
            Integers or text, one of each per entry.
        users, features
            All ids and names, so that empty rows and unused features are kept; the distinct ones
            of the pairs where not given.
        items
            Whether features are ``people``, as users are, or ``things``.

        Returns
        -------
        Bipartite
            Users and features in the order of their labels.

        Raises
        ------
        DataError
            If there are not as many users as features, or a label is not valid or not in a given
            list.

        Warns
        -----
        GraphveilWarning
            Where a pair stands more than once, with the number dropped.

        Examples
        --------
        >>> data = Bipartite.from_pairs(["ann", "bob"], ["tea", "tea"], users=["ann", "bob", "cyd"])
        >>> data.to_lists().to_pylist()[2]
        {'user': 'cyd', 'items': []}
        """
        data, duplicates = cls.assemble(user, feature, users=users, features=features)
        if duplicates:
            warn(f"dropped {duplicates} repeated pairs", DroppedWarning)
        return data if items is None else data.with_items(items)

    @classmethod
    def assemble(
        cls, user: ArrayLike, feature: ArrayLike, *, users: object = None, features: object = None
    ) -> tuple[Self, int]:
        """Return the data of these pairs and how many repeats were dropped.

        Parameters
        ----------
        user, feature, users, features
            As of `from_pairs`.

        Returns
        -------
        tuple[Bipartite, int]
            The data, and the number of repeated pairs.

        Raises
        ------
        DataError
            As `from_pairs`.

        Examples
        --------
        >>> Bipartite.assemble(["ann", "ann"], ["tea", "tea"])
        (Bipartite(n_users=1, n_features=1, n_entries=1), 1)
        """
        rows, row_ids = _axis(user, users, "users")
        columns, names = _axis(feature, features, "features")
        if rows.shape != columns.shape:
            raise DataError(
                f"{counted(rows.size, 'user')} but {counted(columns.size, 'feature')}. Give one "
                "of each per pair."
            )
        indptr, indices = sorted_lists(rows, columns, row_ids.size)
        data = cls(indptr, indices, names.size, row_ids, names)
        return data, int(rows.size - indices.size)

    @classmethod
    def from_lists(cls, lists: Any, *, users: object = None, items: Items | None = None) -> Self:
        """Return the data whose row u holds the features listed for user u.

        Parameters
        ----------
        lists
            A sequence of sequences of labels, or an Arrow column of type ``list``.
        users
            One id per list; 0..n-1 if not given.
        items
            Whether features are ``people``, as users are, or ``things``.

        Returns
        -------
        Bipartite
            One user per list, in the order of the lists; features in the order of their labels.

        Raises
        ------
        DataError
            If `lists` is not a list of lists, or has a different number of lists than of ids.

        Examples
        --------
        >>> Bipartite.from_lists([["tea", "rye"], []], users=["ann", "bob"]).row(0).tolist()
        [0, 1]
        """
        try:
            column = lists if isinstance(lists, pa.ChunkedArray | pa.Array) else pa.array(lists)
        except UnicodeEncodeError as error:
            raise not_unicode(error, what="features") from error
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
            raise DataError(f"expected a list of features per user, not {column.type}.")
        sizes = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        user = np.repeat(np.arange(len(column), dtype=np.int64), sizes)
        ids = None if users is None else as_ids(users, what="users")
        if ids is not None and ids.size != len(column):
            raise DataError(
                f"{counted(ids.size, 'user')} for {counted(len(column), 'list')}. "
                "Give one id per list."
            )
        data = cls.from_pairs(user, column.flatten(), users=np.arange(len(column)))
        named = cls(data.indptr, data.indices, data.n_features, ids, data.features)
        return named if items is None else named.with_items(items)

    @classmethod
    def from_graph(cls, graph: Any) -> Self:
        """Return a `Graph` as users by features: everyone's neighbors are their features.

        Parameters
        ----------
        graph
            The graph, whose nodes become users and features.

        Returns
        -------
        Bipartite
            Two entries per edge; items are people.

        Examples
        --------
        >>> from graphveil import Graph
        >>> data = Bipartite.from_graph(Graph.from_edges(["ann", "bob"], ["bob", "cyd"]))
        >>> data.items, data.row(0).tolist(), data.row(1).tolist()
        ('people', [1], [0, 2])
        """
        n, ids = graph.n_nodes, graph.ids
        both: PublicLists = LISTS if graph.public_lists else ()
        data = cls(graph.indptr, graph.indices, n, ids, ids, "people", graph.left_out, (), both)
        return read_from(data, *graph.origins, graph)

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        users: object = None,
        features: object = None,
        items: Items | None = None,
    ) -> Self:
        """Return the pattern of a sparse matrix, users by features; stored zeros are not entries.

        Parameters
        ----------
        matrix
            Users by features.
        users, features
            Their ids and names; 0..n-1 where not given.
        items
            Whether features are ``people``, as users are, or ``things``.

        Returns
        -------
        Bipartite
            An entry for every value other than 0.

        Warns
        -----
        GraphveilWarning
            Where values other than 0 and 1 are omitted.

        Examples
        --------
        >>> from scipy import sparse
        >>> Bipartite.from_scipy(sparse.csr_array([[1, 0, 1], [0, 0, 0]]))
        Bipartite(n_users=2, n_features=3, n_entries=2)
        """
        pattern = sparse.csr_array(matrix, copy=True)
        weighted = bool(np.any((pattern.data != 0) & (pattern.data != 1)))
        left_out = warn_left_out(["values"] if weighted else [])
        pattern.eliminate_zeros()
        pattern.sum_duplicates()
        row_ids = None if users is None else as_ids(users, what="users")
        names = None if features is None else as_ids(features, what="features")
        n_features = int(pattern.shape[1])
        data = cls(pattern.indptr, pattern.indices, n_features, row_ids, names, None, left_out)
        data = read_from(data, of_pattern(pattern))
        return data if items is None else data.with_items(items)

    @classmethod
    def from_arrow(
        cls,
        frame: Any,
        *,
        user: str | None = None,
        item: str | None = None,
        users: object = None,
        items: Items | None = None,
    ) -> Self:
        """Return the data of a frame with a row per pair, or with one list column.

        Parameters
        ----------
        frame
            Anything that speaks the Arrow C stream.
        user, item
            The columns of a pair. Without them, those of known names such as ``user`` and
            ``item``, or the only two.
        users
            All ids, so that users without items are not lost.
        items
            Whether items are ``people``, as users are, or ``things``.

        Returns
        -------
        Bipartite
            The data, which remembers the frame that it was read from (`origins`).

        Raises
        ------
        DataError
            Where it is not clear which columns are meant.

        Warns
        -----
        GraphveilWarning
            Where further columns are omitted, with their names; where a pair stands twice.

        Examples
        --------
        >>> import pyarrow as pa
        >>> likes = pa.table({"user": ["ann", "bob"], "item": ["tea", "tea"]})
        >>> Bipartite.from_arrow(likes)
        Bipartite(n_users=2, n_features=1, n_entries=2)
        """
        table = arrow_table(frame)
        listed = [f.name for f in table.schema if pa.types.is_nested(f.type)]
        names: tuple[str, ...] = tuple(table.column_names)
        if len(names) > 1 or not listed:
            wanted = (user, item or (listed[0] if len(listed) == 1 else None))
            names = chosen_names(names, wanted, ("user", "item"))
        further = [name for name in table.column_names if name not in names]
        left_out = warn_left_out(further)
        if listed:
            ids = table[names[0]] if len(names) > 1 else None
            data = cls.from_lists(table[names[-1]], users=ids, items=items)
        else:
            data = cls.from_pairs(table[names[0]], table[names[1]], users=users, items=items)
            warn_of_missing(table[names[0]], table[names[1]])
        check_ids(data.users, data.features)
        return read_from(noting(data, left_out), of_frame(table))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same rows in the same order, ids and names."""
        if not isinstance(other, Bipartite):
            return NotImplemented
        return (
            self.n_features == other.n_features
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and same_ids(self.users, other.users)
            and same_ids(self.features, other.features)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no cheap hash

    def _sizes(self) -> dict[str, object]:
        return {"users": self.n_users, "features": self.n_features, "entries": self.n_entries}

    def __repr__(self) -> str:
        """Return the size; never an id."""
        return (
            f"Bipartite(n_users={self.n_users:,}, n_features={self.n_features:,}, "
            f"n_entries={self.n_entries:,})"
        )


def _axis(values: object, known: object, what: str) -> tuple[NDArray[np.int32], Ids]:
    labels = ids_in_ties(values, what=what)
    ids = distinct(labels if known is None else as_ids(known, what=what))
    return positions(labels, ids, what=what), ids


def _check_rows(indptr: NDArray[np.int64], indices: NDArray[np.int32], n_features: int) -> None:
    n = indptr.size - 1
    if n < 0 or indptr[0] != 0 or indptr[-1] != indices.size or np.any(np.diff(indptr) < 0):
        raise DataError("indptr must rise from 0 to the number of indices. Use from_pairs.")
    if indices.size and (indices.min() < 0 or indices.max() >= n_features):
        bad = int(indices.min() if indices.min() < 0 else indices.max())
        raise DataError(f"feature {bad} is outside 0..{n_features - 1}. Raise n_features.")
    rows = np.repeat(np.arange(n), np.diff(indptr))
    unsorted = (indices[1:] <= indices[:-1]) & (rows[1:] == rows[:-1])
    if unsorted.any():
        user = int(rows[1:][unsorted][0])
        raise DataError(f"the features of user {user} are not sorted and distinct.")
