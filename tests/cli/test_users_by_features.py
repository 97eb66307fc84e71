from __future__ import annotations

import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from graphveil.methods.smooth_k import SmoothK

LIKES = "user,item\n" + "".join(
    f"person-{number:02d},{item}\n"
    for number in range(24)
    for column, item in enumerate(("tea", "rye", "gin", '"oil, green"'))
    if (number * 7 + column * 5) % 3
)
SMOOTH = ("anonymize", "smooth-k", "likes.csv", "--k", 3)


@pytest.fixture
def likes(cwd):
    (cwd / "likes.csv").write_text(LIKES)
    return cwd


def record_of(folder):
    return json.loads((folder.with_name(f"{folder.name}.private") / "record.json").read_text())


@pytest.mark.parametrize("method", ["smooth-k", "suppress-k", "mondrian"])
def test_from_a_file_of_pairs_to_a_verified_release(graphveil_here, likes, method):
    done = graphveil_here("anonymize", method, "likes.csv", "--k", 3, "--out", "out")
    assert 0 == done.code
    assert "person-" not in (likes / "out" / "data.csv").read_text()
    checked = graphveil_here("verify", "out", "--original", "likes.csv")
    assert 0 == checked.code
    assert "not checked" not in checked.out
    assert 0 == graphveil_here("evaluate", "out", "--original", "likes.csv", "--json").code


def test_a_table_is_released_as_a_table(graphveil_here, cwd):
    rows = "".join(f"{'fm'[i % 2]},{i % 3},{i % 5}\n" for i in range(30))
    (cwd / "people.csv").write_text(f"sex,age,town\n{rows}")
    flags = ("--k", 3, "--kind", "table", "--out", "out")
    assert 0 == graphveil_here("anonymize", "smooth-k", "people.csv", *flags).code
    assert (cwd / "out" / "data.csv").read_text().startswith("sex,age,town\n")
    assert 0 == graphveil_here("verify", "out", "--original", "people.csv").code


def test_a_second_release_is_nested_in_the_first(graphveil_here, likes):
    assert 0 == graphveil_here(*SMOOTH, "--out", "one").code
    again = ("anonymize", "smooth-k", "likes.csv", "--k", 8, "--out", "two")
    nested = graphveil_here(*again, "--nested-in", "one")
    assert (0, False) == (nested.code, "of this input" in nested.err)
    alone = graphveil_here(*again[:-1], "alone")
    assert (0, True) == (alone.code, "2 other releases of this input" in alone.err)
    assert (likes / "alone").is_dir()
    assert 0 == graphveil_here("verify", "two", "--original", "likes.csv").code
    nowhere = graphveil_here(*again[:-1], "three", "--nested-in", "nowhere")
    assert 2 == nowhere.code
    assert "nowhere" in nowhere.err.splitlines()[-1]


def test_chunks_need_no_processes_of_their_own_kind(graphveil_here, likes):
    flags = (*SMOOTH, "--chunk-rows", 12, "--seed", 5)
    for jobs in (1, 2):
        out = f"out-{jobs}"
        assert 0 == graphveil_here(*flags, "--jobs", jobs, "--out", out).code
    one, two = ((likes / f"out-{jobs}" / "data.csv").read_bytes() for jobs in (1, 2))
    assert one == two
    assert record_of(likes / "out-1")["cost"] == record_of(likes / "out-2")["cost"]


@pytest.mark.parametrize(
    ("name", "form", "words"),
    [
        ("1e5", "csv", "'1e5' could not be read back from csv: there it is not an integer"),
        ("-3", "tsv", "'-3' could not be read back from tsv: there it is negative"),
        ("two\nlines", "csv", "contains a line break"),
        ("tea", "mtx", "mtx is not a format of a release"),
    ],
)
@pytest.mark.parametrize("ways", [[], ["--on-disk"]], ids=["in memory", "on disk"])
def test_a_name_that_the_format_cannot_hold_is_refused_before_the_run(
    graphveil_here, likes, monkeypatch, name, form, words, ways
):
    table = pa.table({"user": [1, 2, 3, 4], "item": ["rye", "rye", name, name]})
    parquet.write_table(table, likes / "odd.parquet")
    monkeypatch.setattr(SmoothK, "clustering", lambda _: pytest.fail("the run began"))
    flags = ("--k", 2, "--chunk-rows", 4, "--jobs", 1, "--out", "out")
    done = graphveil_here("anonymize", "smooth-k", "odd.parquet", *flags, "--format", form, *ways)
    assert 2 == done.code, done.err
    assert words in done.err
    assert "parquet" in done.err or form == "mtx"
    assert not (likes / "out").exists()


