"""In every format a released file holds numbers, written in one way, and nothing else."""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from edit_counts import note
from hypothesis import given, settings
from hypothesis import strategies as st
from tampering import provenance_of

from forged.kit import parquet_of, reseal
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.data import Graph
from graphveil.release import Release, read_manifest, read_release
from graphveil.verbs.verify import verify_release as verify
from graphveil.verify.database import database
from graphveil.verify.files.loading import load
from graphveil.verify.files.released import Released
from graphveil.verify.kinds.registry import CHECKED_KINDS

TEXT_FORMATS = ["csv", "tsv", "text", "graphml"]


def write_release(place: Path, name: str) -> Path:
    """Return the folder of a cycle of five nodes beside two isolated ones, k=2."""
    return Release(
        data=Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 4, 4], n=7),
        guarantee=StructuralKAnonymity(k=2),
        provenance=provenance_of(
            "k-degree",
            {"k": 2, "edits": "any", "target": "exact", "near": True},
        ),
    ).write(place / "release", format=name)


def data_file(folder: Path) -> Path:
    return next(folder.glob("data.*"))


def replace_data(folder: Path, content: bytes) -> None:
    """Write the data file as a careful attacker does: its digest and a new seal beside it."""
    path = data_file(folder)
    path.write_bytes(content)
    manifest = json.loads((folder / "release.json").read_bytes())
    file = next(file for file in manifest["data"]["files"] if file["name"] == path.name)
    file["bytes"] = len(content)
    file["sha256"] = hashlib.sha256(content).hexdigest()
    manifest["seal"] = ""
    raw = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    manifest["seal"] = hashlib.sha256(raw).hexdigest()
    raw = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    (folder / "release.json").write_bytes(raw)


def failed(verdict) -> dict[str, str]:
    return {item.name: item.detail for item in verdict.checks if item.outcome == "fails"}


def degrees_read(folder: Path, described) -> tuple[int, Counter]:
    """Return the number of nodes and the degrees that the checker sees."""
    with database([folder]) as db:
        load(db, Released(folder), described, CHECKED_KINDS["graph"])
        ends = db.rows("SELECT source FROM edges UNION ALL SELECT target FROM edges")
        n = db.number("SELECT count(*) FROM nodes")
    return n, Counter(Counter(end for (end,) in ends).values())


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("graphml", b'    <node id="0"/>', b'    <node id="0" name="ann"/>'),
        ("graphml", b"  </graph>", b"  <!-- ann -->\n  </graph>"),
        ("graphml", b'"undirected"', b'"directed"'),
        ("graphml", b'    <node id="0"/>', b'  <no0de id=""/>'),
        ("graphml", b'    <node id="0"/>', b'    <node id="00"/>'),
        ("graphml", b'    <node id="0"/>', b'    <node id="\xd9\xa0"/>'),
    ],
)
def test_a_word_too_many_or_a_number_out_of_place_is_found(tmp_path, name, old, new):
    folder = write_release(tmp_path, name)
    assert verify(folder).ok
    content = data_file(folder).read_bytes()
    assert old in content
    replace_data(folder, content.replace(old, new, 1))
    assert data_file(folder).name in failed(verify(folder))["data"]


def test_the_line_of_a_word_too_many_is_named(tmp_path):
    folder = write_release(tmp_path, "graphml")
    content = data_file(folder).read_bytes()
    replace_data(folder, content.replace(b'<node id="2"/>', b'<node id="2" a="b"/>'))
    assert "data.graphml, line 6 is" in failed(verify(folder))["data"]


def test_an_edge_that_is_taken_away_leaves_a_class_that_is_named(tmp_path):
    folder = write_release(tmp_path, "graphml")
    less = Release(
        data=Graph.from_edges([0, 1, 2], [1, 2, 3], n=7),
        guarantee=StructuralKAnonymity(k=2),
        provenance=provenance_of("k-degree", {}),
    ).write(tmp_path / "less", format="graphml")
    replace_data(folder, data_file(less).read_bytes())
    problems = failed(verify(folder))
    assert {"classes", "counts"} >= set(problems)
    assert "3 edges in the data, but release.json states 5" in problems["counts"]


