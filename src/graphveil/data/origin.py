"""Where a container came from: its origin, what was dropped on the way, and which lists are public.

A second release of the same data is recognized by its origin, however it is read.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from graphveil.core.errors import DataError
from graphveil.core.hints import option
from graphveil.core.libraries import pa, pc
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import DroppedColumnsWarning
from graphveil.data.feature_names import column_and_value
from graphveil.data.ids import Ids, as_text, to_arrow

D = TypeVar("D")


class FileOrigin(NamedTuple):
    """A file as data was read from it: absolute path, bytes, last change in nanoseconds."""

    path: Path
    size: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path) -> FileOrigin | None:
        """Return the file as it is now; None where it cannot be asked, as a pipe."""
        try:
            known = path.stat()
            return cls(path.resolve(), known.st_size, known.st_mtime_ns) if path.is_file() else None
        except OSError:
            return None

    def digest(self) -> str | None:
        """Return the SHA-256 of its bytes; None where it was written since, or is gone."""
        return _digest_of_file(self) if FileOrigin.of(self.path) == self else None


class ColumnType(NamedTuple):
    """The type of a column of a frame; `order`: the categories in their order, if there is one."""

    arrow: pa.DataType
    order: tuple[str, ...] | None = None
    pandas: Any = None


@dataclass(frozen=True)
class ObjectOrigin:
    """The content of an object of another library: a digest in its own order, and column types."""

    sha256: str
    types: Mapping[str, ColumnType] = field(default_factory=dict, compare=False)

    def digest(self) -> str:
        """Return the SHA-256 of the content."""
        return self.sha256


def of_frame(frame: pa.Table, dtypes: Mapping[str, Any] | None = None) -> ObjectOrigin:
    """Return the content of a frame: names, types and values of all columns."""
    # The digest of the frame as an Arrow stream: names, types and values, in their order.
    into = _Digest()
    with pa.ipc.new_stream(pa.PythonFile(into, mode="w"), frame.schema) as stream:
        for batch in frame.to_batches():
            stream.write_batch(batch)
    # The types of columns, and the order of categories, for a release with the same types.
    types = {}
    for name, kind in zip(frame.schema.names, frame.schema.types, strict=True):
        order = None
        if pa.types.is_dictionary(kind) and frame.num_rows:
            values = frame.column(name).unify_dictionaries().chunk(0).dictionary.to_pylist()
            intervals = isinstance(kind.value_type, pa.BaseExtensionType)
            order = tuple(map(str, dtypes[name].categories if dtypes and intervals else values))
        types[name] = ColumnType(kind, order, (dtypes or {}).get(name))
    return ObjectOrigin(into.seen.hexdigest(), types)


def of_pattern(matrix: Any) -> ObjectOrigin:
    """Return where a sparse matrix of SciPy has entries; their values do not count.

    >>> from scipy import sparse
    >>> of_pattern(sparse.eye_array(3).tocsr()) == of_pattern(2 * sparse.eye_array(3).tocsr())
    True
    """
    matrix = matrix.sorted_indices()
    seen = hashlib.sha256(repr(matrix.shape).encode())
    for part in (matrix.indptr, matrix.indices):
        seen.update(part.astype("<i8").tobytes())
    return ObjectOrigin(seen.hexdigest())


def read_from(data: D, *origins: object) -> D:
    """Return a container that was just made, with what it was read from and what it says."""
    known = (*getattr(data, "origins", ()), *(one for one in origins if one is not None))
    object.__setattr__(data, "origins", known)
    return data


@lru_cache(maxsize=8)
def _digest_of_file(origin: FileOrigin) -> str | None:
    """Return the SHA-256 of a file's bytes; None where it cannot be read."""
    try:
        with origin.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


class _Digest:
    """A file without content that digests what is written."""

    def __init__(self) -> None:
        self.seen = hashlib.sha256()
        self.closed = False

    def write(self, content: Any) -> int:
        """Digest some bytes."""
        self.seen.update(content)
        return memoryview(content).nbytes

    def flush(self) -> None:
        """Do nothing: nothing is kept."""

    def close(self) -> None:
        """Say that it is closed."""
        self.closed = True


SHOWN = 10
"""How many names of dropped columns a message lists."""


