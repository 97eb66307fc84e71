"""What a file says of itself by the names of its columns: a graph, or users and items."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.data import Bipartite, Graph
from graphveil.data.columns import EDGE_NAMES, PAIR_NAMES, plain
from graphveil.errors import InputError
from graphveil.io.dialect import sniff
from graphveil.io.formats import format_of
from graphveil.io.options import Header
from graphveil.io.source import Source
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet
else:
    pa = lazy_module("pyarrow")
    parquet = lazy_module("pyarrow.parquet")

TEXT = ("csv", "tsv", "text")


def kind_in_columns(
    path: Path, form: str | None, *, header: Header = "auto", delimiter: str | None = None
) -> type[Graph | Bipartite] | None:
    r"""Return what the columns of a file say that it holds, None where they say nothing.

    Parameters
    ----------
    path
        A file; what cannot be read says nothing.
    form
        Its format; None for the one that its name says.
    header, delimiter
        As the readers take them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "likes.csv")
    ...     _ = path.write_text("customer_id,product\n7,tea\n")
    ...     kind_in_columns(path, None).__name__
    'Bipartite'
    """
    try:
        names = _names(path, form, header, delimiter)
    except (InputError, OSError, pa.ArrowInvalid):
        return None
    plains = {plain(name) for name in names}
    says = [
        kind
        for kind, table in ((Graph, EDGE_NAMES), (Bipartite, PAIR_NAMES))
        if any(set(pair) <= plains for pair in table)
    ]
    return says[0] if len(says) == 1 else None


def _names(path: Path, form: str | None, header: Header, delimiter: str | None) -> list[str]:
    known = format_of(path, form)
    if known.name in TEXT:
        return list(sniff(Source(path, known), header, delimiter=delimiter).header)
    if known.name == "parquet":
        with path.open("rb") as stream:
            return list(parquet.read_schema(stream).names)
    return []
