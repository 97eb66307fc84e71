"""Which two columns of a file are the ends of an edge, and which one is the type.

The ends are chosen by option, by known names, or because there are only two columns. Each type
of edge becomes one layer, directed or not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError, did_you_mean, leave_out, option, options
from graphveil.core.lazy import lazy_module
from graphveil.core.text import counted
from graphveil.data.codes import binned
from graphveil.data.columns import NODE_LISTS, TOO_SHORT, Ties, known_pairs, named_columns, plain
from graphveil.data.csr import Dropped, neighbor_lists
from graphveil.data.layers import KINDS_OF_EDGES, TIES, Layer
from graphveil.io.options import Ends, NetworkOptions
from graphveil.io.parsed import ParsedArcs, ParsedKinds, ReadCounts
from graphveil.io.source import Source, shown

pa = lazy_module("pyarrow")

MOST_COLUMNS_OF_PAIRS = 3
"""A file of more columns is no list of pairs, unless names of columns or options say so."""

_LABELS = re.compile(r"((edge|tie|link)[ _-]?)?labels?", re.IGNORECASE)
"""Names of columns that may say of which kind a tie is, and may as well name each."""


def two_columns(
    source: Source,
    header: tuple[str, ...],
    n_columns: int,
    notes: ReadCounts,
    ends: Ends,
    *,
    by_position: bool = False,
) -> tuple[int, int]:
    """Return the columns of the two ends of a row; refuse further ones unless they are ignored."""
    if n_columns < 2:
        source.refuse(
            "only one column found, but each row needs two ids. Set the separator with "
            f"{option('delimiter')}."
        )
    if header and len(header) != n_columns:
        source.refuse(
            f"{len(header)} column names ({shown(', '.join(header))}) for rows of {n_columns} "
            "cells. Give one name per column."
        )
    beside = kind_column(source, header, n_columns, ends)
    chosen = _asked(source, header, n_columns, ends)
    named = known_pairs(header, graph=True)
    if chosen is None and beside is not None and n_columns == 3 and not named:
        first, second = (column for column in range(3) if column != beside)
        chosen = first, second
    if chosen is None:
        chosen = _recognized(source, header, n_columns, ends, by_position=by_position)
    if beside in chosen:
        source.refuse(
            f"{option('kind_column')} names an end of the edges. Choose a different column."
        )
    numbered = [f"column {number}" for number in range(1, n_columns + 1)]
    names = [name or number for name, number in zip(header or numbered, numbered, strict=True)]
    used = (*chosen, beside)
    further = tuple(name for column, name in enumerate(names) if column not in used)
    if further and not ends.ignore_weights:
        needed = "two" if beside is None else "three"
        out = leave_out()
        named_kinds = [
            name
            for name in further
            if any(one.fullmatch(name) for one in (KINDS_OF_EDGES, _LABELS))
        ]
        if ends.of_ties and beside is None and named_kinds:
            kind = option("kind_column", named_kinds[0])
            out = f"{out.removesuffix('.')}; or, if it contains the type of each edge, use {kind}."
        source.refuse(
            f"{counted(n_columns, 'column')} found, {needed} needed. Extra: "
            f"{shown(', '.join(further))}. {out}"
        )
    notes.columns_ignored = further
    return chosen


def kind_column(source: Source, header: tuple[str, ...], n_columns: int, ends: Ends) -> int | None:
    """Return the column that says of which kind a tie is, where there is one."""
    if ends.kind_column is None:
        return None
    return _column(source, header, n_columns, "kind_column", ends.kind_column)


def _asked(
    source: Source, header: tuple[str, ...], n_columns: int, ends: Ends
) -> tuple[int, int] | None:
    """Return the columns that the options name; None where they name none."""
    first, second = (
        None if value is None else _column(source, header, n_columns, name, value)
        for name, value in zip(ends.names, ends.asked, strict=True)
    )
    if first is None and second is None:
        return None
    if first is None or second is None:
        given, lacking = ends.names if second is None else ends.names[::-1]
        source.refuse(f"{option(given)} requires {option(lacking)}. Give both.")
    if first == second:
        source.refuse(
            f"{' and '.join(map(option, ends.names))} name the same column. Choose "
            "two different columns."
        )
    return first, second


def _column(
    source: Source, header: tuple[str, ...], n_columns: int, name: str, value: str | int
) -> int:
    """Return the column of this name, or else of this number."""
    if isinstance(value, str) and value in header:
        return header.index(value)
    text = str(value)
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= n_columns:
        return int(text[:9]) - 1
    return source.refuse(
        f"{option(name)}: no column {shown(text)}. "
        f"{did_you_mean(text, map(shown, header))}Columns: {_listed(header, n_columns)}."
    )


def _recognized(
    source: Source, header: tuple[str, ...], n_columns: int, ends: Ends, *, by_position: bool
) -> tuple[int, int]:
    """Return the columns of known names, or the only two; refuse what is not clear."""
    graph = ends.names[0] == "source_column"
    pairs = known_pairs(header, graph=graph)
    if (
        pairs
        and not all(header)
        and (plain(header[pairs[0][0]]), plain(header[pairs[0][1]])) in TOO_SHORT
    ):
        return refuse_columns(source, header, n_columns, ends, "like those of a matrix")
    if len(pairs) == 1:
        return pairs[0]
    if graph and tuple(map(plain, header)) in NODE_LISTS:
        say = options(**dict(zip(ends.names, header, strict=True)))
        source.refuse(
            f"this looks like a list of nodes (columns: {shown(', '.join(header))}). Give the "
            f"file of edges, or, if these are edges, give {say}"
        )
    if n_columns == 2 or (by_position and not header):
        return 0, 1
    why = "with no known pair of names" if header else "without names"
    if pairs:
        why = "with several possible pairs"
    return refuse_columns(source, header, n_columns, ends, why)


def refuse_columns(
    source: Source, header: tuple[str, ...], n_columns: int, ends: Ends, why: str
) -> NoReturn:
    """Refuse columns of which nobody said which two count, with what to copy.

    A file of many columns is a table more likely than not: two of its columns may name what people
    are, and nobody's ids, so none are proposed.
    """
    if n_columns > MOST_COLUMNS_OF_PAIRS:
        first, second = map(option, ends.names)
        say = f"{first} and {second} to name them, with {option('ignore_weights', value=True)}"
    else:
        examples: list[str | int] = [header[0], header[1]] if header and all(header[:2]) else [1, 2]
        named = dict(zip(ends.names, examples, strict=True))
        say = f"options that name the two, such as {options(**named, ignore_weights=True)}"
    pairs = "the ends of edges" if ends.names[0] == "source_column" else "users and items"
    table = (
        f" If each row is a person, use {option('kind', 'table')} and a method for tables."
        if "table" in source.format.kinds
        else ""
    )
    source.refuse(
        f"{counted(n_columns, 'column')} {why}: {_listed(header, n_columns)}.{table} If two "
        f"columns are {pairs}, use {say}"
    )


def _listed(header: tuple[str, ...], n_columns: int) -> str:
    """Return the names of the columns, or their numbers."""
    if not header:
        return f"columns 1 to {n_columns}"
    named = [shown(name) if name else f"(no name, number {i})" for i, name in enumerate(header, 1)]
    return ", ".join(named[:20]) + (f" and {len(named) - 20} more" if len(named) > 20 else "")


MOST_SHOWN = 8
"""So many kinds of ties stand in a message."""


def parsed_kinds(source: Source, named: Sequence[str | None]) -> ParsedKinds:
    """Return the kinds of ties that a file names, a name a tie."""
    kept = [name.strip() for name in named if name is not None]
    missing = len(named) - len(kept) + kept.count("")
    if missing:
        row = next(at for at, name in enumerate(named, start=1) if not (name or "").strip())
        source.refuse(
            f"{counted(missing, 'edge', 'has')} no type, starting with row {row}. Add "
            "the type, or remove these edges."
        )
    return ParsedKinds.of(kept)


class ReadLayers(NamedTuple):
    """What the ties of a file became.

    `layers`: in the order of their names; `dropped`: what was dropped of all of them;
    `symmetrized`: how many arcs lost their direction; `left_out`: the kinds that are not among the
    layers.
    """

    layers: tuple[Layer, ...]
    dropped: Dropped
    symmetrized: int
    left_out: tuple[str, ...]


def layers_of(source: Source, arcs: ParsedArcs, n: int, options: NetworkOptions) -> ReadLayers:
    """Return the layers of a file."""
    kinds = _grouped(source, arcs.kinds, options)
    every = (TIES,) if kinds is None else kinds.names or (TIES,)
    asked, plain = (
        _asked_kind(source, flag, getattr(options, flag), every, named=kinds is not None)
        for flag in ("kinds", "undirected")
    )
    chosen = [name for name in every if not asked or name in asked]
    layers, counts, symmetrized = [], np.zeros(3, dtype=np.int64), 0
    for name in chosen:
        of_kind = slice(None) if kinds is None else kinds.codes == every.index(name)
        how = replace(options, undirected=plain)
        layer, dropped, forgotten = _layer(source, arcs, of_kind, n, how, name)
        layers.append(layer)
        counts += dropped
        symmetrized += forgotten
    left_out = tuple(f"edges of type {name}" for name in every if name not in chosen)
    return ReadLayers(tuple(layers), Dropped(*counts.tolist()), symmetrized, left_out)


def _grouped(
    source: Source, kinds: ParsedKinds | None, options: NetworkOptions
) -> ParsedKinds | None:
    """Return the kinds, where numbers are grouped those of the groups."""
    column = options.kind_column
    rule = None if column is None else options.bins.get(column)
    if kinds is None or rule is None:
        return kinds
    try:
        numbers = np.array([float(name) for name in kinds.names])
    except ValueError:
        source.refuse(
            f"the edge types, {_listed_kinds(kinds.names)}, are not numbers, so they "
            "cannot be grouped."
        )
    groups = binned(pa.array(numbers[kinds.codes]), rule, name=str(column))
    return parsed_kinds(source, groups.to_pylist())


def _asked_kind(
    source: Source, flag: str, asked: Sequence[str], every: Sequence[str], *, named: bool
) -> tuple[str, ...]:
    """Return the kinds that an option names, one by one or with commas between."""
    names = named_columns(asked, every)
    for name in names:
        if not named:
            source.refuse(
                f"{option(flag, name)} names an edge type, but no column with edge types is "
                f"set. Use {option('kind_column')}."
            )
        if name not in every:
            source.refuse(
                f"no edges of type {shown(name)}. {did_you_mean(name, every)}Types: "
                f"{_listed_kinds(every)}."
            )
    return names


def _layer(
    source: Source,
    arcs: ParsedArcs,
    of_kind: slice | NDArray[np.bool_],
    n: int,
    options: NetworkOptions,
    name: str,
) -> tuple[Layer, Dropped, int]:
    """Return the ties of one kind, what was dropped, and how many arcs lost their direction."""
    ends = [arcs.source[of_kind], arcs.target[of_kind]]
    what = "" if arcs.kinds is None else f"{name}: "
    one_way = None if arcs.one_way is None else arcs.one_way[of_kind]
    said = arcs.directed if one_way is None or one_way.any() else False
    plain = said is False or name in options.undirected
    try:
        if options.directed == "keep" and not plain:
            if one_way is not None and not one_way.all():
                source.refuse(
                    f"{what}some edges are directed and others are not. Mark all of them as "
                    f"directed, or drop directions with {option('directed', 'symmetrize')}."
                )
            return *Layer.assemble(*ends, n=n, name=name), 0
        lists, dropped = neighbor_lists([end.copy() for end in ends], n)
        layer = Layer(name=name, directed=False, indptr=lists.indptr, indices=lists.indices)
    except DataError as error:
        source.refuse(error.message.text)
    if one_way is not None:  # edges stand there both ways, as the file does not
        dropped = dropped._replace(reciprocal_pairs=dropped.reciprocal_pairs * int(one_way.any()))
    ties = Ties(n=layer.n_ties, mutual=dropped.reciprocal_pairs, said=said, names=arcs.names)
    if not ties.matter or name in options.undirected:
        return layer, dropped, 0
    if options.directed == "refuse":
        source.refuse(f"{what}{ties.refusal} To keep directions, use {option('directed', 'keep')}.")
    return layer, dropped, ties.n - ties.mutual


def _listed_kinds(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(map(shown, names[:MOST_SHOWN])) + more