def left_out_words(names: Sequence[str]) -> tuple[str, ...]:
    """Return what was omitted, and what joining it back does; nothing where nothing was.

    >>> print(*left_out_words(["gender", "year"]))
    dropped gender, year: the release does not cover them, and anyone who joins them back can \
single people out again
    """
    if not names:
        return ()
    listed = ", ".join(_shown(name) for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    words = (
        f"dropped {listed}{more}: the release does not cover them, and anyone who joins them "
        "back can single people out again"
    )
    return (words,)


def warn_left_out(names: Iterable[object]) -> tuple[str, ...]:
    """Warn of attributes that are omitted, and return their names, each once."""
    listed = tuple(dict.fromkeys(map(str, names)))
    for words in left_out_words(listed):
        warn(words, DroppedColumnsWarning)
    return listed


def attributes_of(graph: Any) -> Iterator[object]:
    """Yield the names of the attributes of a NetworkX graph's nodes and edges, with repeats."""
    for *_, values in (*graph.nodes(data=True), *graph.edges(data=True)):
        yield from values


def noting(data: D, left_out: tuple[str, ...]) -> D:
    """Return a container that was just made, with the names of what it omits."""
    object.__setattr__(data, "left_out", left_out)
    return data


def _shown(name: str) -> str:
    text = name.encode("unicode_escape").decode("ascii") if not name.isprintable() else name
    return text if len(text) <= 40 else f"{text[:37]}..."


MISSING = ("nan", "null", "none", "na", "n/a", "#n/a", "<na>", "\\n", ".", "")
"""Words for a missing id, in lower case."""

_SPELLINGS = (str, str.upper, str.capitalize, lambda word: word.replace("nan", "NaN"))
MAY_BE_MISSING = tuple(
    sorted({spell(word) for word in ("?", "-", *MISSING) for spell in _SPELLINGS if word})
)
"""Words that often stand for a missing id, as they are spelled."""


def warn_of_missing(*columns: Any) -> None:
    """Warn of texts in columns of ids of a frame that often stand for a missing one."""
    counts: Counter[str] = Counter()
    for column in columns:
        if not str(column.type).startswith(("string", "large_string", "dictionary<values=string")):
            continue
        for one in column.value_counts().to_pylist():
            if one["values"] in MAY_BE_MISSING:
                counts[one["values"]] += one["counts"]
    if counts:
        listed = ", ".join(f"{word} ({counts[word]:,}x)" for word in sorted(counts))
        warn(f'read {listed} as ids: if they mean "missing", remove their rows')


Items = Literal["people", "things", "values"]
"""What the items of users are; values of columns are named ``column=value``."""

Person = Literal["assumed", "row", "column", "people", "households"]
"""What the owner said of the rows of a table: nothing, that each is a different person, or which
column names people. With a column each person has one row."""


class SharedIds(NamedTuple):
    """Ids that stand for users and for items.

    `counted`: both are numbered from 0 or 1 on with few gaps, so that they share ids whatever they
    are.

    >>> SharedIds(0, 5, counted=True).refusal
    ''
    >>> from graphveil.core.hints import Message
    >>> print(Message(SharedIds(3, 5, counted=True).refusal))
    users and items are both numbered from the start, so items may be people. Use items="things", \
or items="people" if they are the same people.
    """

    n: int
    n_items: int
    counted: bool

    @property
    def refusal(self) -> str:
        """What is said where nobody said what items are; empty where no id is shared."""
        if not self.n:
            return ""
        things, people = option("items", "things"), option("items", "people")
        if self.counted:
            return (
                "users and items are both numbered from the start, so items may be people. Use "
                f"{things}, or {people} if they are the same people."
            )
        return (
            f"{self.n:,} of {self.n_items:,} item ids ({100 * self.n / self.n_items:.1f}%) are "
            "also user ids, as in a network. Items are published unchanged, so these would be "
            f"people under their ids. Use {people} to give them new ids, or {things} if they "
            "are not people."
        )


def shared_ids(users: Ids, items: Ids) -> SharedIds:
    """Return how many item ids are ids of users, too.

    >>> import numpy as np
    >>> shared_ids(np.array([10, 900]), np.array([900, 7000, 8000]))
    SharedIds(n=1, n_items=3, counted=False)
    >>> shared_ids(np.array([1, 2, 3]), np.array([1, 2, 4]))
    SharedIds(n=2, n_items=3, counted=True)
    """
    numbers = users.dtype.kind == "i" and items.dtype.kind == "i"
    both_counted = numbers and _counted(users) and _counted(items)
    if numbers:
        n = np.intersect1d(users, items, assume_unique=True).size
    else:
        one, other = to_arrow(as_text(users)), to_arrow(as_text(items))
        n = int(pc.sum(pc.is_in(other, value_set=one)).as_py() or 0)
    return SharedIds(n, items.size, counted=both_counted)


def _counted(ids: Ids) -> bool:
    """Whether the ids fill at least half of the numbers up to the largest of them."""
    return counted(ids.size, int(ids.max(initial=0)))


def counted(n: int, largest: int) -> bool:
    """Whether so many ids fill at least half of the numbers up to the largest of them."""
    return largest <= 2 * n


def check_values(names: Ids) -> None:
    """Refuse items as values of columns where one has no column in its name."""
    for name in names.tolist():
        if "=" not in str(name):
            raise DataError(
                f"the item {name!r} is not named column=value, so items are not values of "
                f"columns. Use {option('items', 'things')}."
            )


def may_be_values(names: Ids) -> bool:
    """Whether every item is named as a value of a column, and a column has several.

    It reads names alone: which items there are counts as public, who has them does not.
    """
    if names.dtype.kind == "i":
        return False
    split = [column_and_value(name) for name in names.tolist()]
    return all(split) and len({named[0] for named in split if named}) < len(split)


List = Literal["people", "items"]
"""A list that counts as public under differential privacy."""

PublicLists = tuple[List, ...]


LISTS: PublicLists = ("people", "items")
"""Every such list, in the order in which claims name them."""


def checked_lists(named: Sequence[List], possible: Sequence[List], words: str) -> PublicLists:
    """Return the lists that are named, each once and in order."""
    for one in named:
        if one not in possible:
            raise DataError(f"{words} has no list {one!r}. Use {' or '.join(possible)}.")
    return tuple(one for one in possible if one in named)
