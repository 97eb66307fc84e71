"""What makes a network of the edges in a file: what it or another one says of people, and kinds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphveil.core.errors import DataError, InputError
from graphveil.core.hints import did_you_mean, option
from graphveil.core.questions import Problem
from graphveil.data import Network, Table
from graphveil.data.id_columns import naming_columns
from graphveil.data.ids import as_ids, as_text, distinct, positions, to_arrow
from graphveil.data.layers import may_mark_modes
from graphveil.data.network_conversions import cells_of
from graphveil.data.spellings import accents_apart
from graphveil.io.attribute_values import attribute_columns
from graphveil.io.edge_types import layers_of
from graphveil.io.formats import NetworkOptions, TableOptions
from graphveil.io.graph_builder import refuse_two_modes
from graphveil.io.opening import ReadTies, list_of, over_all_nodes
from graphveil.io.parsed import ParsedArcs, ids_listed, questions_about_cells
from graphveil.io.source import Source, shown
from graphveil.io.text.guessed_kind import columns_of

SHOWN = 5
"""So many ids that nobody listed stand in a message."""


def network_of(source: Source, arcs: ParsedArcs, options: NetworkOptions) -> ReadTies:
    """Return the network of arcs, with what the same file or that of nodes says of people."""
    people = _people(source, arcs, options)
    if people is not None:
        arcs = _over(source, arcs, people, options.nodes or source.path)
    elif options.nodes is not None:
        arcs = over_all_nodes(source, arcs, options.nodes)
    if options.nodes is not None and people is not None and not options.one_mode:
        said = {
            name: dict(enumerate(values))
            for name, values in cells_of(people).items()
            if may_mark_modes(name)
        }
        ends = zip(arcs.source.tolist(), arcs.target.tolist(), strict=True)
        refuse_two_modes(list_of(options.nodes, options.encoding), said, ends)
    read, notes = layers_of(source, arcs, arcs.labels.size, options), arcs.notes
    notes.attributes_ignored += read.left_out
    if people is not None and not people.columns:  # all attributes are dropped
        people = None
    try:
        network = Network(read.layers, people, arcs.labels, notes.left_out)
    except DataError as error:
        (source if options.nodes is None else list_of(options.nodes, options.encoding)).refuse(
            error.message.text
        )
    if network.people is not None:
        notes.suppressed_cells = network.people.n_suppressed
        notes.naming = naming_columns(network.people)
    return ReadTies(network, read.dropped, read.symmetrized)


class _Given(NamedTuple):
    """Attributes as a file gives them, the ids of whom they are said, and what is asked of them."""

    ids: Any
    columns: Mapping[str, Any]
    options: TableOptions
    dropped: Sequence[str] = ()
    problems: Sequence[Problem] = ()


def _people(source: Source, arcs: ParsedArcs, options: NetworkOptions) -> Table | None:
    """Return what is said of people, a row an id, in the order of ids; None where it is nothing."""
    if options.nodes is None:
        if not arcs.people:
            return None
        columns, asked, binned = attribute_columns(arcs.people, options.of_people)
        return _table(source, _Given(arcs.labels, columns, binned, problems=asked))
    names = columns_of(options.nodes, None, header="yes", encoding=options.encoding).names
    if len(names) < 2:
        return None
    if arcs.people:
        source.refuse(
            f"node attributes are both in this file ({shown(', '.join(arcs.people))}) and in "
            f"{options.nodes.name}. Remove {option('nodes')}, or give a node list without "
            "attributes."
        )
    file = list_of(options.nodes, options.encoding)
    node = options.node_column or names[0]
    if node not in names:
        file.refuse(f"no column {node!r}. {did_you_mean(node, names)}Columns: {', '.join(names)}.")
    how = dataclasses.replace(options.of_people, ids=node)
    read = file.format.reader("table")(file, how)
    cells = dict(read.columns)
    problems = [*read.problems, *questions_about_cells(cells, how)]
    kept = dataclasses.replace(how, drop=())  # they were not read
    return _table(file, _Given(cells.pop(node), cells, kept, how.drop, problems))


def _table(source: Source, given: _Given) -> Table:
    """Return the rows of people in the order of their ids."""
    how, problems = given.options, [*given.problems]
    try:
        ids = as_ids(given.ids, what="node ids")
        ids = ids if ids.dtype.kind == "i" else ids_listed(ids.tolist())
        if ids.dtype.kind != "i":
            accents_apart(to_arrow(ids))  # refuses ids that look the same
        table = Table.from_columns(
            dict(given.columns), suppressed=how.suppressed, bins=how.bins, drop=how.drop
        )
        codes = table.codes if table.columns else np.empty((ids.size, 0), dtype=np.int32)
        table = Table(codes, table.columns, table.categories, ids)
    except DataError as error:
        problems += error.asked
        if not problems:
            source.refuse(error.message.text)
    if problems:
        said = {**vars(how), "drop": [*how.drop, *given.dropped]}
        raise InputError.asking(problems, said, f"{source.name}: ")
    labels = distinct(ids)
    return table.permuted(np.argsort(positions(ids, labels, what="ids")), ids=labels)


def _over(source: Source, arcs: ParsedArcs, people: Table, listed: Path) -> ParsedArcs:
    """Return the arcs over all people."""
    labels, every = arcs.labels, people.labels()
    if labels.dtype.kind != every.dtype.kind:
        labels, every = as_text(labels), as_text(every)
    listed_ids = set(every.tolist())
    strange = [name for name in labels.tolist() if name not in listed_ids]
    if strange:
        first = ", ".join(shown(str(name)) for name in strange[:SHOWN])
        more = ", ..." if len(strange) > SHOWN else ""
        ids_are = "id is" if len(strange) == 1 else "ids are"
        source.refuse(
            f"{listed.name} does not list every node of the edges: {len(strange):,} {ids_are} "
            f"missing ({first}{more}). Add them, or remove their edges."
        )
    at = positions(labels, every, what="ids")
    arcs.source, arcs.target, arcs.labels = at[arcs.source], at[arcs.target], every
    return arcs
