"""The role proposed for a column follows from its name, its values and its structure."""

from __future__ import annotations

import json
import shlex
import tomllib
from importlib import resources
from pathlib import Path

import pyarrow as pa
import pytest

import graphveil as gv
from graphveil.cli import run
from graphveil.data.missing_codes import codes_among
from graphveil.data.roles import person_numbers
from graphveil.data.roles.names import meanings, plain_name
from graphveil.data.roles.person_numbers import is_card, is_iban, number_kind
from graphveil.verbs.proposed_roles import proposed_roles

ROWS = 120
GOLDEN = 0.6180339887
"""Multiples of it, without their whole part, are spread evenly."""


def pick(*values):
    return [values[int(len(values) * (i * GOLDEN % 1))] for i in range(ROWS)]


def each(make):
    return [make(i) for i in range(ROWS)]


def amounts(low, high, digits=2):
    return [f"{low + (high - low) * (i * GOLDEN % 1):.{digits}f}" for i in range(ROWS)]


def nif(i):
    return f"{12345678 + 7 * i}{'TRWAGMYFPDXBNJZSQVHLCKE'[(12345678 + 7 * i) % 23]}"


def weighted(prefix, weights, modulus, last):
    """Return numbers whose last digit makes the weighted sum right, by trying all ten."""
    found = []
    for i in range(1, 4 * ROWS):
        for digit in range(10):
            text = f"{prefix + 37 * i}{digit}"
            if sum(int(d) * w for d, w in zip(text, (*weights, last), strict=True)) % modulus == 0:
                found.append(text)
                break
    return found[:ROWS]


PESEL = weighted(4405140135, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3), 10, 1)
BSN = weighted(11122233, (9, 8, 7, 6, 5, 4, 3, 2), 11, -1)
WORDS = ("heute", "regen", "wir", "gehen", "nach", "hause", "morgen", "fenster", "lesen", "viel")
STREETS = ("Wald", "Berg", "See", "Tal", "Bach", "Moor")
SURNAMES = ("Ash", "Birch", "Cole", "Dale", "Ely", "Ford", "Gray", "Hill", "Ives", "Jay")


def full_name(i):
    return f"{SURNAMES[i % 10]}{'abcdefghijkl'[i // 10]} {SURNAMES[i % 7]}{i % 97 * 'o'}"


def street(i):
    return f"{STREETS[i % 6]}{chr(97 + i // 6)}weg {i}"


def sentence(i):
    return " ".join(WORDS[(i * step) % 10] for step in (1, 3, 7, 9, 2, 4)) + f" {i}"


COLUMNS = [
    # Identifiers by the form of their values: the name says nothing.
    ("a", each(lambda i: f"p{i}@example.org"), "drop"),
    ("b", each(lambda i: f"10.0.{i}.7"), "drop"),
    ("c", PESEL, "drop"),
    ("d", BSN, "drop"),
    ("e", each(nif), "drop"),
    ("f", each(lambda i: f"+49 30 {1234567 + 13 * i}"), "drop"),
    ("g", each(full_name), "drop"),
    ("h", each(street), "drop"),
    ("i", each(sentence), "drop"),
    ("j", each(lambda i: str(i + 1)), "drop"),
    ("k", each(lambda i: str(10_007 + (i * 7919) % 911)), "drop"),
    # Identifiers by their name.
    ("Nachname", pick("Meier", "Huber", "Braun"), "drop"),
    ("prénom", pick("Zoë", "Léa", "Luc"), "drop"),
    ("apellidos", pick("Peña", "Ruiz"), "drop"),
    ("cognome", pick("Rossi", "Bianchi"), "drop"),
    ("achternaam", pick("de Vries", "Jansen"), "drop"),
    ("nazwisko", pick("Nowak", "Wójcik"), "drop"),
    ("sobrenome", pick("Silva", "Costa"), "drop"),
    ("LastName", pick("Smith", "Jones"), "drop"),
    ("huisnummer", pick("1", "12", "7"), "drop"),
    # What people know of each other.
    ("Geschlecht", pick("m", "w"), "known"),
    ("dateOfBirth", each(lambda i: f"19{50 + i % 40}-01-{1 + i % 28:02}"), "known"),
    ("code_postal", pick("01005", "75002", "75011"), "known"),
    ("città", pick("Roma", "Milano"), "known"),
    ("województwo", pick("mazowieckie", "pomorskie"), "known"),
    ("nivel_estudios", pick("primaria", "secundaria"), "known"),
    ("household_size", pick("1", "2", "3"), "known"),
    # Sensitive values.
    ("Einkommen_EUR", amounts(900, 5000), "sensitive"),
    ("rendimento", amounts(900, 5000), "sensitive"),
    ("icd10", pick("E11", "I10"), "sensitive"),
    ("vakbond", pick("ja", "nee"), "sensitive"),
    ("weight_kg", amounts(50, 110, 1), "sensitive"),
    # Weights, households, people with several rows, dates.
    ("pondération", amounts(1, 12, 3), "weight"),
    ("Gewicht", amounts(150, 1300, 4), "weight"),
    ("factor_expansion", amounts(100, 1900, 3), "weight"),
    ("id_hogar", each(lambda i: f"{i // 3:06}"), "household"),
    ("Haushalt", each(lambda i: f"H{i // 3:05}"), "household"),
    ("Interviewdatum", each(lambda i: f"2026-11-{1 + i % 28:02}"), "ask"),
    # What nothing is known of is protected, a measure is asked.
    ("x1", pick("red", "blue", "green"), "known"),
    ("x2", pick("1", "2", "3"), "known"),
    ("x3", amounts(0, 1), "ask"),
    ("x4", ["same"] * ROWS, "known"),
]


