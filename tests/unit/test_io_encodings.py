"""Text in other encodings is read only where its owner says which, and then as it was written."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from graphveil.core.errors import InputError
from graphveil.io.encodings import SINGLE_BYTE, likely

ROWS = "prénom;ville\nZoë;Köln\nJosé;Mâcon\nZoë;Mâcon\n"
WORDS = {
    "windows-1252": ["François", "Müller", "João", "Peña"],
    "windows-1250": ["Wąsowicz", "Łódź", "Šťastný"],
    "iso-8859-2": ["Wąsowicz", "Łódź", "Śląsk"],
    "windows-1251": ["Иванов", "Москва"],
    "windows-1253": ["Παπαδόπουλος", "Αθήνα"],
    "windows-1254": ["Şahin", "Çağlar"],
    "cp850": ["Müller", "Lelièvre", "Höfig"],
}


@pytest.mark.parametrize(("encoding", "words"), WORDS.items(), ids=WORDS)
def test_the_words_of_its_languages_show_an_encoding(encoding, words):
    found = likely([";".join(words).encode(encoding)])
    assert (encoding, words[0]) in found[:2]


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", *list(SINGLE_BYTE)[:1], "mac-roman", "cp850"]
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_read_as_its_owner_says(tmp_path, encoding, packed):
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    raw = ROWS.encode(encoding)
    path.write_bytes(gzip.compress(raw) if packed else raw)
    with pytest.raises(InputError) as refused:
        gv.read_table(path)
    (asked,) = refused.value.asked
    assert ("encoding", "") == (asked.option, asked.column)
    assert "is not UTF-8" in asked.text
    told = gv.read_table(path, encoding=encoding)
    plain = tmp_path / "plain.csv"
    plain.write_text(ROWS)
    assert told == gv.read_table(plain)


def test_bytes_that_the_encoding_lacks_are_refused_with_their_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\nx,y\nx,\x81\n")
    with pytest.raises(InputError, match="line 3: byte 0x81 is not valid cp1252"):
        gv.read_table(path, encoding="windows-1252")
    with pytest.raises(InputError, match="'klingon' is not a known encoding"):
        gv.read_table(path, encoding="klingon")
    with pytest.raises(InputError, match="applies to delimited text only"):
        gv.read_graph(tmp_path / "a.graphml", encoding="windows-1252")


def test_the_list_of_nodes_is_read_in_the_same_encoding(tmp_path):
    ties, people = tmp_path / "ties.csv", tmp_path / "people.csv"
    ties.write_bytes("source,target\nZoë,José\n".encode("cp1252"))
    people.write_bytes("id,town\nZoë,Köln\nJosé,Köln\nann,Köln\n".encode("cp1252"))
    network = gv.read_network(ties, nodes=people, encoding="windows-1252")
    assert {"Zoë", "José", "ann"} == set(network.ids.tolist())
    assert ["Köln"] == network.people.categories[0].tolist()


@given(st.text(st.characters(codec="cp1252", exclude_characters="\r\n\0"), max_size=40))
def test_any_text_comes_out_as_it_went_in(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "a.csv"
    row = f'"{text.replace(chr(34), chr(34) * 2)}",x\n'
    path.write_bytes(f"a,b\n{row}{row}z,x\n".encode("cp1252"))
    utf8 = path.with_name("b.csv")
    utf8.write_text(f"a,b\n{row}{row}z,x\n", encoding="utf-8")
    options = {"header": "yes", "categories": gv.io.parsed.EVERY_WORD}
    assert outcome(path, encoding="cp1252", **options) == outcome(utf8, **options)


def outcome(path, **options):
    """Return the table, or the refusal without the name of the file."""
    try:
        return gv.read_table(path, **options)
    except InputError as error:
        return str(error).replace(path.name, "").replace("encoding", "")
