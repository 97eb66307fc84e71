"""Open a file, or a folder of its parts, and the lists of ids that a second file holds."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import NamedTuple

from graphveil.core.errors import DataError, InputError
from graphveil.data import Network
from graphveil.data.csr import Dropped
from graphveil.data.ids import Ids, as_text, distinct, positions
from graphveil.io.formats import Header, format_of, parts_of
from graphveil.io.parsed import ParsedArcs, ParsedColumn
from graphveil.io.source import Source
from graphveil.io.text.dialect import sniff
from graphveil.io.text.header import names_again, refuse_first_id


class ReadTies(NamedTuple):
    """What the edges of a file became, what was dropped, and how many arcs lost their direction."""

    network: Network
    dropped: Dropped
    symmetrized: int


def source_of(
    path: str | Path, form: str | None, header: Header | None = None, encoding: str | None = None
) -> Source:
    """Return the file, or the folder of its parts, as readers take it."""
    path = Path(path)
    if not path.is_dir():
        source = Source(path, format_of(path, form), encoding=encoding)
        source.check()
        return source
    if header is None:
        raise InputError(f"{path.name or path} is a folder. Give one file.")
    parts = tuple(part for part in parts_of(path) if part.stat().st_size)
    source = Source(path, format_of(path, form), parts or parts_of(path), encoding=encoding)
    source.check()
    if source.format.module == "delimited" and header != "no":
        return dataclasses.replace(source, skipped=names_again(source, header))
    return source


def over_all_nodes(source: Source, arcs: ParsedArcs, path: Path) -> ParsedArcs:
    """Return the arcs over the nodes that a second file lists."""
    position, labels = over_listed(source, arcs.labels, path)
    arcs.source, arcs.target, arcs.labels = position[arcs.source], position[arcs.target], labels
    return arcs


def over_listed(source: Source, labels: Ids, path: Path) -> ParsedColumn:
    """Return the positions of labels among the ids that a second file lists, and these ids."""
    every = _listed_ids(path, labels, source.encoding)
    if labels.dtype.kind != every.dtype.kind:
        labels, every = as_text(labels), distinct(as_text(every))
    try:
        return ParsedColumn(positions(labels, every, what="ids"), every)
    except DataError as error:
        source.refuse(f"{path.name} is incomplete. {error}")


def list_of(path: str | Path, encoding: str | None) -> Source:
    """Return a second file, whose text has the encoding of the first one."""
    plain = format_of(Path(path), None).module == "delimited"
    return source_of(path, None, encoding=encoding if plain else None)


def _listed_ids(path: str | Path, known: Ids, encoding: str | None) -> Ids:
    """Return the ids in a list; refuse a first line that may be the name of their column."""
    source = list_of(path, encoding)
    listed: ParsedColumn = source.format.reader("ids")(source)
    ids: Ids = listed.labels
    if source.format.module == "delimited" and ids.dtype.kind == "T" and ids.size > 1:
        first = str(ids[listed.codes[0]])
        dialect = sniff(source, "auto", spaces=False)
        if dialect.undecided and first not in known.tolist():
            refuse_first_id(dialect, first)
    return ids