def test_names_of_digits_with_zeros_in_front_are_names(graphveil_here, likes):
    (likes / "codes.csv").write_text("user,item\n1,007\n2,007\n3,7\n4,7\n")
    flags = ("--k", 2, "--out", "out")
    assert 0 == graphveil_here("anonymize", "suppress-k", "codes.csv", *flags).code
    assert ",007\n" in (likes / "out" / "data.csv").read_text()
    assert 0 == graphveil_here("verify", "out", "--original", "codes.csv").code


FOLLOWS = "who,whom\nann,cyd\nann,dan\nbob,cyd\nbob,dan\ncyd,ann\ncyd,bob\ndan,ann\ndan,bob\n"


@pytest.mark.parametrize("way", [(), ("--on-disk", "--chunk-rows", 4)], ids=["memory", "disk"])
def test_people_among_the_items_are_asked_for_and_get_new_ids(graphveil_here, cwd, way):
    (cwd / "follows.csv").write_text(FOLLOWS)
    command = ("anonymize", "suppress-k", "follows.csv", "--kind", "bipartite", "--k", 2)
    command += ("--out", "out", *way)
    done = graphveil_here(*command, "--header", "yes")
    assert 2 == done.code
    assert "4 of 4 item ids (100.0%) are also user ids" in done.err
    assert "Use --items people to give them new ids, or --items things" in done.err
    assert not (cwd / "out").exists()
    assert 0 == graphveil_here(*command, "--header", "yes", "--items", "people").code
    cells = (cwd / "out" / "data.csv").read_text().replace("\n", ",").split(",")
    assert {"user", "item", "0", "1", "2", "3"} == set(filter(None, cells))
    done = graphveil_here("verify", "out", "--original", "follows.csv", "--all")
    assert (0, "") == (done.code, done.err)
    assert 0 == done.out.count("not checked  ")
    assert "people as items: each of 4 items is the id of a user" in done.out


def test_a_graph_is_anonymized_as_people_by_people(graphveil_here, cwd):
    (cwd / "ties.csv").write_text("source,target\nann,cyd\nann,dan\nbob,cyd\nbob,dan\n")
    command = ("anonymize", "suppress-k", "ties.csv", "--kind", "graph", "--k", 2, "--out", "out")
    assert 0 == graphveil_here(*command).code
    done = graphveil_here("verify", "out", "--original", "ties.csv")
    assert (0, "") == (done.code, done.err)
    assert "not checked" not in done.out


def test_columns_of_numbers_are_binned_by_the_flag_that_the_message_names(graphveil_here, cwd):
    rows = "height,town\n" + "".join(f"1.{51 + n},Oslo\n" for n in range(0, 40, 4))
    (cwd / "people.csv").write_text(rows)
    command = ("anonymize", "mondrian", "people.csv", "--kind", "table", "--k", 2, "--out", "out")
    done = graphveil_here(*command)
    assert 2 == done.code
    assert done.err.rstrip().endswith(
        "mondrian people.csv --kind table --k 2 --out out --bins height=median"
    )
    assert 0 == graphveil_here(*command, "--bins", "height=median").code
    assert "\n<=1.69,Oslo\n" in (cwd / "out" / "data.csv").read_text()
    done = graphveil_here("verify", "out", "--original", "people.csv")
    assert (0, "") == (done.code, done.err)
    done = graphveil_here(*command, "--bins", "height", "--force")
    assert (2, "--bins expects COLUMN=RULE, such as age=median, not 'height'.") == (
        done.code,
        done.err.removeprefix("graphveil: error: ").strip(),
    )
