"""GraphML: a graph is read from the numbers of its text, and written again to compare bytes.

Only the canonical form is accepted, whose numbers are, in order: those of the two lines above the
nodes, the node ids 0 to n - 1, and both ends of every edge. So it is enough to read all numbers
of the file and to compare the file with the text that they give; no XML parser is needed.

Cost: the complete text in memory, O(bytes).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphveil.claims.manifest import DataFile
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.files.canonical_text import compare

_BYTES_PER_ID = 8
"""Memory of an id, in bytes: refuses a text that claims more nodes than the limit allows."""

_NUMBERS_ABOVE = 3
"""The numbers in the lines above the nodes: 1.0, and the 8 of UTF-8."""

_SEPARATE = bytes(byte if byte in b"0123456789" else ord(" ") for byte in range(256))
"""A table for `bytes.translate`: every byte that is not a digit becomes a blank."""

_HEAD = b"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <graph edgedefault="undirected">
"""
"""The lines above the nodes in the canonical form."""

_PARTS = (
    _HEAD,
    """SELECT concat('    <node id="', node, '"/>', chr(10)) FROM nodes""",
    """SELECT concat('    <edge source="', source, '" target="', target, '"/>', chr(10))
    FROM edges""",
    b"  </graph>\n</graphml>\n",
)
"""A file in its one form: lines as they are, and SQL that gives each line as a row."""


def load_graphml(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    """Create `nodes` and `edges` of a graph."""
    # Blank out everything but digits, and parse what is left as whole numbers.
    text = path.read_bytes()
    numbers = np.fromstring(text.translate(_SEPARATE), dtype=np.int64, sep=" ")
    if not numbers.size:
        raise UnreadableError(f"{path.name} contains no number")
    # Nodes are 0 to n - 1 in the one form, so their number is enough.
    n = text.count(b"<node ")
    db.refuse_beyond(n * _BYTES_PER_ID, path.name)
    # Behind the header and the node ids, each edge gives its two ends.
    ends = numbers[_NUMBERS_ABOVE + n :]
    edges = ends[: ends.size // 2 * 2].reshape(-1, 2)
    # Whatever the text said beyond these numbers differs from the canonical bytes.
    db.run(f"CREATE TABLE nodes AS SELECT range AS node FROM range({n})")
    db.put("edges", {"source": edges[:, 0], "target": edges[:, 1]})
    compare(db, path, _PARTS)
