"""A file that the page is about: what it holds, what was chosen for it, and what is still open.

Choices are kept in ``.graphveil/FILE.json`` of the folder (0600), without other values of the data
than words for missing ones. They survive a restart, and can be used for next year's file.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec.structs import replace as replaced

from graphveil.app.choices import (
    BY_KIND,
    FORMAT,
    LEVELS,
    ROLES,
    WORDS,
    FileChoices,
    KeptFile,
    RowsRead,
    detected,
    kept_for,
    rows_of,
    state_of,
)
from graphveil.app.folder import UNREADABLE, Folder
from graphveil.app.previews import Level, previewed
from graphveil.app.questions import DATES, answers_to, asked_by
from graphveil.app.tasks import Roles, StudySettings
from graphveil.app.ways import way_named
from graphveil.claims.conditions import LEAST_NARROWED, MOST_NARROWED
from graphveil.core.atomic import OWNER_ONLY, whole_file
from graphveil.core.errors import GraphveilError
from graphveil.core.questions import Problem
from graphveil.core.text import counted

if TYPE_CHECKING:
    from graphveil.data import Table
    from graphveil.verbs.describe import ColumnDescription, Description

MOST_UNDONE = 50
"""So many changes can be undone."""

TEXT = ("csv", "tsv", "text")
"""Formats whose first line may be names."""

GROUPS = "quantiles:4"
"""How numbers of people of a network are grouped: into so many groups of equal size."""

FIELDS = {
    "what": ("row", "column", "graph", "bipartite"),
    "items": ("things", "people"),
    "directed": ("symmetrize", "keep"),
    "copy": ("yes", "no"),
    "false": ("yes", "no"),
}
"""What the fields of the whole file can be; a row is of a person, or one of several of a person."""


@dataclass
class Study:
    """A file (named from the top of its folder), what it holds, and what was chosen, as JSON."""

    folder: Folder
    name: str
    description: Description
    choices: FileChoices
    state: tuple[int, int]
    people: Description | None = None
    problems: tuple[Problem, ...] = ()
    notes: list[str] = field(default_factory=list)
    said: str = ""
    undone: list[FileChoices] = field(default_factory=list)
    previews: dict[str, list[Level]] = field(default_factory=dict)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def of(cls, folder: Folder, name: str) -> Study:
        """Look at a file, and take up the choices that were kept for it."""
        state = state_of(folder.inside(name))  # before it is read: a later one is looked at again
        found, choices = _looked_at(folder.inside(name))
        study = cls(folder, name, found, choices, state)
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
        return kept_for(self.folder, self.name)

    @property
    def rows(self) -> RowsRead:
        """How many rows were looked at."""
        return RowsRead(self.description.rows, self.description.complete, self.state)

    @property
    def kind(self) -> Literal["table", "network", "graph", "bipartite"]:
        """The kind of data."""
        rows = rows_of(self.choices.what)
        is_network = self.choices.nodes or self.choices.directed == "keep"
        return "network" if rows == "graph" and is_network else rows

    @property
    def columns(self) -> tuple[ColumnDescription, ...]:
        """The columns that have roles: those of the file, or of the file of people."""
        return (self.people or self.description).columns

    @property
    def tables(self) -> list[str]:
        """The other data files next to the file: about its people, or with levels of a column."""
        beside, _ = self.folder.entries(self.path.parent)
        return [one.path for one in beside if one.kind == "data" and one.path != self.name]

    @property
    def others(self) -> dict[str, Path]:
        """The kept choices for other files of the same kind of data, by the name of the file."""
        found = {}
        for one in sorted(self.kept.parent.glob("*.json")):
            with suppress(*UNREADABLE):
                what = KeptFile.at(one).decoded().what
                if one != self.kept and rows_of(what) == rows_of(self.choices.what):
                    found[one.stem] = one
        return found

    def take_up(self, file: Path) -> None:
        """Use choices that were kept, also for another file; say which columns are different."""
        try:
            held = KeptFile.at(file)
            if held.format != FORMAT:
                return
            kept = held.decoded()
            self._look(kept.header, kept.more.get("encoding", ""))
            self._take_people(kept.nodes)
        except UNREADABLE:
            self.notes = ["The earlier choices could not be read. The detected ones are used."]
            return
        known, own = kept.columns, self.choices.columns
        new = [name for name in own if name not in known]
        columns = own | {n: known[n] for n in own if n in known}
        household = kept.household if kept.household in own else ""
        what = "" if kept.what == "column" and kept.person not in own else kept.what
        self.choices = replaced(
            kept, nodes=self.choices.nodes, columns=columns, household=household, what=what
        )
        gone = [name for name in known if name not in own]
        said = {"New columns since these choices were made": new}
        said |= {"Columns that are not here any more": gone}
        listed = [f"{what}: {', '.join(names)}" for what, names in said.items() if names]
        self.notes = [f"{one}. Check these choices." for one in listed]

    def change(self, form: Mapping[str, str]) -> None:
        """Take what a form says, check it, and keep it: one form after the other, by `turn`."""
        before, columns = copy.deepcopy(self.choices), self._protected
        if "undo" in form:
            if self.undone:
                last = self.undone[-1]
                self._look(last.header, last.more.get("encoding", ""))
                self.choices, self.people = self.undone.pop(), None
        elif "reset" in form:
            self.description, self.choices = _looked_at(self.path)
            self.notes, self.people = [], None
        else:
            if form.get("like") in self.others:
                self.take_up(self.others[form["like"]])
            self._take(form)
            if self._protected != columns and "like" not in form:  # it was said of other columns
                self.choices.may_narrow = None
        if self.choices != before and "undo" not in form:
            self.undone = [*self.undone, before][-MOST_UNDONE:]
        self.check()
        self.keep()

    @property
    def _protected(self) -> list[list[str]]:
        """The columns that are protected, and those that are published unchanged."""
        return [self.named("known"), self.named("attach", "label")]

    def keep(self) -> None:
        """Keep the choices for later, and for `choices_of` if nothing is open."""
        held = {"format": FORMAT, "choices": self.choices, "rows": self.rows}
        held |= {} if self.problems else {"release": self.repeatable}
        content = json.dumps(msgspec.to_builtins(held), indent=1)
        try:
            self.folder.hidden()
            with whole_file(self.kept, mode=OWNER_ONLY) as part:
                part.write_text(content, encoding="utf-8")
        except OSError as error:
            self.notes = [f"These choices could not be kept for later: {error.strerror}."]

    def _take(self, form: Mapping[str, str]) -> None:
        """Change the choices as the fields of a form say; what is not offered changes nothing."""
        if self._look(form.get("header", "")):
            return
        if "shown" in form:
            self._take_shown(*form["shown"].partition(" ")[::2])
        self._take_people(form.get("nodes", self.choices.nodes))
        names = [column.name for column in self.description.columns]
        offers: dict[str, Collection[str]] = dict.fromkeys(("person", "first", "second"), names)
        offers |= FIELDS
        offers["household"] = ["", *self.households]
        for name, offered in offers.items():
            if name in form and form[name] in offered:
                setattr(self.choices, name, form[name])
        of_column = {"role": ROLES, "levels": (*LEVELS, *self.levels_files)}
        for number, column in enumerate(self.columns):
            said = self.choices.columns[column.name]
            for name, offered in of_column.items():
                if form.get(f"{name}{number}") in offered:
                    setattr(said, name, form[f"{name}{number}"])
            for field_, words in (("word", said.words), ("code", said.codes)):
                given = [form.get(f"{field_}{number}-{place}", "") for place in range(len(words))]
                told = zip(words, given, strict=True)
                words |= {word: WORDS[meaning] for word, meaning in told if meaning in WORDS}
        if "answer" in form:
            self._answer(*form["answer"].partition("-")[::2])

    def _look(self, header: str, encoding: str = "") -> bool:
        """Look at the file again if its first line or its bytes are read in another way now."""
        given = {"header": header if header in ("yes", "no") else self.choices.header}
        given |= {"encoding": encoding or self.choices.more.get("encoding", "")}
        before = {"header": self.choices.header, "encoding": self.choices.more.get("encoding", "")}
        is_new = given != before and self.description.format in TEXT
        if is_new:
            given = {name: value for name, value in given.items() if value}
            self.description, self.choices = _looked_at(self.path, **given)
            self.notes, self.people = [], None
        return is_new

    @property
    def households(self) -> list[str]:
        """The columns that may number households: the proposed ones, and the chosen one."""
        if self.kind != "table":
            return []
        kept = (self.choices.household,)
        return [one.name for one in self.columns if one.role == "household" or one.name in kept]

    def _take_shown(self, answer: str, given: str) -> None:
        """Answer that columns which are published unchanged show what known ones hide."""
        if answer == "accept":
            with suppress(ValueError):
                if LEAST_NARROWED <= float(given) <= MOST_NARROWED:
                    self.choices.may_narrow = float(given)
        elif answer == "ask":
            self.choices.may_narrow = None
        elif given in self.named("attach", "label") and answer in ("known", "drop"):
            self._take_role(given, "known" if answer == "known" else "drop")

    def _take_role(self, name: str, role: Literal["known", "drop"], levels: str = "") -> None:
        """Give a column a role; one that is known becomes coarser as is usual for its kind."""
        said = self.choices.columns[name]
        said.role = role
        if role == "known":
            kind = next(one.kind for one in self.columns if one.name == name)
            fitting = next(filter(None, self.offered("text" if kind == "id" else kind)), "auto")
            said.levels = levels or fitting

    def _take_people(self, name: str) -> None:
        """Take a file of people and the roles that follow from it; an empty name means no file."""
        if name == self.choices.nodes:
            return
        self.people, self.choices.nodes = None, ""
        if name in self.tables:
            self.people = self._describe_people(name)
            self.choices.nodes = name
            self.choices.columns |= detected(self.people).columns

    def _describe_people(self, name: str) -> Description:
        return describe(self.folder.inside(name), kind="table", person="row")

    @property
    def levels_files(self) -> list[str]:
        """The files that may have the levels of a column, if the method takes any."""
        is_generalized = self.kind == "table" and not self.wanted
        return [one for one in self.tables if one.endswith(".csv")] if is_generalized else []

    def offered(self, kind: str) -> tuple[str, ...]:
        """Return the levels that are offered for a kind of column; some methods only group."""
        if self.kind == "network" or self.wanted:
            return ("auto", "") if kind == "number" else ("",)
        return BY_KIND.get(kind, ("", "prefix:3,2,1"))

    def _answer(self, number: str, answer: str) -> None:
        """Answer a question: one of those that `answers_to` offers."""
        asked = {str(place): one for place, one in enumerate(self.problems)}.get(number)
        if asked is None or answer not in answers_to(asked):
            return
        said = self.choices.columns.get(asked.column)
        if asked.option == "person":
            self.choices.what = "row" if answer == "row" else "column"
            self.choices.person = asked.column if answer == "column" else self.choices.person
        elif asked.option == "encoding":
            self._look("", answer)
            self.choices.more["encoding"] = answer
        elif asked.option == "decimal":
            self.choices.more["decimal"] = answer
        elif said is None or answer == "use":
            self.choices.more[asked.option] = asked.value
        elif asked.option == "missing":
            said.codes |= dict.fromkeys(asked.value.split(","), WORDS[answer])
        elif answer in WORDS:
            said.words[asked.value] = WORDS[answer]
        elif answer == "levels":
            is_proposed = asked.option == "levels" and asked.value in LEVELS
            self._take_role(asked.column, "known", asked.value if is_proposed else "")
        elif answer.startswith(DATES):
            said.dates = answer.removeprefix(DATES)
        else:
            said.role = "drop"

    def check(self) -> None:
        """Ask everything that is open; where nothing is, read the file as it was chosen."""
        said, previews = "", dict[str, list[Level]]()
        try:
            levels: dict[str, Any] = {}
            if self.kind == "table":  # numbers of people who must be equal are no number to group
                own = {self.wanted: "auto"} if self.wanted else {}
                levels = {"levels": self.roles.levels | own, "dates": self.roles.dates}
            if self.choices.nodes and self.people is None:
                self.people = self._describe_people(self.choices.nodes)
            problems = describe(self.path, kind=self.kind, **self.options, **levels).problems
            problems = tuple(one for one in problems if not self._is_answered(one))
            if any(one.option in ("encoding", "decimal") for one in problems):
                # Whose rows these are depends on cells that are read in another way later.
                problems = tuple(one for one in problems if one.option != "person")
            if not problems:
                said, previews, problems = self._read()
        except GraphveilError as error:
            problems = error.problems or (asked_by(error, self._column_in(str(error))),)
        self.said, self.problems, self.previews = said, problems, previews  # at once: others read

    def _is_answered(self, asked: Problem) -> bool:
        """Whether the page has the answer to a question, for which readers have no option.

        Codes that are values stay as they are, and so do numbers that are published unchanged.
        """
        said = self.choices.columns.get(asked.column)
        if said is None:
            return False
        if asked.option == "levels":
            return asked.column in self.named("attach", "label")
        return asked.option == "missing" and {*asked.value.split(",")} <= {*said.codes}

    def _read(self) -> tuple[str, dict[str, list[Level]], tuple[Problem, ...]]:
        """Return what was read in a few words, previews of levels, and what they do not suit."""
        from graphveil import io  # noqa: PLC0415  heavy, and the server starts without it
        from graphveil.methods.registry import method_named  # noqa: PLC0415  as above

        data = io.load(self.path, self.settings.reading(exact=self.kind == "table")).data
        if self.kind == "table":
            previews, problems = previewed(data, self.roles, self.wanted)
            if not problems:
                way = way_named("table", "adaptive" if self.wanted else "generalize")
                asked = way.parameters(2, self.settings)
                method_named(way.method).from_parameters(asked).check(data)
            said = f"{rows_in(data)} and {counted(len(data.columns), 'column')}"
            return said, previews, problems
        if self.kind == "bipartite":
            return f"{data.n_users:,} people and {data.n_features:,} items", {}, ()
        if self.kind == "graph":
            return f"{data.n_nodes:,} people and {data.n_edges:,} connections", {}, ()
        asked = way_named(self.kind, self.method).parameters(2, self.settings)
        method_named(self.method).from_parameters(asked).check(data)
        about = f", {counted(data.n_attributes, 'column')} about people" if self.people else ""
        return f"{data.n_nodes:,} people and {data.n_ties:,} connections{about}", {}, ()

    def _column_in(self, text: str) -> str:
        """Return the column that a message begins with; empty where there is none."""
        names = sorted((one.name for one in self.columns), key=len, reverse=True)
        begins = ((one, (one, f"column {one!r}", f"column {one}:")) for one in names)
        return next((one for one, words in begins if text.startswith(words)), "")

    def named(self, *roles: str) -> list[str]:
        """Return the columns that have one of these roles, in their order; that of ids has none."""
        said, ids = self.choices.columns, self.columns[0].name if self.people else None
        person = self.choices.person if self.choices.what == "column" else ids
        owners = (person, self.choices.household)
        names = [one.name for one in self.columns if one.name not in owners]
        return [name for name in names if said[name].role in roles]

    @property
    def wanted(self) -> str:
        """The column in which people say how many must be equal; empty if there is none."""
        return next(iter(self.named("want")), "") if self.kind == "table" else ""

    def _words(self, used: list[str]) -> dict[str, tuple[str, ...]]:
        """Return how words that may be missing values are read, of these columns."""
        columns = self.choices.columns
        words = [pair for name in used for pair in columns[name].words.items()]
        missing = {word for word, said in words if said == "missing"} - {"*", ""}
        values = {word for word, said in words if said == "value"} - missing
        return {"suppressed": ("*", "", *sorted(missing)), "categories": tuple(sorted(values))}

    @property
    def options(self) -> dict[str, Any]:
        """How the file is read."""
        chosen, more = self.choices, dict(self.choices.more)
        if self.description.format in TEXT and self.description.columns:
            more |= {"header": chosen.header}
        if self.kind in ("graph", "network"):
            read = self._ends("source_column", "target_column", directed=chosen.directed)
            if self.people:  # its first column names them
                used = self.named("known", "attach")
                dropped = tuple(one.name for one in self.columns[1:] if one.name not in used)
                read |= {"nodes": self.folder.inside(chosen.nodes), "drop": dropped}
                read |= {"bins": self._groups(used), **self._words(used)}
            return read | more
        if self.kind == "bipartite":
            return self._ends("user_column", "item_column", items=chosen.items) | more
        bins = {"bins": self._groups(self.named("known"))} if self.wanted else {}
        published = self.named(*ROLES[:-1])
        owners = {"person": {"row": "row", "column": chosen.person}.get(chosen.what)}
        owners |= {"household": chosen.household}
        told: dict[str, Any] = {name: column for name, column in owners.items() if column}
        codes = {
            name: ",".join(code for code, meaning in said.codes.items() if meaning == "missing")
            for name, said in chosen.columns.items()
            if name in published
        }
        codes = {name: listed for name, listed in codes.items() if listed}
        told |= {"missing": codes} if codes else {}
        told |= {"drop": tuple(self.named("drop")), **self._words(published)}
        return told | more | bins

    def _groups(self, names: list[str]) -> dict[str, str]:
        """Return how numbers are grouped where no method makes them wider."""
        numbers = {one.name for one in self.columns if one.kind == "number"}
        columns = self.choices.columns
        grouped = [name for name in names if name in numbers and columns[name].levels]
        return dict.fromkeys(grouped, GROUPS)

    def _ends(self, first: str, second: str, **more: str) -> dict[str, Any]:
        """Return the columns of pairs by name, or by number where they have none."""
        names = [column.name for column in self.description.columns]
        given: dict[str, Any] = {first: self.choices.first, second: self.choices.second}
        given = {end: name for end, name in given.items() if name}
        if self.choices.header == "no":
            given = {end: names.index(name) + 1 for end, name in given.items() if name in names}
        return {**given, **more, "ignore_weights": True}

    @property
    def roles(self) -> Roles:
        """The parameters of a method that come from the columns."""
        if self.kind not in ("table", "network") or (self.kind == "network" and not self.people):
            return Roles()  # a file of pairs has no roles
        given: dict[str, Any] = {role: self.named(role) for role in ("known", "attach")}
        if self.kind == "table":
            columns = self.choices.columns
            known = [] if self.wanted else given["known"]  # adaptive makes no value wider
            levels = {name: columns[name].levels for name in known if columns[name].levels}
            files = {
                name: str(self.folder.inside(listed))
                for name, listed in levels.items()
                if listed not in LEVELS
            }
            dates = {name: columns[name].dates for name in levels if columns[name].dates}
            given |= {"label": self.named("label"), "levels": levels | files, "dates": dates}
        share = self.choices.may_narrow if given["attach"] or given.get("label") else None
        return Roles(**given, may_narrow=share)

    @property
    def settings(self) -> StudySettings:
        """The choices as a job takes them, and which state of its files they are of."""
        plain: dict[type, Callable[[Any], Any]] = {type(self.path): str, tuple: list}
        read = {
            name: plain.get(type(value), lambda one: one)(value)
            for name, value in self.options.items()
        }
        files = [self.path, *map(Path, filter(None, [read.get("nodes")]))]
        files += [Path(one) for one in self.roles.levels.values() if one[:1] == "/"]
        states = [state_of(one) for one in files if one.is_file()]
        return StudySettings(
            kind=self.kind, options=read, want=self.wanted, roles=self.roles, states=states
        )

    @property
    def repeatable(self) -> dict[str, Any]:
        """The method, its parameters and how the file is read, as `choices_of` takes them."""
        way, said = way_named(self.kind, self.method), self.settings
        reading = {name: value for name, value in said.options.items() if name != "nodes"}
        return {
            "method": way.method,
            "parameters": way.parameters(self.choices.strength, said),
            "reading": {"kind": self.kind, **reading},
            "columns": [one.name for one in self.columns],
        }

    @property
    def method(self) -> str:
        """The method that the two questions lead to."""
        is_copied, is_false = self.choices.copy == "yes", self.choices.false == "yes"
        if self.kind == "network":
            return "profile" if self.choices.directed == "keep" else "k-degree"
        if self.wanted:
            return "adaptive"
        if self.kind == "graph":
            return "degree-triangle-model" if is_copied else "k-degree"
        if self.kind == "bipartite":
            rows = "smooth-k" if is_false else "suppress-k"
            return "randomized-response" if is_copied and is_false else rows
        counts_rows = not (self.named("attach", "label") or self.choices.household)
        return "smooth-k" if is_false and counts_rows else "generalize"


def describe(path: Path, **options: Any) -> Description:
    """Return what a file holds."""
    from graphveil.verbs import describe as verb  # noqa: PLC0415  heavy: the address comes first

    return verb.describe(path, **options)


def _looked_at(path: Path, **given: str) -> tuple[Description, FileChoices]:
    """Return what a file holds, and the choices that follow.

    Where its first line can be either, it is read as names, unless one is a number. What a row of a
    table is stays open where a column may identify people with several rows.
    """
    found = describe(path, **given)
    names = [column.name for column in found.columns]
    if not given and names and names == [f"column_{number}" for number, _ in enumerate(names, 1)]:
        given["header"] = "no"
        with suppress(GraphveilError):
            named = describe(path, header="yes")
            if not any(one.name.replace(".", "").isdigit() for one in named.columns):
                found, given = named, {"header": "yes"}
    several = [one for one in found.problems if one.option == "person"]
    if found.kind == "table":
        rows = describe(path, kind="table", person="row", **given)
        found = replace(rows, reason=found.reason)
    chosen = detected(found)
    chosen.header = "no" if given.get("header") == "no" else "yes"
    chosen.more |= {"encoding": given["encoding"]} if "encoding" in given else {}
    chosen.what = "" if several and found.kind == "table" else chosen.what
    return found, chosen


def rows_in(data: Table) -> str:
    """Return how many rows a table has, in the words of what they are."""
    if data.units is not None:
        return f"{data.n_rows:,} rows of {len({*data.units.tolist()}):,} {data.person}"
    return f"{data.n_rows:,} {'people' if data.person in ('row', 'column') else 'rows'}"
