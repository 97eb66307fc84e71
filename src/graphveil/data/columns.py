"""Columns of frames and files, as Arrow tables.

Here it is decided which two columns are the ends of an edge, and whether directions matter.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from graphveil.core.errors import DataError
from graphveil.core.hints import did_you_mean, option, options
from graphveil.core.lazy import AsFrame
from graphveil.core.libraries import pa
from graphveil.core.text import counted, html_table
from graphveil.data.arrow_values import of_extension
from graphveil.data.ids import LARGEST, Ids
from graphveil.data.origin import Items, Person, PublicLists

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd


class Frames(AsFrame):
    """What hands itself to other libraries as a frame, and shows its size in notebooks.

    Every container answers what only some kinds of data have: `features` and what `items` stand
    for, which `person` a row is, the lists that are public, and a table of what is said of people.
    """

    features: Ids | None = None
    items: Items | None = None
    person: Person | None = None
    public_lists: PublicLists = ()

    @property
    def people(self) -> Any:
        """The columns of nodes or rows, as a table; None if nothing is said of them."""
        return None

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of attributes of nodes; only networks have some."""
        return ()

    @property
    def quoted_names(self) -> tuple[str, ...]:
        """Names in a network that texts about it quote: attributes and layers."""
        return ()

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of nodes, users or rows."""

    @abstractmethod
    def labels(self) -> Any:
        """Return the id of every node, user or row; 0..n-1 where none were given."""

    @abstractmethod
    def _sizes(self) -> dict[str, object]:
        """Return what a notebook shows of the size, by its name."""

    def __len__(self) -> int:
        """Return the number of nodes, users or rows."""
        return self.size

    def __iter__(self) -> Iterator[Any]:
        """Yield the id of every node, user or row."""
        return iter(self.labels().tolist())

    def _repr_html_(self) -> str:
        """Return the size as a table for notebooks; never an id."""
        rows = [(what, f"{n:,}" if isinstance(n, int) else n) for what, n in self._sizes().items()]
        return html_table(type(self).__name__, ("what", "count"), rows)


def is_frame(data: object) -> bool:
    """Whether an object hands itself over as a frame: pandas, polars, DuckDB or Arrow."""
    return hasattr(data, "__arrow_c_stream__")


def arrow_table(frame: Any, drop: Sequence[str] = ()) -> pa.Table:
    """Return a frame as an Arrow table of its columns; without the index of pandas."""
    library = type(frame).__module__.partition(".")[0]
    if type(frame).__name__ == "Series":
        raise DataError(f"a Series of {library} is a single column. Pass a frame with all columns.")
    if library == "pandas":
        _check_frame_of_pandas(frame)
    every = list(frame.columns) if library in _NAMING_FRAMES else []
    if every and drop:  # what is dropped need not be readable
        dropped = dropped_columns(drop, list(map(str, every)))
        frame = _chosen(frame, [name for name in every if str(name) not in dropped])
    table = _read_in(frame, every, library)
    if drop and not every:
        table = table.drop_columns(list(dropped_columns(drop, table.column_names)))
    for number, field in enumerate(table.schema):
        told = field.metadata or {}
        read = written_by_meaning(told, table.column(number))
        table = table.set_column(number, field.name, read)
    return table.replace_schema_metadata(None)


def dropped_columns(asked: Sequence[str], every: Collection[str]) -> tuple[str, ...]:
    """Return the columns to drop."""
    names = named_columns(asked, every)
    for name in names:
        if name not in every:
            raise DataError(
                f"no column {name!r} to drop. {did_you_mean(name, every)}Columns: "
                f"{', '.join(every)}."
            )
    return names


def _check_frame_of_pandas(frame: pd.DataFrame) -> None:
    named = [name for name in frame.index.names if name is not None]
    if named:
        raise DataError(
            f"the index of the frame is named {named[0]!r}. Make it a column with reset_index(), "
            "or drop it with reset_index(drop=True)."
        )
    names = frame.columns[frame.columns.duplicated()]
    if len(names):
        raise DataError(f"two columns of the frame are named {names[0]!r}. Rename one.")


def _with_large_as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of pandas with integers of more than 64 bits, which are objects, as text."""
    large = {}
    for name in frame.columns[frame.dtypes.astype(str) == "object"]:
        known = [value for value in frame[name] if value is not None]
        whole = all(type(value) is int for value in known)
        if whole and any(abs(value) > LARGEST for value in known):
            large[name] = [None if value is None else str(value) for value in frame[name]]
    return frame.assign(**large) if large else frame


def _refuse_some_zones(frame: pd.DataFrame) -> None:
    """Refuse a column of pandas in which some times have a zone and others none.

    Arrow would take the zone off, so that two different times become one.
    """
    for name in frame.columns[frame.dtypes.astype(str) == "object"]:
        times = [value for value in frame[name] if isinstance(value, datetime)]
        if len({value.tzinfo is None for value in times}) > 1:
            raise DataError(
                f"column {name} of the frame has times with a time zone and others without one. "
                "Give all of them a zone, or none."
            )