@pytest.mark.parametrize("extra", [["name"], ["source"]])
def test_a_column_too_many_or_of_another_name_is_found(tmp_path, extra):
    folder = write_release(tmp_path, "parquet")
    table = pq.read_table(data_file(folder))
    if extra == ["name"]:
        table = table.append_column("name", pa.array(["ann"] * 5))
    else:
        table = table.rename_columns(["target", "source"])
    sink = io.BytesIO()
    pq.write_table(table, sink, store_schema=False)
    replace_data(folder, sink.getvalue())
    assert "data.parquet has the columns" in failed(verify(folder))["data"]


@pytest.mark.parametrize("kind", [pa.float64(), pa.string(), pa.decimal128(22, 2)])
def test_ids_that_are_no_integers_are_found(tmp_path, kind):
    folder = write_release(tmp_path, "parquet")
    table = pq.read_table(data_file(folder))
    table = pa.table([column.cast(kind) for column in table.columns], names=table.column_names)
    sink = io.BytesIO()
    pq.write_table(table, sink, store_schema=False)
    replace_data(folder, sink.getvalue())
    assert "not int64" in failed(verify(folder))["data"]


def test_an_end_that_is_missing_is_named_with_its_row(tmp_path):
    folder = write_release(tmp_path, "parquet")
    table = pa.table({"source": [0, 0, 1, None, 3], "target": [1, 4, 2, 3, 4]})
    replace_data(folder, parquet_of(table))
    assert "data.parquet: row 4 has no source" == failed(verify(folder))["data"]


@pytest.mark.counts_edits(
    *("classes", "counts", "ids", "simple graph", "endpoints", "canonical order")
)
@settings(deadline=None, max_examples=150)
@given(
    name=st.sampled_from([*TEXT_FORMATS, "parquet"]),
    place=st.integers(0, 5_000),
    drop=st.integers(0, 6),
    put_in=st.one_of(
        st.binary(max_size=4),
        st.sampled_from("0123456789"),
        st.text('0123456789 ,\t\n;:#"', max_size=5),
    ),
)
def test_no_sealed_edit_is_read_by_the_checker_in_another_way_than_by_the_reader(
    tmp_path_factory, name, place, drop, put_in
):
    folder = write_release(tmp_path_factory.mktemp("edit"), name)
    content = data_file(folder).read_bytes()
    place %= len(content)
    put_in = put_in if isinstance(put_in, bytes) else put_in.encode()
    replace_data(folder, content[:place] + put_in + content[place + drop :])
    verdict = verify(folder)
    note(failed(verdict))
    outcome = {check.name: check.outcome for check in verdict.checks}
    shape = ("data", "ids", "simple graph", "endpoints", "canonical order")
    if all(outcome[item] == "holds" for item in shape):
        read = read_release(folder).data
        degrees = read.degrees()
        n, seen = degrees_read(folder, read_manifest(folder).data)
        assert (read.n_nodes, Counter(degrees[degrees > 0].tolist())) == (n, seen)


def listed_twice(folder):
    manifest = json.loads((folder / "release.json").read_bytes())
    files = manifest["data"]["files"]
    for file in [*files]:
        copy = f"copy-{file['name']}"
        (folder / copy).write_bytes((folder / file["name"]).read_bytes())
        files.append(file | {"name": copy})
    reseal(folder, manifest)


def ids_next_to_graphml(folder):
    manifest = json.loads((folder / "release.json").read_bytes())
    (folder / "nodes.csv").write_text("node\n" + "".join(f"{n}\n" for n in range(7)))
    more = {"name": "nodes.csv", "role": "nodes", "format": "csv", "columns": ["node"], "rows": 7}
    manifest["data"]["files"].append(more)
    reseal(folder, manifest)


@pytest.mark.parametrize(
    ("name", "change", "table"),
    [
        ("csv", listed_twice, "edges"),
        ("parquet", listed_twice, "edges"),
        ("graphml", ids_next_to_graphml, "nodes"),
    ],
)
def test_files_that_list_the_same_are_refused_in_words_of_a_release(tmp_path, name, change, table):
    folder = write_release(tmp_path, name)
    change(folder)
    said = [check.detail for check in verify(folder).failures()]
    assert f"more than one file of the release lists the {table}" in said
    assert not any("Catalog" in detail for detail in said)
