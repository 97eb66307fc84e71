"""What a row of a table is: evidence that several rows belong to one person, or one row to several.

A guarantee that counts rows protects people only if each row is a different person. Only the owner
knows that (the option `person`); this module finds the columns that make it unlikely. It looks at
all columns of the input, whatever role they get later: dropping the column that names people does
not make its rows different people.

`repeated_people` finds columns whose values repeat and may be people (or households, visits,
devices). Evidence is one of:

1. *Ids.* The values look like ids (addresses of mail, names of people, codes of one form, letters
   with a running number), or the column has the name of an id.
2. *Constancy.* Other columns are constant within its values, as sex and date of birth are in the
   rows of a patient.
3. *Counting.* Another column takes different values in the rows of each value, as a visit's number
   does, and some column is constant.
4. *Equal sizes.* Nearly all values have the same number of rows, as in a panel, and they are not
   small whole numbers.

Evidence 2 to 4 is a test. The null model: the cells of every other column are permuted among the
rows, independently of this one (of the sizes: rows choose among the values independently). The
chance under the null model is bounded from above (`_nats_constant` and its neighbors), corrected
for the number of pairs of columns, and must be below `CHANCE`. Two further rules tell a person
from an attribute that determines another one, as a city determines its region. Columns that
determine this one as well (a name and its code), and those that follow from another constant column
(a country from the region), count for nothing. What is left must be at least half of the other
columns, and one constant column is enough only where values have few rows.

Where the rule ends: a table of postcodes with few rows each and one column that follows from them
looks like a table of people; it is asked about. People of whom hardly anything is constant, with
unequal numbers of rows and plain numbers as ids, look like any attribute; they are not.

`repeated_pairs` does the same for two columns, one of which numbers people within the other, as
seats of a school or members of a household. Only evidence 2 counts, of columns that are not
constant within either of the two.

`stands_for_several` finds the opposite: a column of counts next to combinations that occur once.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.hints import option
from graphveil.core.questions import Problem
from graphveil.core.text import counted
from graphveil.data.codes import written_dates
from graphveil.data.id_columns import FEW, CodedRows, naming_columns, plain_name, sizes
from graphveil.data.ids import Ids, as_text

CHANCE = 1e-6
"""What a test finds must be so unlikely under its null model, divided by the number of pairs of
columns: nobody should be asked about people by chance. The evidence of several constant columns is
added up, since these are independent under the null model."""

AGREE, BEYOND_CHANCE = 0.9, 0.8
"""A column is constant within the values of another if at most a tenth of the rows after the first
of each value differ, and if that is most of what chance leaves. Real files have wrong cells."""

FIRST_CELLS, MOST_CELLS, MOST_VALUES = 1 << 17, 1 << 22, 10_000
"""So many cells are compared for each column to rule others out; so many for those that remain; and
so many values of a column are read."""

FEW_ROWS, FEW_PEOPLE = 6, 20
"""One constant column, or a running number, is evidence of people if values have at most so many
rows on average and there are so many values: attributes that determine another one (city, region)
mostly have fewer values, with more rows each."""

LEAST_PEOPLE, MOST_ROWS_OF_CODES, LARGEST_SHARE = 20, 20, 0.1
"""Where the form of codes alone is evidence of people: the fewest of them, the most rows that they
have on average, and the largest share of all rows that one has."""

MOST_NAMED = 5
"""How many columns that are constant are named in a message."""

OFTEN = 1.5
"""Ids whose people have so many rows on average are those of people with several; fewer repeats may
be mistakes or people of the same name. Numbers of five digits are ids only above it."""

LEAST_DIGITS, LEAST_DIGITS_WITH_LETTERS = 5, 3
"""The fewest digits of codes of one form that look like numbers of people, without and with
letters; smaller values would take years and codes of diseases for people."""

SMALL_TABLE = 20
"""In a table of at most so many rows no test can tell people from chance: there it is enough that
values repeat like ids do."""

DENSE = 0.9
"""A column numbers people within another if its values are 1 to m (or 0 to m) there, of which so
many occur, since nobody may be left of some numbers."""

LEAST_NUMBER = 100
"""Equal sizes alone say nothing of smaller whole numbers: ages, grades and weeks of a plan have
equal sizes, too."""

EQUAL_SHARE, MOST_LIKELY_SIZE = 0.9, 1 / 3
"""Sizes are equal if so many are; and the largest chance that a value has just one certain number
of rows, 2 or more, where rows choose values independently (a Poisson number above 0)."""

_PERSON = (
    r"(?:patient|pat|paciente|patiente|versicherte|insured|customer|client|cliente|kunde|member"
    r"|mitglied|person|persona|personne|subject|subj|respondent|participant|participante"
    r"|teilnehmer|proband|employee|empleado|mitarbeiter|student|pupil|schueler|schüler|user"
    r"|usuario|usuária|usuário|utilisateur|benutzer|nutzer|account|konto|citizen|resident"
    r"|beneficiary|voter|tenant|donor|worker|applicant|borrower)(?:en|n|in|innen)?"
)
_NUMBER = r"(?:id|ids|nr|no|num|number|nummer|numero|número|code|key|hash|ref|pseudonym)"
_DOCUMENT = (
    r"(?:mrn|ssn|nhs|nino|cpf|curp|dni|nie|nif|bsn|pesel|aadhaar|avs|ahv|passport|passeport"
    r"|pasaporte|passaporto|reisepass|ausweis|e ?mail|mail|phone|mobile|telephone|telefon"
    r"|telefono|teléfono|msisdn|imsi|imei|login|username|nickname|pseudonym)"
)
_NAME = (
    r"(?:(?:full|first|last|family|given|sur|middle|user|nick) ?)?name|nachname|vorname|nombre"
    r"|apellidos?|nom|pr[eé]nom|nome|cognome|sobrenome|naam|imi[eę]|nazwisko"
)
_COUNT = r"(?!(?:n|no|nr|num|number|count|total|is|has|per|by|avg|max|min) )"
_ID = rf"(?:hh|house ?hold|family|case|h|p|u)? ?ids?|uuid|guid|(?:.* )?{_PERSON} {_NUMBER}"
_NAMES_OF_PEOPLE = re.compile(
    rf"{_COUNT}(?:.* )?(?:{_PERSON}|{_DOCUMENT})(?: ?{_NUMBER})*|(?:.* )?{_PERSON} ?(?:{_NAME})"
    rf"|{_ID}|{_NAME}"
)
_EXPLICIT_IDS = re.compile(rf"{_COUNT}(?:{_ID})")
_FULL_NAME = re.compile(r"[^\W\d_]\S*(?:,? [^\W\d_]\S*){1,3}")
_NUMBER_WORD = re.compile(r"[+-]?\d*[.,]?\d+(?:[eE][+-]?\d+)?")
_COUNTS = re.compile(
    r"(?:n|count|counts|freq|frequency|frequencies|weight|weights|number|anzahl|häufigkeit"
    r"|effectif|nombre|frecuencia|frequenza|aantal|liczba|contagem|frequência)"
)


class RepeatedPeople(NamedTuple):
    """A column that looks as if each of its values were a person who has several rows."""

    name: str
    values: int
    rows: int
    sign: str
    complete: bool = True

    @property
    def question(self) -> Problem:
        """What must be decided: whether each value is a person. No other role answers it."""
        found = (
            f"column {self.name} may identify people with several rows ({self.values:,} values in "
            f"{self.rows:,} rows, {self.sign})"
        )
        if self.complete:
            return Problem(self.name, "person", self.name, found, _WAYS)
        # A row that does not say whose it is may be anybody's, so no class can count it.
        remove = (
            f"rows without {self.name} may be anybody's, so remove them, for example with pandas: "
            f"{without_rows_of_nobody(self.name)}; then "
        )
        return Problem(self.name, "person", "row", found, f"{remove}{_WAYS}")


def without_rows_of_nobody(name: str) -> str:
    """Return the line of pandas that removes rows that do not say whose they are.

    >>> without_rows_of_nobody("who")
    "frame.dropna(subset=['who'])"
    """
    return f"frame.dropna(subset=[{name!r}])"


def one_row_each(name: str) -> str:
    """Return how rows that stand for several people become one row per person.

    >>> one_row_each("count")
    "write one row per person, for example with pandas: \
frame.loc[frame.index.repeat(frame['count'])].drop(columns='count')"
    """
    return (
        "write one row per person, for example with pandas: "
        f"frame.loc[frame.index.repeat(frame[{name!r}])].drop(columns={name!r})"
    )


_WAYS = (
    f"use {option('person', 'COLUMN')} to count each person once, or {option('person', 'row')} if "
    "every row is a different person; dropping or attaching the column does not decide it"
)


def repeated_people(table: CodedRows) -> list[RepeatedPeople]:
    """Return the columns that may hold people of whom some have several rows, the likeliest first.

    Cost: at most `MOST_CELLS` compared cells per column, and those of the columns that remain.
    """
    # Only columns in which some value has several rows can be people with several rows.
    every = [sizes(table, at) for at in range(len(table.columns))]
    repeated = [at for at, size in enumerate(every) if size.max(initial=0) > 1]
    # Evidence 1: the name of the column, and the form of its values.
    signs = {at: _sign_of_ids(table, at, every[at]) for at in repeated}
    found = [(0, at, sign) for at, sign in signs.items() if sign]
    # Evidence 2 to 4: what other columns and the sizes say. Columns in which nearly every row has a
    # different value follow from anything, and constant ones say nothing.
    unique = {*naming_columns(table)}
    naming = {at for at, name in enumerate(table.columns) if name in unique}
    values = {at: np.count_nonzero(size) for at, size in enumerate(every)}
    others = np.array(
        [at for at in values if values[at] > 1 and at not in naming and not signs.get(at)],
        dtype=np.int64,
    )
    for at in repeated:
        if signs[at]:
            continue
        rank, sign = 1, ""
        if values[at] > 1:
            own, seen = table.codes[:, at], table.categories[at]
            rank, sign = _sign_of_structure(table, own, seen, others[others != at])
        sign = sign or _sign_of_codes(table.categories[at], every[at])
        sign = sign or _sign_in_few_rows(table, at, every[at])
        found += [(rank, at, sign)] if sign else []
    columns = [
        RepeatedPeople(table.columns[at], int(values[at]), rows, sign, rows == len(table.codes))
        for at, sign, rows in ((at, sign, int(every[at].sum())) for _, at, sign in sorted(found))
    ]
    return sorted(columns, key=lambda column: not column.complete)


def repeated_pairs(table: CodedRows) -> Problem | None:
    """Return the question about two columns that together may identify people with several rows.

    None if there are no such columns. Meant for tables in which no single column is found.
    Cost: one pass over the rows for each column of small whole numbers and each other column.
    """
    every = [sizes(table, at) for at in range(len(table.columns))]
    naming = {table.columns.index(name) for name in naming_columns(table)}
    able = [at for at in range(len(every)) if at not in naming and np.count_nonzero(every[at]) > 1]
    complete = [at for at in able if every[at].sum() == len(table.codes)]
    members = [at for at in complete if _is_numbering(table.categories[at], every[at])]
    for member, home in ((m, h) for m in members for h in complete if m != h):
        own = _pairs(table.codes[:, home], table.codes[:, member])
        if own is None:
            continue
        others = np.array([o for o in able if o not in (home, member)], dtype=np.int64)
        if not _sign_of_structure(table, own, None, others)[1]:
            continue
        # What one of the columns says alone is no evidence of the pair.
        codes, either = table.codes, (home, member)
        follow = [any(_follows(codes[:, o], codes[:, e]) for e in either) for o in others]
        _, sign = _sign_of_structure(table, own, None, others[~np.array(follow, dtype=bool)])
        if sign:
            return _about_pair(table.columns[home], table.columns[member], own, sign)
    return None


def _is_numbering(values: Ids, each: Ints) -> bool:
    """Whether values are whole numbers from 0 or 1, most of which occur."""
    if values.dtype.kind != "i":
        return False
    shown = values[each > 0]
    return int(shown.min()) in (0, 1) and shown.size >= DENSE * int(shown.max())


def _pairs(home: NDArray[np.int32], member: NDArray[np.int32]) -> NDArray[np.int32] | None:
    """Return the pair of each row by number; None if members are not numbered within homes.

    Pairs are more than the values of each column, fewer than the rows, and in few rows on average.
    """
    width = int(member.max()) + 1
    keys = home.astype(np.int64) * width + member
    most = (int(home.max()) + 1) * width
    # Few enough rows for each pair: known without counting where there cannot be many pairs.
    if most * MOST_ROWS_OF_CODES < home.size:
        return None
    if most > 8 * home.size:
        pairs, own = np.unique(keys, return_inverse=True)
    else:  # quicker without sorting
        occurs = np.bincount(keys) > 0
        pairs, own = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[keys]
    homes = np.bincount(pairs // width)
    fewest = max(np.count_nonzero(homes), width, LEAST_PEOPLE - 1, home.size // MOST_ROWS_OF_CODES)
    last = np.zeros(homes.size, dtype=np.int64)
    np.maximum.at(last, pairs // width, pairs % width + 1)
    if not fewest < pairs.size < home.size or pairs.size < DENSE * int(last.sum()):
        return None
    numbers: NDArray[np.int32] = own.astype(np.int32)
    return numbers


def _about_pair(home: str, member: str, own: NDArray[np.int32], sign: str) -> Problem:
    joined = f"frame[{home!r}].astype(str) + '-' + frame[{member!r}].astype(str)"
    return Problem(
        home,
        "person",
        home,
        f"columns {home} and {member} together may identify people with several rows "
        f"({int(own.max()) + 1:,} pairs in {own.size:,} rows, {sign})",
        "join both in one column of people, for example with pandas: "
        f"frame.assign(who={joined}), and use {option('person', 'who')}; or use "
        f"{option('person', home)} to count each {home} once, or {option('person', 'row')} if "
        "every row is a different person",
    )


def _sign_of_ids(table: CodedRows, at: int, each: Ints) -> str:
    return sign_of_people(table.columns[at], table.categories[at], each)


def stands_for_several(table: CodedRows) -> Problem | None:
    """Return the question about a column of counts; None if there is no such column.

    It is named as one, holds whole numbers from 1 (not all 1), and without it no two rows are
    equal: each row is then a combination, with how many people have it.
    """
    for at, (name, values) in enumerate(zip(table.columns, table.categories, strict=True)):
        if not _COUNTS.fullmatch(plain_name(name)) or values.dtype.kind != "i":
            continue
        shown = values[sizes(table, at) > 0]
        if shown.min(initial=1) < 1 or shown.max(initial=1) == 1 or len(table.columns) < 2:
            continue
        rest = np.delete(table.codes, at, axis=1)
        if len(rest) > 1 and len(np.unique(rest, axis=0)) == len(rest):
            return Problem(
                name,
                "person",
                "row",
                f"rows may stand for several people: column {name} holds whole numbers, and no two "
                "rows are equal without it",
                f"{one_row_each(name)}; or use {option('person', 'row')} if each row is one person",
            )
    return None


def named_as_people(name: str) -> bool:
    """Whether the name of a column is one for the ids or names of people."""
    return bool(_NAMES_OF_PEOPLE.fullmatch(plain_name(name)))


def sign_of_people(name: str, values: Ids, each: Ints) -> str:
    """Return why the values of a column look like people, however few or frequent they are.

    `each`: int64, in how many rows each value is.
    """
    texts = as_text(values[each > 0][:MOST_VALUES]).tolist()
    numbered = len(texts) > 2 and all(re.search(r"\d", text) for text in texts)
    some = len(texts) >= FEW or numbered  # fewer words are kinds of people: student: no, yes
    if (some and named_as_people(name)) or _EXPLICIT_IDS.fullmatch(plain_name(name)):
        return "with the name of an id"
    if 2 * sum("@" in text for text in texts) >= len(texts):
        return "with an @"
    return "like names of people" if len(texts) >= FEW and _are_names(texts) else ""


def _are_names(texts: list[str]) -> bool:
    """Whether texts are capitalized words of which the last differ: those of jobs repeat."""
    names = [text for text in texts if _FULL_NAME.fullmatch(text) and text.istitle()]
    last = {name.split()[-1] for name in names}
    return len(names) > AGREE * len(texts) and 2 * len(last) >= len(names)


def _sign_of_codes(values: Ids, each: Ints) -> str:
    """Return why many values, each in few rows, look like ids; empty where they do not."""
    used, rows = np.count_nonzero(each), each.sum()
    few = used < LEAST_PEOPLE or each.max() > max(LARGEST_SHARE * rows, 2)
    if few or rows > MOST_ROWS_OF_CODES * used:
        return ""
    shown = as_text(values[each > 0][:MOST_VALUES]).tolist()
    # Codes of one form: digits and letters at the same places, as in 12-3456-K.
    forms = {re.sub(r"\d", "0", re.sub(r"[^\W\d_]", "A", text)) for text in shown}
    form = forms.pop() if len(forms) == 1 else ""
    least = LEAST_DIGITS_WITH_LETTERS if "A" in form else LEAST_DIGITS
    # Of numbers alone nearly all must repeat: incomes have five digits, too.
    least = least if "A" in form or rows >= OFTEN * used else len(form) + 1
    if form.count("0") >= least and written_dates(values) is None:
        return "digits of one form"
    if rows <= FEW_ROWS * used and _are_numbered(shown):
        return "letters with a running number"
    return ""


def _are_numbered(texts: list[str]) -> bool:
    """Whether texts are letters with a running number: p1, p2, ... p30."""
    parts = [re.fullmatch(r"([^\W\d]+[-_]?)(\d+)", text) for text in texts]
    prefixes = {part[1] for part in parts if part}
    numbers = [int(part[2]) for part in parts if part]
    dense = max(numbers, default=0) - min(numbers, default=0) < 2 * len(numbers)
    return all(parts) and len(prefixes) == 1 and dense


def _sign_in_few_rows(table: CodedRows, at: int, each: Ints) -> str:
    """Return why the values of a column may be people in a table that is too small for a test.

    All of them repeat, and another column is constant or counts without exception: of values that
    look like ids either is enough, of others both.
    """
    used = each[each > 0]
    if each.sum() > SMALL_TABLE or used.size < 3 or used.min() < 2:
        return ""
    own = table.codes[:, at]
    rows = np.flatnonzero(own >= 0)
    rows = rows[np.argsort(own[rows], kind="stable")]
    cells, starts = table.codes[rows], np.cumsum(used) - used
    # A column that is constant within the values, and not altogether. Shape (columns,).
    whole = cells.min(axis=0) >= 0
    whole[at] = False
    first = np.repeat(cells[starts], used, axis=0)
    constant = whole & (cells == first).all(axis=0) & (cells != cells[0]).any(axis=0)
    ids = _are_numbered(as_text(table.categories[at][each > 0]).tolist())
    if not ids and not constant.any():
        return ""
    # A column that counts: every two rows of a value differ in it, and it has few values.
    maybe = np.flatnonzero(whole & (cells[starts] != cells[starts + 1]).all(axis=0))
    counts = [
        o
        for o in maybe.tolist()
        if len(np.unique(cells[:, o])) <= used.max()
        and len(np.unique(np.stack([own[rows], cells[:, o]]), axis=1).T) == rows.size
    ]
    agreeing = np.flatnonzero(constant).tolist()
    if not ((agreeing or counts) if ids else (agreeing and counts)):
        return ""
    ways = [("agree on", agreeing), ("differ in", counts)]
    said = [f"{way} {table.columns[o[0]]}" for way, o in ways if o]
    return f"and rows with the same value {' and '.join(said)}"


def _sign_of_structure(
    table: CodedRows, own: NDArray[np.int32], values: Ids | None, others: Ints
) -> tuple[int, str]:
    """Return how strongly other columns and its sizes say that a column holds people, and why.

    The rank is smaller for stronger evidence; the reason is empty where there is none.

    `own`: int32, shape (n,), the codes of the column; `values`: what they stand for, None for pairs
    of columns, for which constant columns alone are evidence.
    """
    each = np.bincount(own[own >= 0])
    used = int(np.count_nonzero(each))
    tests = len(table.columns) ** (2 if values is not None else 3)
    least = math.log(max(tests, 2) / CHANCE)
    # Compare some rows with the first row of their value: most columns are ruled out so.
    later, first = _some_rows(own, FIRST_CELLS // max(others.size, 1))
    same, chance = _shares_of_equal(table.codes[later], table.codes[first], 2 * AGREE - 1)
    # A first row with a wrong cell differs from all others of its value: allow twice as many.
    agree = (same >= 2 * AGREE - 1) & (same - chance >= (2 * BEYOND_CHANCE - 1) * (1 - chance))
    constant = _constant(table.codes, own, others[agree[others]].tolist())
    # Of n rows, p pairs that differ are at most p log(n/p) nats: n/e, for p = n/e.
    numbers = others[same[others] == 0].tolist() if each.sum() >= math.e * least else []
    numbering = [o for o in numbers if _nats_numbering(own, table.codes[:, o]) >= least]
    equal = _nats_equal_sizes(each) >= least
    few = each.sum() <= FEW_ROWS * used and used >= FEW_PEOPLE
    # Two constant columns that say different things are enough if they are half of what could
    # differ; one is enough if the values have few rows, are numbered, or have equally many rows.
    evidence, chained = _independent(table.codes, own, constant, least)
    free = 0
    if evidence:
        free = len(others) - len({*numbering, *chained, *_copies(table.codes, own, others)})
    strong = len(evidence) > 1 or equal or few
    if sum(evidence.values()) >= least and (numbering or (strong and 2 * len(evidence) >= free)):
        names = [table.columns[other] for other in constant]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        listed = ", ".join(names[:MOST_NAMED])
        return -len(evidence), f"and rows with the same value agree on {listed}{more}"
    if values is None or _describes(values):
        return 0, ""
    if numbering and few:
        name = table.columns[numbering[0]]
        return 1, f"and rows with the same value differ in {name}, as if it numbered them"
    if equal and used >= FEW:
        size = int(np.bincount(each[each > 0]).argmax())
        return 1, f"and nearly every value has {counted(size, 'row')}"
    return 0, ""


def _constant(
    codes: NDArray[np.int32], own: NDArray[np.int32], maybe: list[int]
) -> dict[int, float]:
    """Return which columns are constant within the values of a column, each with its nats."""
    if not maybe:
        return {}
    # All rows, as far as the bound on cells allows: then entire values.
    some = np.flatnonzero(own >= 0)
    some = some[np.argsort(own[some], kind="stable")]
    some = some[: max(MOST_CELLS // len(maybe), 1)]
    # Of two neighbors of a value that differ one at least is an exception, which has two neighbors
    # at most: columns with more than twice as many such pairs as exceptions are ruled out.
    cells, within = codes[some][:, maybe], own[some][1:] == own[some][:-1]
    known = cells >= 0
    differ = (cells[1:] != cells[:-1]) & known[1:] & known[:-1] & within[:, None]
    few = differ.sum(axis=0) <= 2 * (1 - AGREE) * known.sum(axis=0)
    maybe = [other for other, is_few in zip(maybe, few.tolist(), strict=True) if is_few]
    nats = {o: _nats_constant(own[some], codes[some, o]) for o in maybe}
    return {other: value for other, value in nats.items() if value > 0}


def _describes(values: Ids) -> bool:
    """Whether values are small whole numbers, numbers with fractions, or dates: hardly ids."""
    if values.dtype.kind == "i":
        return int(values.min()) < LEAST_NUMBER
    texts = as_text(values[:MOST_VALUES]).tolist()
    return all(map(_NUMBER_WORD.fullmatch, texts)) or written_dates(values) is not None


def _some_rows(own: NDArray[np.int32], most: int) -> tuple[Ints, Ints]:
    """Return rows whose value stood in a row before, and the first row of that value."""
    shown = np.flatnonzero(own >= 0)
    first = np.full(own.max(initial=-1) + 1, -1)
    first[own[shown[::-1]]] = shown[::-1]
    later = shown[first[own[shown]] != shown][:most]
    return later, first[own[later]]


def _shares_of_equal(
    one: NDArray[np.int32], other: NDArray[np.int32], least: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for each column the share of pairs of known cells that are equal, and that by chance.

    float64, shape (d,) each; NaN for a column without a pair. The share by chance is that of
    columns in which at least so large a share is equal, and NaN of the others.
    """
    both = (one >= 0) & (other >= 0)
    pairs = np.count_nonzero(both, axis=0)
    equal = np.count_nonzero((one == other) & both, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        same = equal / pairs
    # By chance: the sum of squared shares of the values, column by column in one list of cells.
    chance = np.full(same.size, np.nan)
    wanted = np.flatnonzero(same >= least)
    one, both = one[:, wanted], both[:, wanted]
    width = int(one.max(initial=0)) + 1
    cells = (one + np.arange(one.shape[1]) * width)[both]
    # Counted in an array of all values, or, where these are many, by sorting.
    if one.shape[1] * width <= 8 * one.size:
        each = np.bincount(cells, minlength=one.shape[1] * width).astype(np.float64)
        squares = (each.reshape(-1, width) ** 2).sum(axis=1)
    else:
        values, times = np.unique(cells, return_counts=True)
        squares = np.bincount(values // width, times.astype(np.float64) ** 2, one.shape[1])
    chance[wanted] = squares / pairs[wanted].astype(np.float64) ** 2
    return same, chance


def _nats_constant(own: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Return how unlikely it is that a column is so constant within the values of another.

    Minus the logarithm of an upper bound of the chance under the null model; 0 where the column is
    not constant in the sense of `AGREE` and `BEYOND_CHANCE`.

    Null model: the known cells of the column in rows whose value repeats are permuted among these
    rows. With e exceptions, the other rows of a group of m have one value v: arrangements with
    these margins that do so are at most prod_g sum_v q_v^m / prod_v q_v^s_v (for any q, a
    generating function; here q_v = s_v/n), times the choices of the exceptions.
    """
    both = (own >= 0) & (other >= 0)
    each = np.bincount(own[both])
    rows = both.copy()
    rows[both] = each[own[both]] > 1
    n = int(np.count_nonzero(rows))
    if n == 0:
        return 0.0
    a, b = own[rows].astype(np.int64), other[rows].astype(np.int64)
    shares = np.bincount(b)
    shares = shares[shares > 0]
    q = shares / n
    # The most common value of each group, and the rows with other ones.
    width = int(b.max()) + 1
    cells, times = np.unique(a * width + b, return_counts=True)
    modes = np.zeros(each.size, dtype=np.int64)
    np.maximum.at(modes, cells // width, times)
    groups = np.bincount(a)
    groups = groups[groups > 0]
    errors, later = n - int(modes.sum()), n - groups.size
    chance = float(q @ q)
    agree = 1 - errors / later
    if shares.size < 2 or agree < AGREE or agree - chance < BEYOND_CHANCE * (1 - chance):
        return 0.0
    # The chance that independent rows agree in each group, and what permuting changes of it.
    largest = float(q.max())  # a factor apart: powers of large groups are below any number
    in_groups = sum(
        number * (size * math.log(largest) + math.log(float(((q / largest) ** size).sum())))
        for size, number in zip(*np.unique(groups, return_counts=True), strict=True)
    )
    # An exception takes a row from a group, which raises its chance by 1/chance at most.
    exceptions = _log_binomial(n, errors) + math.log(errors + 1) - errors * math.log(chance)
    return float(-(in_groups + exceptions + _permuted(shares, n)))


def _nats_numbering(own: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Return how unlikely it is that a column differs in all rows of each value of another.

    Null model as in `_nats_constant`. It may have at most twice as many values as a value has rows:
    it numbers them.
    """
    both = (own >= 0) & (other >= 0)
    a, b = own[both].astype(np.int64), other[both].astype(np.int64)
    each = np.bincount(a)
    groups, shares = each[each > 1], np.bincount(b)
    shares = shares[shares > 0]
    if not groups.size or shares.size < 2 or shares.size > 2 * groups.max():
        return 0.0
    if np.unique(a * (int(b.max()) + 1) + b).size < a.size:
        return 0.0
    q = shares / a.size
    # A group of m has m // 2 pairs without a common row, each of which must differ.
    pairs = int((groups // 2).sum())
    return -(pairs * math.log(max(1 - float(q @ q), 1e-300)) + _permuted(shares, a.size))


def _nats_equal_sizes(each: Ints) -> float:
    """Return how unlikely it is that so many values have the same number of rows, 2 or more.

    Null model: every row chooses its value independently, with any chances. Then the number of rows
    of a value is one certain number of 2 or more with a chance of at most `MOST_LIKELY_SIZE`, and
    the sizes are negatively associated, so that the bound of Chernoff holds.
    """
    each = each[each > 0]
    if not each.size:
        return 0.0
    size = int(np.bincount(each).argmax())
    share, p = float(np.mean(each == size)), MOST_LIKELY_SIZE
    if size < 2 or share < EQUAL_SHARE:
        return 0.0
    rest = (1 - share) * math.log((1 - share) / (1 - p)) if share < 1 else 0.0
    return each.size * (share * math.log(share / p) + rest)


def _permuted(shares: Ints, n: int) -> float:
    """Return the logarithm of how much likelier permuted cells can do what independent ones do."""
    logs = [math.lgamma(share + 1) for share in shares.tolist()]
    arrangements = math.lgamma(n + 1) - math.fsum(logs)
    return -float(shares @ np.log(shares / n)) - arrangements


def _log_binomial(n: int, m: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)


def _follows(own: NDArray[np.int32], other: NDArray[np.int32]) -> bool:
    """Whether a column is determined by the values of another, up to a tenth of the rows."""
    both = (own >= 0) & (other >= 0)
    a, b = other[both].astype(np.int64), own[both].astype(np.int64)
    if not a.size:
        return False
    width = int(b.max()) + 1
    cells, times = np.unique(a * width + b, return_counts=True)
    modes = np.zeros(int(a.max()) + 1, dtype=np.int64)
    np.maximum.at(modes, cells // width, times)
    later = a.size - np.count_nonzero(modes)
    return bool(a.size - modes.sum() <= (1 - AGREE) * later)


def _independent(
    codes: NDArray[np.int32], own: NDArray[np.int32], constant: dict[int, float], least: float
) -> tuple[dict[int, float], set[int]]:
    """Return the constant columns that are evidence of their own, and those that follow from them.

    A column that determines this one says the same in different words (a name and its code). Of
    columns that follow from each other, as a state from its city, the one with the most values
    counts. People are compared, not rows. Evidence of less than `least` nats is not enough.
    """
    if sum(constant.values()) < least:
        return {}, set()
    constant = {o: nats for o, nats in constant.items() if not _follows(own, codes[:, o])}
    if sum(constant.values()) < least:
        return {}, set()
    shown = np.flatnonzero(own >= 0)
    people = codes[shown[np.unique(own[shown], return_index=True)[1]]]
    kept: dict[int, float] = {}
    chained = set()
    for other in sorted(constant, key=lambda o: -int(codes[:, o].max(initial=0))):
        if any(_follows(people[:, other], people[:, one]) for one in kept):
            chained.add(other)
        else:
            kept[other] = constant[other]
    return kept, chained


def _copies(codes: NDArray[np.int32], own: NDArray[np.int32], others: Ints) -> set[int]:
    """Return the columns that determine a column (`_follows`), ruling most out in blocks."""
    found: set[int] = set()
    width = int(own.max(initial=0)) + 2
    step = max(MOST_CELLS // max(own.size, 1), 1)
    for block in np.split(others, range(step, others.size, step)):
        # Each further value of this column next to a value of the other is one exception or more.
        cells = codes[:, block].T.astype(np.int64)
        cells = np.where((cells >= 0) & (own >= 0), cells * width + own, -1)
        cells.sort(axis=1)
        before = np.pad(cells[:, :-1], ((0, 0), (1, 0)), constant_values=-1)
        known = cells >= 0
        pairs = np.count_nonzero(known & (cells != before), axis=1)
        values = np.count_nonzero(known & (cells // width != before // width), axis=1)
        later = np.count_nonzero(known, axis=1) - values
        maybe = block[pairs - values <= (1 - AGREE) * later]
        found.update(o for o in maybe.tolist() if _follows(own, codes[:, o]))
    return found
