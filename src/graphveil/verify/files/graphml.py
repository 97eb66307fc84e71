"""A graph in GraphML: numbers between fixed words, read loosely and written again.

Whatever stands between the numbers is skipped when they are read. The numbers are then written
again as the format asks for, by SQL, and bytes are compared: words, order and spelling are the
expected ones, or the file is refused.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphveil.claims.manifest import DataFile
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.files.canonical import compare

_BYTES_PER_ID = 8
_NUMBERS_ABOVE = 3
"""The numbers in the lines above the nodes: 1.0, and the 8 of UTF-8."""

_SEPARATE = bytes(byte if byte in b"0123456789" else ord(" ") for byte in range(256))
_HEAD = b"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <graph edgedefault="undirected">
"""
_PARTS = (
    _HEAD,
    """SELECT concat('    <node id="', node, '"/>', chr(10)) FROM nodes""",
    """SELECT concat('    <edge source="', source, '" target="', target, '"/>', chr(10))
    FROM edges""",
    b"  </graph>\n</graphml>\n",
)
"""A file in its one form: lines as they are, and SQL that gives a line a row."""


def load_graphml(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    """Create `nodes` and `edges` of a graph.

    Raises
    ------
    UnreadableError
        Where a byte is not the one expected; the message names file and line.
    """
    text = path.read_bytes()
    numbers = np.fromstring(text.translate(_SEPARATE), dtype=np.int64, sep=" ")
    if not numbers.size:
        raise UnreadableError(f"{path.name} contains no number")
    n = text.count(b"<node ")
    db.refuse_beyond(n * _BYTES_PER_ID, path.name)
    ends = numbers[_NUMBERS_ABOVE + n :]
    edges = ends[: ends.size // 2 * 2].reshape(-1, 2)
    db.run(f"CREATE TABLE nodes AS SELECT range AS node FROM range({n})")
    db.put("edges", {"source": edges[:, 0], "target": edges[:, 1]})
    compare(db, path, _PARTS)