_NOT_IN_ARROW = {"UHUGEINT", "TIME WITH TIME ZONE"}
"""Types of DuckDB that it hands over as other values: integers above 2^127 as -1, times without
their zone."""


def _as_arrow_can_hold(relation: Any) -> Any:
    """Return a relation of DuckDB with columns as text that Arrow would hold as other values."""
    types = [str(one) for one in relation.types]
    if not _NOT_IN_ARROW.intersection(types):
        return relation
    quoted = ['"{}"'.format(name.replace('"', '""')) for name in relation.columns]
    return relation.project(
        ", ".join(
            f"{name}::VARCHAR AS {name}" if kind in _NOT_IN_ARROW else name
            for name, kind in zip(quoted, types, strict=True)
        )
    )


def _chosen(frame: Any, names: list[Any]) -> Any:
    """Return some columns of a frame of pandas, polars or DuckDB."""
    if not hasattr(frame, "project"):
        return frame[names]
    quoted = (str(name).replace('"', '""') for name in names)
    return frame.project(", ".join(f'"{name}"' for name in quoted))


_NAMING_FRAMES = ("pandas", "polars", "duckdb", "_duckdb")
"""Libraries whose frames say the names of their columns, and give some of them."""


def _read_in(frame: Any, names: Sequence[Any], library: str) -> pa.Table:
    """Return a frame in Arrow; a column that Arrow does not know is named."""

    def read(part: Any) -> pa.Table:
        if library == "pandas":
            _refuse_some_zones(part)
            return pa.Table.from_pandas(_with_large_as_text(part), preserve_index=False)
        return pa.table(_as_arrow_can_hold(part) if hasattr(part, "project") else part)

    failures = (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError)
    try:
        return read(frame)
    except failures as error:
        for name in names:
            try:
                read(_chosen(frame, [name]))
            except failures as own:
                said = " ".join(str(own.args[0] if own.args else own).split())
                raise DataError(
                    f"column {name} of the frame mixes types or holds objects ({said}). Use one "
                    "type, such as text with astype(str), or leave the column out."
                ) from own
        raise DataError(
            f"the frame cannot be read ({' '.join(str(error).split())}). Convert its columns to "
            "integers or text."
        ) from error


def written_by_meaning(told: Mapping[bytes, bytes], column: Any) -> Any:
    """Return a column as what its field says that it is, where only its storage was read."""
    name = told.get(b"ARROW:extension:name")
    if name is None or isinstance(column.type, pa.BaseExtensionType):
        return column
    storage = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    how = told.get(b"ARROW:extension:metadata", b"")
    read = of_extension(name.decode(), how, storage)
    if read is None and name.startswith(b"pandas."):
        raise DataError(
            f"a column holds values of {name.decode()} ({how.decode()}). Convert it to text, for "
            "example with astype(str), or drop it."
        )
    return column if read is None else read


EDGE_NAMES = (
    *(("source", "target"), ("src", "dst"), ("src", "dest"), ("from", "to")),
    *(("fromnode", "tonode"), ("sourcenode", "targetnode"), ("sender", "receiver")),
    *(("sender", "recipient"), ("caller", "callee"), ("follower", "followee")),
    *(("tail", "head"), ("a", "b"), ("u", "v"), ("node1", "node2"), ("id1", "id2")),
    *(("person1", "person2"), ("user1", "user2"), ("usera", "userb")),
)
"""Names of the two ends of an edge."""

PAIR_NAMES = (
    *(("user", "item"), ("user", "product"), ("user", "movie"), ("user", "feature")),
    *(("customer", "product"), ("customer", "item"), ("person", "item"), ("reader", "book")),
)
"""Names of a user and an item."""


TOO_SHORT = (("a", "b"), ("u", "v"))
"""Names of ends that a table may have for columns as well: they say nothing of the kind of data."""


NODE_LISTS = (("id", "name"), ("id", "label"), ("node", "name"), ("node", "label"))
"""Names of the columns of a file that lists nodes, and no edges."""


def plain(name: str) -> str:
    """Return a column's name as it is compared: in lower case, letters and digits, without id."""
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    return letters.removesuffix("id") or letters


def known_pairs(names: Sequence[str], *, graph: bool) -> list[tuple[int, int]]:
    """Return every two columns whose names are a known pair; those of the kind asked for first."""
    places: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        places.setdefault(plain(name), []).append(at)
    for table in (EDGE_NAMES, PAIR_NAMES) if graph else (PAIR_NAMES, EDGE_NAMES):
        ends = ((places.get(first, ()), places.get(second, ())) for first, second in table)
        pairs = [pair for both in ends for pair in product(*both)]
        if pairs:
            return pairs
    return []


