"""The table of what the checker knows of each kind of data, by the name of the kind."""

from __future__ import annotations

from collections.abc import Mapping

from graphveil.verify.evidence import CheckedKind
from graphveil.verify.kinds.features import FEATURES
from graphveil.verify.kinds.networks import GRAPH, NETWORK
from graphveil.verify.kinds.tables import TABLE

CHECKED_KINDS: Mapping[str, CheckedKind] = {
    "graph": GRAPH,
    "bipartite": FEATURES,
    "table": TABLE,
    "network": NETWORK,
}