@pytest.mark.parametrize(("name", "values", "role"), COLUMNS, ids=[one[0] for one in COLUMNS])
def test_a_column_has_the_role_that_its_name_and_values_say(name, values, role):
    found = proposed_roles(pa.table({name: values}), {})[name]
    assert role == found.role
    assert found.reason or role == "known"


def test_who_has_several_rows_is_said_by_the_one_rule_for_it():
    """The role person is that of the column by which people are asked to be counted."""
    columns = {
        "card_no": each(lambda i: f"C{i // 4:05}"),
        "mail": each(lambda i: f"p{i // 4}@example.org"),
        "Nachname": each(lambda i: SURNAMES[i // 4 % 10] + "abc"[i // 40]),
        "Haushalt": each(lambda i: f"H{i // 4:05}"),
    }
    roles = {"card_no": "person", "mail": "person", "Nachname": "drop", "Haushalt": "household"}
    for name, values in columns.items():
        found = gv.describe(pa.table({name: values, "shop": pick("n", "s")}), kind="table")
        assert (roles[name], name) == (found.columns[0].role, found.options["person"])
        # Counting people by a column removes it, which drops it as well.
        assert (name, "drop") not in [(one.column, one.option) for one in found.problems]
        table = pa.table({name: values, "shop": pick("n", "s")})
        said = gv.describe(table, kind="table", household=name)
        assert ("household", "as you said") == (said.columns[0].role, said.columns[0].role_reason)


def test_a_name_alone_does_not_decide():
    """Numbers in a column called name, and names in one called income, are no such thing."""
    found = proposed_roles(pa.table({"name": amounts(0, 9), "nr": pick("1", "2")}), {})
    assert ("ask", "known") == (found["name"].role, found["nr"].role)


def test_one_wrong_digit_in_ten_is_no_number_of_people():
    shifted = [text[:-1] + str((int(text[-1]) + 1) % 10) for text in PESEL]
    assert "a PESEL number of Poland" == number_kind(PESEL)
    assert not number_kind(shifted)
    assert not number_kind(PESEL[: person_numbers.LEAST - 1])


def test_check_digits_of_accounts_and_cards_are_those_of_the_standards():
    good = "GB82 WEST 1234 5698 7654 32"
    assert is_iban(good)
    assert sum(is_iban(good[:-2] + f"{n:02}") for n in range(100)) <= 2
    assert [f"401288888888188{n}" for n in range(10) if is_card(f"401288888888188{n}")] == [
        "4012888888881881"
    ]


def test_words_are_plain_in_every_language_and_each_meaning_has_all_eight():
    text = resources.files("graphveil.data.roles").joinpath("words.toml").read_text("utf-8")
    for key, entry in tomllib.loads(text).items():
        assert {"en", "de", "fr", "es", "it", "nl", "pl", "pt"} <= {*entry}, key
        for language in ("en", "de", "fr", "es", "it", "nl", "pl", "pt"):
            assert entry[language], (key, language)
    assert {"drop", "known", "sensitive", "weight", "household", "ask"} == {
        meaning.role for meaning in meanings()
    }
    assert "numero de securite sociale" == plain_name("Numéro_de_sécuritéSociale")


@pytest.mark.parametrize(
    ("counts", "codes"),
    [
        ({"1": 5, "2": 5, "-9": 2}, ("-9",)),
        ({"-1": 5, "2": 5, "-9": 2, "-4": 1}, ()),
        ({"-9": 5, "-8": 5}, ()),
        ({"5": 4, "7": 4, "999": 3}, ("999",)),
        ({"5": 4, "700": 4, "999": 3}, ()),
        ({"5": 4, "7": 4, "99": 1}, ()),
        ({"ja": 4, "nein": 4, "k.A.": 1, "NSP": 2}, ("k.A.", "NSP")),
        ({"unknown": 4}, ()),
    ],
)
def test_codes_for_missing_values_are_those_far_from_all_others(counts, codes):
    assert codes == codes_among(counts)


OFFICE = """Nr;Nachname;Geburtsdatum;Stadt;Lohn;Frage 1;Gewicht
"""


@pytest.fixture
def office(tmp_path):
    """Sixty people of a German office: windows-1252, semicolons, decimal commas, codes."""
    rows = [OFFICE]
    for i in range(60):
        name, town = ("Müller", "Höfig", "Groß")[i % 3], ("Köln", "Fürth", "Trier")[i % 3]
        answer = ("-9", "1", "2", "3", "4")[i % 5]
        born = f"{1 + i % 28:02}.{1 + i % 12:02}.{1950 + i % 40}"
        wage = f"1.{200 + 7 * i},{10 + i % 80}"
        rows.append(f"{i + 1};{name};{born};{town};{wage};{answer};{300 + 9 * i},{1000 + 3 * i}\n")
    path = tmp_path / "office.csv"
    path.write_bytes("".join(rows).encode("cp1252"))
    return path


def test_the_file_of_an_office_is_described_and_its_answers_read_it(office):
    found = gv.describe(office)
    assert {
        "Nr": "drop",
        "Nachname": "drop",
        "Geburtsdatum": "known",
        "Stadt": "known",
        "Lohn": "sensitive",
        "Frage 1": "known",
        "Gewicht": "weight",
    } == {column.name: column.role for column in found.columns}
    asked = {(one.option, one.value) for one in found.problems}
    assert {("encoding", "windows-1252"), ("decimal", ","), ("missing", "-9")} <= asked
    table = gv.read_table(office, **found.options)
    cells = table.to_arrow().to_pylist()
    assert ("Köln", "1200.10", None) == (cells[0]["Stadt"], cells[0]["Lohn"], cells[0]["Frage 1"])
    release = gv.Generalize(k=5, levels=found.levels, dates=found.dates).anonymize(table)
    assert release.verify(table).ok
    said = {"levels": found.levels, "dates": found.dates, **found.options}
    again = gv.describe(office, kind="table", **said)
    assert () == again.problems


def test_without_an_answer_every_column_that_is_kept_is_known(office):
    found = gv.describe(office)
    dropped = {column.name for column in found.columns if column.role == "drop"}
    assert dropped == {*found.options["drop"]}
    assert "attach" not in found.options
    assert "attach" not in {one.option for one in found.problems}


def test_the_usual_command_attaches_what_the_first_one_protects(tmp_path, capsys, monkeypatch):
    rows = [f"{i % 2},{'fm'[i % 2]},{'abc'[i % 3]},{i % 5},{100 + i % 7}.5" for i in range(60)]
    (tmp_path / "staff.csv").write_text("\n".join(["floor,sex,town,diagnosis,wage", *rows]))
    monkeypatch.chdir(tmp_path)
    assert 0 == run(["describe", "staff.csv", "--kind", "table", "--json"])
    said = json.loads(capsys.readouterr().out)
    first, usual = shlex.split(said["command"]), shlex.split(said["usual_command"])
    assert "--attach" not in first
    assert "diagnosis,wage" == usual[usual.index("--attach") + 1]
    assert "floor,sex,town" == usual[usual.index("--known") + 1]
    assert ["diagnosis=2", "wage=2"] == usual[usual.index("--diverse") + 1 :][:2]
    for words, attached in ((first, set()), (usual, {"diagnosis", "wage"})):
        assert 0 == run(words[1:])
        manifest = json.loads(Path(words[words.index("--out") + 1], "release.json").read_text())
        known = {one["name"] for one in manifest["data"]["columns"] if one["role"] == "known"}
        assert {"floor", "sex", "town", "diagnosis", "wage"} - attached == known
