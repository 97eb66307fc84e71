"""Containers: frozen, validated once, arrays inside.

`Graph` (simple, undirected), `Bipartite` (users by features, binary), `Table` (rows by
categorical columns) and `Network` (people with attributes, layers of edges).
`graphveil.data.kinds` has the table of them. Ids stand next to the structure; no method reads them.
"""

from graphveil.data.bipartite import Bipartite
from graphveil.data.codes import SUPPRESSED
from graphveil.data.kinds import Data
from graphveil.data.layers import Layer
from graphveil.data.network import Graph, Network
from graphveil.data.table import Table

__all__ = ["SUPPRESSED", "Bipartite", "Data", "Graph", "Layer", "Network", "Table"]
