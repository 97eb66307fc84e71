"""Node-link JSON, as NetworkX and D3 write it: a list of nodes, and one of links or edges."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import IO, Any

import msgspec

from graphveil.core.errors import UsageError
from graphveil.data import Network
from graphveil.data.network_conversions import cells_of, rows_of
from graphveil.io.formats import Format, GraphOptions
from graphveil.io.graph_builder import Builder, check_signs
from graphveil.io.parsed import ParsedArcs
from graphveil.io.source import Source, shown

LISTS = ("edges", "links")
"""What the list of edges is called: by NetworkX now, and by NetworkX before and D3."""

_ENDS = ("source", "target")


def read_graph(source: Source, options: GraphOptions) -> ParsedArcs:
    """Return the arcs of a node-link file; ids are integers or text."""
    whole = _decoded(source)
    nodes, edges = (
        _list(source, whole, "nodes"),
        _list(source, whole, _name_of_edges(source, whole)),
    )
    builder = Builder(source, options)
    builder.directed = _directed(source, whole, "this JSON") or False
    spelled = _add_nodes(source, builder, nodes)
    for number, edge in enumerate(edges):
        _add_edge(source, builder, spelled, edge, f"edge {number + 1}")
    if options.column_of_kinds != "key" and not _only_counted(edges):
        builder.attribute("key")
    return builder.arcs(use_labels=False)


def _add_nodes(
    source: Source, builder: Builder, nodes: list[dict[str, Any]]
) -> dict[str, int | str]:
    """Add the nodes, and return their ids by the text that spells them."""
    spelled: dict[str, int | str] = {}
    for number, node in enumerate(nodes):
        key = _id(source, node, "id", f"node {number + 1}")
        if spelled.setdefault(str(key), key) != key:
            source.refuse(
                f"{shown(key)} is used as a node id both as a number and as text. Rename one."
            )
        builder.node(str(key), None)
        for name, value in node.items():
            if name != "id":
                builder.node_attribute(name, value)
    return spelled


def _add_edge(
    source: Source, builder: Builder, spelled: dict[str, int | str], edge: dict[str, Any], what: str
) -> None:
    ends = [_id(source, edge, end, what) for end in _ENDS]
    for end in ends:
        if spelled.get(str(end)) != end:
            source.refuse(f"{what}: {shown(end)} is not a listed node. Add it to the nodes.")
    builder.edge(*map(str, ends), directed=_directed(source, edge, what))
    for name, value in edge.items():
        if name not in {*_ENDS, "directed", "key"}:
            builder.edge_attribute(name, value)
        elif name == "key":
            builder.edge_key(name, value)


def write_network(network: Network, stream: IO[bytes], form: Format) -> None:
    """Write nodes with their attributes, and edges, as NetworkX's ``node_link_data`` does."""
    if "id" in network.attributes:
        raise UsageError(
            "in node-link JSON, id is the id of a node, so an attribute cannot have this name. "
            "Rename it, or write GraphML or GEXF."
        )
    labels, directed = network.labels().tolist(), network.is_directed
    check_signs([str(label) for label in labels], form)
    cells = cells_of(network.people)
    several = len(network.layers) > 1
    whole = {
        "directed": directed,
        "multigraph": several,
        "graph": {},
        "nodes": [
            {**dict(zip(cells, said, strict=True)), "id": label}
            for label, said in zip(labels, rows_of(cells, len(labels)), strict=True)
        ],
        LISTS[0]: [
            {"source": labels[u], "target": labels[v], **({"key": layer} if several else {})}
            for layer, u, v in network.listed_ties(both_ways=directed)
        ],
    }
    stream.write(msgspec.json.encode(whole) + b"\n")


def _decoded(source: Source) -> dict[str, Any]:
    text = source.text()
    try:
        whole = msgspec.json.decode(text)
    except RecursionError:
        source.refuse(
            "this JSON has lists or objects too deep inside each other. Write it as node-link data."
        )
    except msgspec.DecodeError as error:
        whole = _with_unknown_numbers(text)
        if whole is None:
            source.refuse(f"this is not complete JSON ({shown(error)}). Write it again.")
    if not isinstance(whole, dict):
        source.refuse(
            "this JSON is not an object with nodes and edges. Write it as node-link data."
        )
    return whole


def _with_unknown_numbers(text: str) -> Any:
    """Return JSON in which Python wrote NaN or an infinity, as null; None where it is not JSON."""
    if not re.search(r"\b(NaN|Infinity)\b", text):
        return None
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None


def _name_of_edges(source: Source, whole: dict[str, Any]) -> str:
    named = [name for name in LISTS if name in whole]
    if len(named) != 1:
        both = "both edges and links" if named else "neither edges nor links"
        source.refuse(f"this JSON has {both}. Write it as node-link data with one of them.")
    return named[0]


def _list(source: Source, whole: dict[str, Any], name: str) -> list[dict[str, Any]]:
    listed = whole.get(name)
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        source.refuse(f"{name} is not a list of objects. Write it as node-link data.")
    return listed


def _id(source: Source, item: dict[str, Any], name: str, what: str) -> int | str:
    value = item.get(name)
    if isinstance(value, bool) or not isinstance(value, int | str):
        has = f"{shown(value)} as {name}" if name in item else f"no {name}"
        source.refuse(f"{what} has {has}. Use an integer or text.")
    return value


def _directed(source: Source, item: dict[str, Any], what: str) -> bool | None:
    """Return whether something calls itself directed; None where it says nothing."""
    if "directed" not in item:
        return None
    said = item["directed"]
    if not isinstance(said, bool):
        spelled = shown(msgspec.json.encode(said).decode())
        source.refuse(
            f"{what} has the value {spelled} for directed. Write true or false, without quotes."
        )
    return said


def _only_counted(edges: list[dict[str, Any]]) -> bool:
    """Whether the keys of edges, where they have any, count those between the same ends."""
    before: Counter[tuple[int | str, int | str]] = Counter()
    if not any("key" in edge for edge in edges):
        return True
    for edge in edges:
        ends = (edge["source"], edge["target"])
        if "key" in edge and (isinstance(edge["key"], bool) or edge["key"] != before[ends]):
            return False
        before[ends] += 1
    return True
