"""Names of columns, people and items are hostile: whatever prints them shows them, escaped."""

from __future__ import annotations

import json
import unicodedata
import warnings

import pyarrow as pa
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.core.visible import visible, visible_json

CLEAR = "\x1b[2J"
HOSTILE = f"col{CLEAR}\u202e\u200b\x9b31m\x07"
SHOWN = "col\\x1b[2J\\u202e\\u200b\\x9b31m\\x07"


def obeyed(text):
    """Return the characters that a terminal obeys or nobody sees, line feeds aside."""
    categories = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return sorted({c for c in text if c != "\n" and unicodedata.category(c) in categories})


@pytest.fixture
def table(cwd):
    """A file of 15 people with hostile names of columns and cells."""
    columns = {
        HOSTILE: [f"{CLEAR}{row % 3}" for row in range(15)],
        f"{CLEAR}town": [["oslo", "rome", "bern"][row % 3] for row in range(15)],
    }
    parquet.write_table(pa.table(columns), cwd / "people.parquet")
    return "people.parquet"


@pytest.fixture
def likes(cwd):
    """A file of 16 users whose items have hostile names."""
    pairs = [(f"{CLEAR}u{user}", f"{CLEAR}item{user % 4}\u200b") for user in range(16)]
    columns = dict(zip(("user", "item"), map(list, zip(*pairs, strict=True)), strict=True))
    parquet.write_table(pa.table(columns), cwd / "likes.parquet")
    return "likes.parquet"


def assert_shown(done, *codes):
    assert done.code in (codes or (0,)), done.err
    assert [] == obeyed(done.out + done.err), (done.out, done.err)


def test_every_verb_on_a_table_shows_a_hostile_name(graphveil_here, table):
    assert_shown(graphveil_here("measure", table, "--kind", "table"))
    named = graphveil_here("measure", table, "--kind", "table", "--columns", HOSTILE)
    assert_shown(named)
    assert SHOWN in named.out
    assert_shown(graphveil_here("advise", table, "--kind", "table"))
    run = ("anonymize", "cluster-k", table, "--kind", "table", "--k", 2, "--out", "out")
    assert_shown(graphveil_here(*run))
    assert_shown(graphveil_here("verify", "out", "--original", table), 0, 1)
    assert_shown(graphveil_here("evaluate", "out", "--original", table))
    assert_shown(graphveil_here("attack", "out", "--original", table))


def test_every_verb_on_users_and_items_shows_a_hostile_name(graphveil_here, likes):
    assert_shown(graphveil_here("measure", likes, "--k", 99))
    assert_shown(graphveil_here("advise", likes))
    assert_shown(graphveil_here("anonymize", "mondrian", likes, "--k", 5, "--out", "out"))
    assert_shown(graphveil_here("verify", "out", "--original", likes))
    assert_shown(graphveil_here("evaluate", "out", "--original", likes))
    assert_shown(graphveil_here("attack", "out", "--original", likes))


def test_json_escapes_a_hostile_name_and_still_says_it(graphveil_here, likes):
    done = graphveil_here("measure", likes, "--k", 99, "--json")
    assert_shown(done)
    assert f"{CLEAR}u0" in json.loads(done.out)["unprotected"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("measure", "people.parquet", "--kind", "table", "--columns", "none"),
        ("measure", "people.parquet", "--kind", "table", "--ids", "none"),
        ("measure", "people.parquet", "--kind", "bipartite", "--user-column", "none"),
        ("measure", "people.parquet", "--kind", "graph", "--source-column", HOSTILE),
        ("measure", "people.parquet"),
        ("measure", f"no{CLEAR}file.parquet"),
        ("anonymize", "mondrian", "people.parquet", "--kind", "table", "--k", "99", "--out", "x"),
    ],
)
@pytest.mark.usefixtures("table")
def test_an_error_shows_a_hostile_name(graphveil_here, arguments):
    assert_shown(graphveil_here(*arguments), 2)


def test_a_name_of_a_file_in_an_error_of_the_system_is_shown(graphveil_here, cwd):
    folder = cwd / f"no{CLEAR}folder"
    folder.mkdir(mode=0o500)
    done = graphveil_here("anonymize", "k-degree", "friends.csv", "--out", f"{folder}/a/b/out")
    assert [] == obeyed(done.err)


def test_a_traceback_and_a_warning_of_a_library_are_shown(graphveil_here, monkeypatch):
    def bug(*_args, **_kwargs):
        warnings.warn(HOSTILE, stacklevel=1)
        raise TypeError(HOSTILE)

    monkeypatch.setattr("graphveil.io.load", bug)
    done = graphveil_here("measure", "friends.csv")
    assert SHOWN in done.err
    assert_shown(done, 70)


def test_reprs_errors_and_tables_of_notebooks_show_a_hostile_name(tmp_path):
    table = gv.Table.from_columns({HOSTILE: ["a", "b"] * 4, f"{CLEAR}x": ["c", "c"] * 4})
    release = gv.ClusterK(k=2).anonymize(table)
    measured = gv.measure(table, columns=[HOSTILE])
    verdict = release.verify(table)
    evaluated = release.evaluate(table)
    things = [table, release, measured, verdict, evaluated, measured.rows(), gv.advise(table)]
    for thing in things:
        assert [] == obeyed(repr(thing)), type(thing)
        assert [] == obeyed(str(thing)), type(thing)
        page = getattr(thing, "_repr_html_", str)()
        assert [] == obeyed(page), type(thing)
    with pytest.raises(gv.GraphveilError) as raised:
        gv.measure(table, columns=[f"{HOSTILE}none"])
    assert [] == obeyed(str(raised.value))
    (tmp_path / "a.csv").write_text(f"source,target\na{CLEAR},b\nb,b\n", encoding="utf-8")
    with pytest.warns(gv.GraphveilWarning) as noted:
        gv.read_graph(tmp_path / "a.csv", header="yes")
    assert [] == obeyed("".join(str(each.message) for each in noted))


def test_no_character_that_a_terminal_obeys_or_nobody_sees_is_printed_as_it_is():
    categories = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    every = [chr(code) for code in range(0x110000)]
    strange = [c for c in every if unicodedata.category(c) in categories]
    missed = [ascii(c) for c in strange if visible(c) == c]
    assert [] == missed
    assert "Zoë 李 🙂 é-1_2.3" == visible("Zoë 李 🙂 é-1_2.3")


def test_escaped_json_says_what_it_said():
    text = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000, 7), 0xE0041]))
    again = visible_json(json.dumps(text, ensure_ascii=False))
    assert [] == obeyed(again)
    assert text == json.loads(again)
