"""What was chosen for a file: its kind, the roles of columns, missing words, and levels.

Choices are kept in ``.graphveil/FILE.json`` of the folder (0600): names of columns with their role,
levels and words for missing values, and no other values of the data. They survive a restart, and
can be used for next year's file; columns that changed are named.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphveil.app.folder import Folder
from graphveil.core.atomic import OWNER_ONLY, whole_file
from graphveil.core.errors import GraphveilError, InputError, Problem
from graphveil.data.codes import DATE_FORMS

if TYPE_CHECKING:
    from graphveil.data import Table
    from graphveil.verbs.describe import ColumnDescription, Description

TEXT = ("csv", "tsv", "text")
"""Formats whose first line may be names."""

ROLES = {
    "known": "an attacker may know it",
    "attach": "publish unchanged",
    "label": "publish, to be predicted",
    "want": "how many people must be equal, chosen by each person",
    "drop": "do not publish",
}
"""What a column can be; in a network columns are of its people, and only some of these apply."""

NETWORK_ROLES = ("known", "attach", "drop")
GROUPS = "quantiles:4"
"""How numbers of people of a network are grouped: into so many groups of equal size."""

LEVELS = {
    "": "published or hidden",
    "auto": "grouped automatically",
    "5,10,20": "steps of 5, 10 and 20",
    "10,50,100": "steps of 10, 50 and 100",
    "1000,10000": "steps of 1,000 and 10,000",
    "month,year,decade": "month, year, then decade",
    "month,year": "month, then year",
    "year,decade": "year, then decade",
    "year": "year",
    "prefix:3,2,1": "first 3, 2 or 1 characters",
}
BY_KIND = {
    "number": ("auto", "5,10,20", "10,50,100", "1000,10000", ""),
    "date": ("month,year,decade", "month,year", "year,decade", "year", ""),
}
KINDS = {
    "row": "One person",
    "column": "One of several rows of a person; a column says of whom",
    "graph": "One connection between two people",
    "bipartite": "One item of a person, such as a purchase",
}
"""What one row can be."""

DIRECTIONS = {"symmetrize": "does not matter", "keep": "matters, and is published"}
"""What the direction of a connection can be."""

_DATES = "dates:"
"""How an answer begins that says in which form a column writes dates."""

_MARKS = {
    "%d": "DD",
    "%m": "MM",
    "%Y": "YYYY",
    "%y": "YY",
    "%b": "Mon",
    "%B": "Month",
    "%H": "hh",
    "%M": "mm",
    "%S": "ss",
}


OWN = "levels"
"""The parameter of a method whose strength everybody chooses: a column says it."""
STRENGTHS = {"k": (5, 10, 3, 20, 2), "epsilon": (2.0, 1.0, 4.0, 0.5, 8.0), OWN: (1,)}
"""What is tried of a parameter, the middle one first."""


class Way(NamedTuple):
    """A method that the page offers: what it does, and whether all that it publishes is true."""

    method: str
    parameter: str
    is_true: bool
    words: str
    attacks: tuple[str, ...] = ("linkage",)
    more: Mapping[str, Any] = {}

    @property
    def strengths(self) -> tuple[float, ...]:
        """The strengths that are tried: the middle one first."""
        return STRENGTHS[self.parameter]


_NETWORK = ("candidate-set", "seeded-matching")
_ANY = {"edits": "any"}
WAYS: Mapping[str, tuple[Way, ...]] = {
    "table": (
        Way(
            *("generalize", "k", True),
            "publishes wider values, or none, until every row equals k - 1 others; no published "
            "value is false",
        ),
        Way(
            *("smooth-k", "k", False), "makes rows equal, and publishes some values that are false"
        ),
        Way(
            *("adaptive", OWN, True),
            "hides values until each row fits as many people as that person asks for; no published "
            "value is false",
        ),
    ),
    "network": (
        Way(
            *("k-degree", "k", False),
            "adds and removes few connections and hides values. Then everybody has the same number "
            "of connections, and the same known columns, as k - 1 others",
            *(_NETWORK, _ANY),
        ),
        Way(
            *("profile", "k", False),
            "adds and removes connections and hides values. Then everybody has the same numbers of "
            "incoming and outgoing connections, and the same known columns, as k - 1 others",
            _NETWORK,
        ),
    ),
    "graph": (
        Way(
            *("k-degree", "k", False),
            "adds and removes few connections until every number of connections occurs k times",
            *(_NETWORK, _ANY),
        ),
        Way(
            *("degree-triangle-model", "epsilon", False),
            "publishes a random network with similar statistics, under differential privacy; its "
            "connections are new",
            _NETWORK,
        ),
    ),
    "bipartite": (
        Way(
            *("suppress-k", "k", True),
            "removes items until everybody has the same items as k - 1 others",
        ),
        Way(
            *("smooth-k", "k", False),
            "removes and adds items until everybody has the same items as k - 1 others",
        ),
        Way(
            *("randomized-response", "epsilon", False),
            "adds and removes items at random, under differential privacy",
        ),
    ),
}
"""The ways of a kind of data, the one that is recommended first."""

WITH_ROLES = ("generalize", "adaptive")
"""The methods for tables whose columns have roles here."""

FORMAT, MOST_UNDONE, LONGEST_NAME = 1, 50, 200
MOST_PREVIEWED, MOST_SHOWN = 100_000, 12
"""Values of so many first rows are previewed, and so many values of each level are shown."""


class Level(NamedTuple):
    """One level of a column: its commonest values with their rows, and how many values it has."""

    common: list[tuple[str, int]]
    values: int


@dataclass
class Study:
    """A file, what was found in it, and what was chosen.

    `folder, name`: the folder, and the file from its top; `description`: what the file holds as it
    was detected; `choices`: what was chosen, as JSON can hold it.
    """

    folder: Folder
    name: str
    description: Description
    choices: dict[str, Any]
    people: Description | None = None
    problems: tuple[Problem, ...] = ()
    notes: list[str] = field(default_factory=list)
    said: str = ""
    undone: list[dict[str, Any]] = field(default_factory=list)
    previews: dict[str, list[Level]] = field(default_factory=dict)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def of(cls, folder: Folder, name: str) -> Study:
        """Look at a file, and take up the choices that were kept for it.

        Raises
        ------
        InputError
            Where it cannot be read.
        """
        found, choices, notes = _looked_at(folder.inside(name))
        study = cls(folder, name, found, choices, notes=notes)
        if study.kept.is_file():
            study.take_up(study.kept)
        study.check()
        return study

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder.inside(self.name)

    @property
    def kept(self) -> Path:
        """Where choices are kept."""
        name = self.name.replace("/", "%2F")
        if len(os.fsencode(name)) > LONGEST_NAME:
            name = hashlib.sha256(os.fsencode(name)).hexdigest()
        return self.folder.hidden() / f"{name}.json"

    @property
    def kind(self) -> str:
        """The kind of data: table, graph or bipartite."""
        rows = _rows_of(self.what)
        is_network = self.choices["nodes"] or self.choices["directed"] == "keep"
        return "network" if rows == "graph" and is_network else rows

    @property
    def what(self) -> str:
        """What one row is."""
        said: str = self.choices["what"]
        return said

    @property
    def columns(self) -> tuple[ColumnDescription, ...]:
        """The columns that have roles: those of the file, or of the file of people."""
        return (self.people or self.description).columns

    @property
    def tables(self) -> list[str]:
        """The other data files beside the file, which may be about its people."""
        beside, _ = self.folder.entries(self.path.parent)
        return [one.path for one in beside if one.kind == "data" and one.path != self.name]

    @property
    def others(self) -> dict[str, Path]:
        """The kept choices for other files of the same kind of data, by the name of the file."""
        found = {}
        for one in sorted(self.kept.parent.glob("*.json")):
            with suppress(OSError, ValueError, KeyError, TypeError):
                what = json.loads(one.read_bytes())["choices"]["what"]
                if one != self.kept and _rows_of(what) == _rows_of(self.what):
                    found[one.stem] = one
        return found

    def take_up(self, file: Path) -> None:
        """Use choices that were kept, also for another file; say which columns are different."""
        try:
            kept = json.loads(file.read_bytes())
            if kept["format"] != FORMAT:
                return
            self._take_people(kept["choices"].get("nodes", ""))
            known, own = kept["choices"]["columns"], self.choices["columns"]
            self.choices |= {
                name: value
                for name, value in kept["choices"].items()
                if name in self.choices and name != "columns"
            }
            self.choices["nodes"] = self.people_file
            self.choices["columns"] = own | {n: known[n] for n in own if n in known}
        except (OSError, ValueError, KeyError, TypeError):
            self.notes = ["The earlier choices could not be read. The detected ones are used."]
            return
        new = [name for name in own if name not in known]
        gone = [name for name in known if name not in own]
        self.notes = [
            f"{words}: {', '.join(names)}. Check these choices."
            for words, names in (
                ("New columns since these choices were made", new),
                ("Columns that are not here any more", gone),
            )
            if names
        ]

    def change(self, form: Mapping[str, str]) -> None:
        """Take what a form says, check it, and keep it: one form after the other, by `turn`."""
        before = copy.deepcopy(self.choices)
        if "undo" in form:
            self.choices = self.undone.pop() if self.undone else self.choices
            self.people = None
        elif "reset" in form:
            self.description, self.choices, self.notes = _looked_at(self.path)
            self.people = None
        else:
            if form.get("like") in self.others:
                self.take_up(self.others[form["like"]])
            self._take(form)
        if self.choices != before and "undo" not in form:
            self.undone = [*self.undone, before][-MOST_UNDONE:]
        self.check()
        self.keep()

    def keep(self) -> None:
        """Keep the choices for later, and for `choices_of` if nothing is open."""
        held = {"format": FORMAT, "choices": self.choices}
        held |= {} if self.problems else {"release": self.repeatable}
        content = json.dumps(held, indent=1)
        try:
            with whole_file(self.kept, mode=OWNER_ONLY) as part:
                part.write_text(content, encoding="utf-8")
        except OSError as error:
            self.notes = [f"These choices could not be kept for later: {error.strerror}."]

    def _take(self, form: Mapping[str, str]) -> None:
        """Change the choices as the fields of a form say; what is not offered changes nothing."""
        if form.get("header", self.choices["header"]) != self.choices["header"]:
            self.description, self.people = describe(self.path, header=form["header"]), None
            self.choices = detected(self.description) | {"header": form["header"]}
            return
        self._take_people(form.get("nodes", self.people_file))
        names = [column.name for column in self.description.columns]
        offers: dict[str, Collection[str]] = {"what": KINDS, "items": ("things", "people")}
        offers["directed"] = DIRECTIONS
        offers |= dict.fromkeys(("person", "first", "second"), names)
        offers |= dict.fromkeys(("copy", "false"), ("yes", "no"))
        for field_name, offered in offers.items():
            if form.get(field_name, "") in offered:
                self.choices[field_name] = form[field_name]
        for number, column in enumerate(self.columns):
            said = self.choices["columns"][column.name]
            if form.get(f"role{number}") in ROLES:
                said["role"] = form[f"role{number}"]
            if form.get(f"levels{number}") in LEVELS:
                said["levels"] = form[f"levels{number}"]
            for place, word in enumerate(said["words"]):
                if form.get(f"word{number}-{place}") in ("missing", "value"):
                    said["words"][word] = form[f"word{number}-{place}"]
        if "answer" in form:
            self._answer(*form["answer"].partition("-")[::2])

    @property
    def people_file(self) -> str:
        """The file of people that was chosen, from the top of the folder; empty without one."""
        chosen: str = self.choices["nodes"]
        return chosen

    def _take_people(self, name: str) -> None:
        """Take a file of people and the roles that follow from it; an empty name is none."""
        if name == self.people_file:
            return
        self.people, self.choices["nodes"] = None, ""
        if name in self.tables:
            self.people = describe(self.folder.inside(name), kind="table", person="row")
            self.choices["nodes"] = name
            self.choices["columns"] |= detected(self.people)["columns"]

    def offered(self, kind: str) -> tuple[str, ...]:
        """Return the levels that are offered for a kind of column; some methods only group."""
        if self.kind == "network" or self.wanted:
            return ("auto", "") if kind == "number" else ("",)
        return BY_KIND.get(kind, ("", "auto", "prefix:3,2,1"))

    def _answer(self, number: str, answer: str) -> None:
        """Answer a question: one of those that `answers_to` offers."""
        if not number.isdigit() or int(number) >= len(self.problems):
            return
        asked = self.problems[int(number)]
        said = self.choices["columns"].get(asked.column)
        if answer not in answers_to(asked):
            return
        if said is None or answer == "use":
            self.choices["more"][asked.option] = asked.value
        elif answer in ("missing", "value"):
            said["words"][asked.value] = answer
        elif answer == "levels":
            proposed = asked.value if asked.option == "levels" else ""
            said["role"], said["levels"] = "known", proposed if proposed in LEVELS else "auto"
        elif answer.startswith(_DATES):
            said["dates"] = answer.removeprefix(_DATES)
        else:
            said["role"] = answer

    def check(self) -> None:
        """Ask everything that is open; where nothing is, read the file as it was chosen."""
        said, previews = "", dict[str, list[Level]]()
        try:
            options = self.options
            levels: dict[str, Any] = {}
            if self.kind == "table":  # numbers of people who must be alike are no number to group
                own = {self.wanted: "auto"} if self.wanted else {}
                roles = self.roles
                levels = {"levels": roles["levels"] | own, "dates": roles["dates"]}
            if self.people_file and self.people is None:
                self.people = describe(
                    self.folder.inside(self.people_file), kind="table", person="row"
                )
            problems = describe(self.path, kind=self.kind, **options, **levels).problems
            if not problems:
                said, previews = self._read()
        except InputError as error:
            problems = error.problems or (self._asked_by(str(error)),)
        except GraphveilError as error:
            problems = (self._asked_by(str(error)),)
        self.said, self.problems, self.previews = said, problems, previews  # at once: others read

    def _read(self) -> tuple[str, dict[str, list[Level]]]:
        """Return what was read in a few words, and previews of levels.

        Raises `GraphveilError` where it cannot be released so.
        """
        from graphveil import io  # noqa: PLC0415  heavy, and the server starts without it
        from graphveil.methods.registry import method_named  # noqa: PLC0415  as above

        data = io.load(self.path, options_from(self.payload, exact=self.kind == "table")).data
        if self.kind == "table":
            way = way_named("table", "adaptive" if self.wanted else "generalize")
            asked = parameters_of(way, 2, self.payload)
            method_named(way.method).from_parameters(asked).check(data)
            said = f"{data.n_rows:,} people and {len(data.columns)} columns"
            return said, previewed(data, self.roles["levels"], self.roles["dates"])
        if self.kind == "graph":
            return f"{data.n_nodes:,} people and {data.n_edges:,} connections", {}
        if self.kind == "network":
            method_named(self.method).from_parameters({"k": 2, **self.roles}).check(data)
            columns = f", {data.n_attributes} columns about people" if self.people else ""
            return f"{data.n_nodes:,} people and {data.n_ties:,} connections{columns}", {}
        return f"{data.n_users:,} people and {data.n_features:,} items", {}

    def _asked_by(self, text: str) -> Problem:
        """Return what a refusal asks; of dates, in which form they are written."""
        column, forms = self._column_in(text), _forms_in(text)
        if not (column and forms):
            return Problem(column, "", "", text, "")
        return Problem(column, "dates", forms[0], text.rpartition(". ")[0], " or ".join(forms))

    def _column_in(self, text: str) -> str:
        """Return the column that a message begins with; empty where there is none."""
        names = sorted((one.name for one in self.columns), key=len, reverse=True)
        return next(
            (one for one in names if text.startswith((one, f"column {one!r}", f"column {one}:"))),
            "",
        )

    def named(self, *roles: str) -> list[str]:
        """Return the columns that have one of these roles, in their order; that of ids has none."""
        columns = {one.name: self.choices["columns"][one.name]["role"] for one in self.columns}
        ids = self.columns[0].name if self.people else None
        person = self.choices["person"] if self.choices["what"] == "column" else ids
        return [name for name, role in columns.items() if role in roles and name != person]

    @property
    def wanted(self) -> str:
        """The column in which people say how many must be alike; empty where there is none."""
        return next(iter(self.named("want")), "") if self.kind == "table" else ""

    def _words(self, *, used: list[str]) -> dict[str, tuple[str, ...]]:
        """Return how words that may be missing values are read, of these columns."""
        columns = self.choices["columns"]
        words = [pair for name in used for pair in columns[name]["words"].items()]
        missing = {word for word, said in words if said == "missing"} - {"*", ""}
        values = {word for word, said in words if said == "value"} - missing
        return {"suppressed": ("*", "", *sorted(missing)), "categories": tuple(sorted(values))}

    @property
    def options(self) -> dict[str, Any]:
        """How the file is read."""
        chosen, more = self.choices, dict(self.choices["more"])
        if self.description.format in TEXT and self.description.columns:
            more |= {"header": chosen["header"]}
        if self.kind in ("graph", "network"):
            ends = {"source_column": chosen["first"], "target_column": chosen["second"]}
            read = {**self._ends(ends), "ignore_weights": True, "directed": chosen["directed"]}
            return read | (self._people_options if self.people else {}) | more
        if self.kind == "bipartite":
            ends = {"user_column": chosen["first"], "item_column": chosen["second"]}
            return {**self._ends(ends), "items": chosen["items"], "ignore_weights": True} | more
        used = self.named("known", "attach", "label")
        if self.wanted:
            more |= {"bins": self._groups(self.named("known"))}
        return {
            "person": chosen["person"] if chosen["what"] == "column" else "row",
            "drop": tuple(self.named("drop")),
            **self._words(used=used),
        } | more

    def _groups(self, names: list[str]) -> dict[str, str]:
        """Return how numbers are grouped where no method makes them wider."""
        numbers = {one.name for one in self.columns if one.kind == "number"}
        columns = self.choices["columns"]
        grouped = [name for name in names if name in numbers and columns[name]["levels"]]
        return dict.fromkeys(grouped, GROUPS)

    @property
    def _people_options(self) -> dict[str, Any]:
        """How the file of people is read: its first column names them."""
        used = self.named("known", "attach")
        dropped = [one.name for one in self.columns[1:] if one.name not in used]
        return {
            "nodes": self.folder.inside(self.people_file),
            "drop": tuple(dropped),
            "bins": self._groups(used),
            **self._words(used=used),
        }

    def _ends(self, ends: dict[str, str]) -> dict[str, str | int]:
        """Return the columns of pairs by name, or by number where they have none."""
        names = [column.name for column in self.description.columns]
        if self.choices["header"] == "no":
            return {end: names.index(name) + 1 for end, name in ends.items() if name in names}
        return {end: name for end, name in ends.items() if name}

    @property
    def roles(self) -> dict[str, Any]:
        """The parameters of a method for tables that come from the columns."""
        if self.kind == "network":
            asked = ("known", "attach") if self.people else ()  # the file of pairs has no roles
            said = {role: self.named(role) for role in asked}
            return {role: names for role, names in said.items() if names}
        if self.kind != "table":
            return {}
        columns = self.choices["columns"]
        known = self.named("known")
        levels = {name: columns[name]["levels"] for name in known if columns[name]["levels"]}
        levels = {} if self.wanted else levels  # adaptive hides values, and makes none wider
        dates = {name: columns[name].get("dates", "") for name in levels}
        roles = {role: self.named(role) for role in ("known", "attach", "label")}
        return roles | {"levels": levels, "dates": {n: form for n, form in dates.items() if form}}

    @property
    def payload(self) -> dict[str, Any]:
        """The choices as a job takes them, and which file they are of."""
        files = [self.path, *([self.folder.inside(self.people_file)] if self.people_file else [])]
        file = [(one.stat().st_mtime_ns, one.stat().st_size) for one in files]
        read = {n: str(v) if isinstance(v, Path) else v for n, v in self.options.items()}
        said = {"kind": self.kind, "options": read, "roles": self.roles, "file": file}
        return said | {"want": self.wanted}

    @property
    def repeatable(self) -> dict[str, Any]:
        """The method, its parameters and how the file is read, as `choices_of` takes them."""
        way, said = way_named(self.kind, self.method), self.payload
        reading = {name: value for name, value in said["options"].items() if name != "nodes"}
        return {
            "method": way.method,
            "parameters": parameters_of(way, self.choices["strength"], said),
            "reading": {"kind": self.kind, **reading},
            "columns": [one.name for one in self.columns],
        }

    @property
    def method(self) -> str:
        """The method that the two questions lead to."""
        is_copied, is_false = self.choices["copy"] == "yes", self.choices["false"] == "yes"
        if self.kind == "network":
            return "profile" if self.choices["directed"] == "keep" else "k-degree"
        if self.wanted:
            return "adaptive"
        if self.kind == "graph":
            return "degree-triangle-model" if is_copied else "k-degree"
        if self.kind == "bipartite":
            rows = "smooth-k" if is_false else "suppress-k"
            return "randomized-response" if is_copied and is_false else rows
        return "smooth-k" if is_false and not self.named("attach", "label") else "generalize"


def _rows_of(what: str) -> str:
    """Return the kind of data whose rows are so: both kinds of rows of people are of tables."""
    return what if what in ("graph", "bipartite") else "table"


def describe(path: Path, **options: Any) -> Description:
    """Return what a file holds."""
    from graphveil.verbs import describe as verb  # noqa: PLC0415  heavy: the address comes first

    return verb.describe(path, **options)


def _looked_at(path: Path) -> tuple[Description, dict[str, Any], list[str]]:
    """Return what a file holds, the choices that follow, and what they assume.

    Where its first line can be either, it is read as names, unless one is a number. Every row of a
    table is taken for a person.
    """
    found, given, notes = describe(path), {}, []
    names = [column.name for column in found.columns]
    if names and names == [f"column_{number}" for number, _ in enumerate(names, 1)]:
        given["header"] = "no"
        with suppress(GraphveilError):
            named = describe(path, header="yes")
            if not any(one.name.replace(".", "").isdigit() for one in named.columns):
                found, given = named, {"header": "yes"}
    if found.kind == "table":
        before = {column.name for column in found.columns if column.role == "drop"}
        rows = describe(path, kind="table", person="row", **given)
        found = replace(rows, reason=found.reason)
        people = [one.name for one in found.columns if one.name in before and one.role != "drop"]
    else:
        people = []
    if people:
        notes.append(
            f"A value of {', '.join(people)} appears in several rows. If it names a person, choose "
            "that several rows belong to a person."
        )
    return found, detected(found) | given, notes


def previewed(
    data: Table, levels: Mapping[str, str], dates: Mapping[str, str]
) -> dict[str, list[Level]]:
    """Return the values that the first rows would have at every level, above all and `*` aside.

    Raises `GraphveilError` where the levels do not suit the values.
    """
    import numpy as np  # noqa: PLC0415  heavy, and the server starts without it

    from graphveil.methods.generalize.levels import column_of, values_of  # noqa: PLC0415  as above

    cells = data.to_arrow().slice(0, MOST_PREVIEWED)
    found: dict[str, list[Level]] = {}
    for name, rule in levels.items():
        tree, leaves = column_of(values_of(name, cells.column(name), ()), rule, dates.get(name))
        found[name] = []
        for nodes, texts in zip(tree.nodes[1:-1], tree.texts[1:-1], strict=True):
            rows = np.bincount(nodes[leaves], minlength=len(texts)).tolist()
            there = [one for one in zip(texts, rows, strict=True) if one[0] != "*"]
            most = sorted(range(len(there)), key=lambda at: -there[at][1])[:MOST_SHOWN]
            found[name].append(Level([there[at] for at in sorted(most)], len(there)))
    return found


def answers_to(asked: Problem) -> dict[str, str]:
    """Return what can be answered to a question, with the words of its button."""
    if asked.option in ("suppressed", "categories"):
        return {"missing": "It is missing", "value": "It is a value"}
    if asked.column and asked.option == "dates":
        forms = _forms_in(asked.choices)
        read = {f"{_DATES}{form}": f"Read it as {_as_shown(form)}" for form in forms}
        return {**read, "drop": "Do not publish it"}
    if asked.column and asked.option in ("levels", "bins", "drop", "person"):
        return {"levels": "Group it automatically", "drop": "Do not publish it"}
    return {"use": f"Use: {asked.option.replace('_', ' ')} {asked.value}"} if asked.option else {}


def _forms_in(text: str) -> list[str]:
    """Return the forms of dates that a text names, but those that are part of another.

    Examples
    --------
    >>> _forms_in("dates birth=%d/%m/%Y or birth=%m/%d/%Y"), _forms_in("seen=%Y-%m-%d %H:%M")
    (['%d/%m/%Y', '%m/%d/%Y'], ['%Y-%m-%d %H:%M'])
    """
    forms = [form for form in DATE_FORMS if form in text]
    return [one for one in forms if not any(one != more and one in more for more in forms)]


def _as_shown(form: str) -> str:
    """Return how dates of a form look.

    Examples
    --------
    >>> _as_shown("%d/%m/%Y"), _as_shown("%d %b %Y")
    ('DD/MM/YYYY', 'DD Mon YYYY')
    """
    for mark, words in _MARKS.items():
        form = form.replace(mark, words)
    return form


def detected(found: Description) -> dict[str, Any]:
    """Return the choices that follow from what was found."""
    ends = {column.role: column.name for column in found.columns}
    names = [column.name for column in found.columns]
    first = ends.get("source", ends.get("user", names[0] if names else ""))
    second = ends.get("target", ends.get("item", names[1] if len(names) > 1 else ""))
    more = found.options if found.kind != "table" else {}
    own = ("source_column", "target_column", "user_column", "item_column", "items", "directed")
    return {
        "what": {"graph": "graph", "network": "graph", "bipartite": "bipartite"}.get(
            found.kind, "row"
        ),
        "person": names[0] if names else "",
        "first": first,
        "second": second,
        "items": "things",
        "nodes": "",
        "directed": "symmetrize",
        "strength": None,
        "header": "yes",
        "copy": "no",
        "false": "no",
        "more": {n: v for n, v in more.items() if n not in own and isinstance(v, str | bool)},
        "columns": {
            column.name: {
                "role": "drop" if column.role == "drop" else "known",
                "levels": column.levels if column.levels in LEVELS else "auto",
                "dates": "",
                "words": {word: "missing" for word, _ in column.missing},
            }
            for column in found.columns
        },
    }


def options_from(study: Mapping[str, Any], *, exact: bool = False) -> Any:
    """Return how a file is read, from the choices of its page; numbers of a table exactly."""
    from graphveil.data.kinds import KINDS  # noqa: PLC0415  heavy, and the server needs it not
    from graphveil.io.options import from_record, options_of  # noqa: PLC0415  as above

    asked = study["options"] | ({"exact": True} if exact else {})
    asked |= {"nodes": Path(asked["nodes"])} if asked.get("nodes") else {}
    return from_record(options_of(KINDS[study["kind"]])(), asked)


def parameters_of(way: Way, strength: float | None, study: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a method: its strength, and the roles of columns if it has them."""
    number: Any = int(strength) if way.parameter == "k" and strength else strength
    number = study["want"] if way.parameter == OWN else number
    has_roles = study["kind"] == "network" or way.method in WITH_ROLES
    roles = {**study["roles"]} if has_roles else {}
    if way.method != "generalize":
        roles = {name: said for name, said in roles.items() if name not in ("levels", "dates")}
    return {
        way.parameter: number,
        **way.more,
        **{name: said for name, said in roles.items() if said},
    }


def way_named(kind: str, method: str) -> Way:
    """Return the way of a method; the first one where there is none of that name."""
    return next((way for way in WAYS[kind] if way.method == method), WAYS[kind][0])


def named(way: Way, strength: float, study: Mapping[str, Any]) -> str:
    """Return a strength as the page names it."""
    if way.parameter == OWN:
        return f"as column {study['want']} says"
    return f"{way.parameter} = {strength:g}"