def chosen_names(
    names: Sequence[str], asked: tuple[str | None, str | None], arguments: tuple[str, str]
) -> tuple[str, str]:
    """Return the two columns of a frame that are asked for, of known names, or the only two."""
    for name in asked:
        if name is not None and name not in names:
            raise DataError(
                f"no column {name!r}. {did_you_mean(name, names)}Columns: {list(names)}."
            )
    first, second = asked
    if first is not None and second is not None and first != second:
        return first, second
    if len(names) == 2 and (first is None) != (second is None):
        other = next(name for name in names if name not in asked)
        return (first or other, second or other)
    if len(names) < 2:
        raise DataError(f"each row needs two columns, but the frame has {len(names)}.")
    known = known_pairs(names, graph=arguments[0] == "source")
    if first is None and second is None:
        if len(known) == 1:
            return names[known[0][0]], names[known[0][1]]
        if len(names) == 2:
            return names[0], names[1]
    say = options(**dict(zip(arguments, names, strict=False)))
    raise DataError(
        f"cannot tell which two of the columns {list(names)} to use. Name them, for example {say}."
    )


def named_columns(asked: Sequence[str], every: Collection[str]) -> tuple[str, ...]:
    """Return the names that someone wrote, each alone or with commas between, or one text.

    >>> named_columns(["age, sex", "b,c"], ["age", "sex", "b,c"])
    ('age', 'sex', 'b,c')
    """
    asked = [asked] if isinstance(asked, str) else asked
    return tuple(
        part.strip() for name in asked for part in ([name] if name in every else name.split(","))
    )


MANY_TIES = 20
"""Where one edge in seven is mutual, so many without a mutual one are one list in 22."""

_DIRECTED_NAMES = frozenset(
    {
        *(("from", "to"), ("fromnode", "tonode"), ("sender", "receiver")),
        *(("sender", "recipient"), ("caller", "callee"), ("caller", "called")),
        *(("follower", "followee"), ("follower", "followed"), ("payer", "payee")),
        *(("lender", "borrower"), ("giver", "receiver"), ("seller", "buyer")),
        *(("citing", "cited"), ("parent", "child")),
    }
)
"""Names of two columns that say who does it to whom; source and target say it of no edge."""

Directed = Literal["symmetrize", "refuse"]
"""What to do with edges whose directions matter: forget them, or refuse the data."""

Directions = Literal["keep", "symmetrize", "refuse"]
"""What to do with them in a network, which can keep them."""


class Ties(NamedTuple):
    """Pairs of nodes that some arc joins; `said` is None where the data does not say it."""

    n: int
    mutual: int
    said: bool | None = None
    names: tuple[str, ...] = ()

    @property
    def matter(self) -> bool:
        """Whether an undirected graph forgets a direction."""
        if self.said is None:
            return 0 < self.mutual < self.n or self._named
        return self.said and self.mutual < self.n

    @property
    def _named(self) -> bool:
        """Whether the columns are named after a direction, and no edge of many is mutual."""
        ends = tuple(map(plain, self.names))
        directed = ends in _DIRECTED_NAMES or ends[::-1] in _DIRECTED_NAMES
        return directed and self.mutual == 0 and self.n >= MANY_TIES

    @property
    def refusal(self) -> str:
        """What is said where directions are not to be forgotten."""
        percent = 100 * self.mutual / self.n
        many = counted(self.n, "edge", "is", spec=",")
        why = "the edges are directed" if self.said else "the edges seem to be directed"
        if self.said is None and self._named:
            why += f", judging by the column names {' and '.join(self.names)}"
        return (
            f"{why}: {self.mutual:,} of {many} mutual ({percent:.1f}%). Graphs here are "
            f"undirected; to drop the directions, use {option('directed', 'symmetrize')}."
        )

    def check(self, directed: Directions) -> None:
        """Refuse edges whose directions matter, unless they are to be forgotten."""
        if directed not in ("refuse", "symmetrize", "keep"):
            raise DataError(f"directed={directed!r} is unknown. Use refuse, symmetrize or keep.")
        if self.matter and directed == "refuse":
            raise DataError(self.refusal)


def column_of_types(names: Sequence[str], ends: Collection[int]) -> int | None:
    """Return which column says of each edge whether it is directed, as Gephi writes it."""
    plain = [name.strip().lower() for name in names]
    column = plain.index("type") if "type" in plain else None
    return None if column in ends else column


def is_text(kind: pa.DataType) -> bool:
    """Whether a type of Arrow is text, or categories of text."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    textual = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(check(kind) for check in textual)


def types_say_directed(types: Any) -> bool:
    """Return whether some type of edges in an Arrow column, as Gephi writes it, is directed."""
    if not is_text(types.type):
        return False
    words = types.unique().to_pylist()
    return any(word is not None and word.strip().lower() == "directed" for word in words)


def frame_says_directed(table: pa.Table, ends: tuple[str, str]) -> bool:
    """Return whether a column of types, as Gephi writes it, calls some edge of a frame directed."""
    names = table.column_names
    column = column_of_types(names, [names.index(name) for name in ends])
    return column is not None and types_say_directed(table[column])
