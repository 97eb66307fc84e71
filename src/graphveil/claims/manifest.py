"""What is written about a release: `release.json`, the manifest, and its owner's private record.

The manifest is public. It carries nothing that the guarantee does not cover: no original ids, no
digest of the input, no seed, no paths, no timings, and counts of the released data only.

A release may come in parts. Their sizes follow from the number of users alone, so the boundaries
reveal neither the order of the original nor the chunks in which it was anonymized.

The record is what only the holder of the original may see.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from graphveil.claims.conditions import AnyCondition
from graphveil.claims.guarantees import AnyGuarantee, CheckWord
from graphveil.claims.ledger import Composed, LedgerReference
from graphveil.core.errors import (
    GraphveilError,
    ParameterError,
    ReleaseError,
    UsageError,
    option,
)
from graphveil.core.storage import Address, Place
from graphveil.core.text import counted
from graphveil.data.kinds import KINDS

FOLDER = "data"
"""The folder of the parts, in that of the release."""

PART_USERS = 1 << 20
"""So many users has every part but the last: part i holds the ids from i times this on."""

COLUMNS = ["user", "items"]
"""A row is a user with a list of all of its items, an empty one where there are none."""

UNFINISHED = ".graphveil-unfinished"
"""The object at an address that says that a run writes there, or did not end."""

_NAME = re.compile(rf"{FOLDER}/part-[0-9]{{5,7}}\.parquet")


class Named(Protocol):
    """A file with a name."""

    @property
    def name(self) -> str:
        """The name."""


def part_name(number: int) -> str:
    """Return the name of a part, from 0 on."""
    return f"{FOLDER}/part-{number:05d}.parquet"


def is_part(name: str) -> bool:
    """Whether a file of this name is a part.

    >>> is_part("data/part-00012.parquet"), is_part("data/../part-00012.parquet")
    (True, False)
    """
    return _NAME.fullmatch(name) is not None


def n_parts(n_users: int) -> int:
    """Return how many parts so many users have."""
    return max(1, -(-n_users // PART_USERS))


def part_size(number: int, n_users: int) -> int:
    """Return how many of so many users a part has.

    >>> [part_size(number, 2_500_000) for number in range(3)]
    [1048576, 1048576, 402848]
    """
    return min(PART_USERS, n_users - number * PART_USERS)


def in_parts(files: Sequence[Named]) -> bool:
    """Whether these files are said to be the parts of a release: one of them is."""
    return any(is_part(file.name) for file in files)


SCHEMA = 3
MANIFEST = "release.json"
MOST_BYTES = 16 << 20
"""The largest manifest that is read: that of a table of a hundred thousand columns is smaller."""

ID_COLUMN = "id"
"""The column of new ids in a table whose ids come from a key: other tables have none."""


class DataFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One published file: its digest, and what stands in it."""

    name: str
    role: str
    format: str
    columns: list[str]
    rows: int
    bytes: int
    sha256: str


class DescribedLayer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Edges of one kind: what they are called, and whether they lead from one person to another."""

    name: str
    directed: bool


Role = Literal["known", "attached", "label"]
LevelsKind = Literal["widths", "edges", "prefix", "dates", "auto", "stars", "file"]

LEVELS_ROLE = "levels"
LEVELS_COLUMNS = ["column", "level", "node", "parent", "leaves"]
"""The columns of the file of levels; its format is csv."""


class DescribedColumn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A column of a table with roles: its role, its kind of levels, and where these are from.

    A column that is not known has no levels, nor has one of which a class may publish what is not
    true of all of its rows. Only those of `auto` are computed from the data. Of levels from a file,
    `whole` says that all of them are published.
    """

    name: str
    role: Role
    levels: LevelsKind | None = None
    origin: Literal["given", "from the data"] | None = None
    whole: bool | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Refuse levels of a column that is not known, and another origin than the kind has."""
        has = None if self.levels is None else "from the data" if self.levels == "auto" else "given"
        if (has is not None and self.role != "known") or self.origin != has:
            raise ValueError(
                f"{self.role} with levels {self.levels!r}, {self.origin!r} - at `$.data.columns`"
            )
        if self.whole is not msgspec.UNSET and not (self.whole and self.levels == "file"):
            raise ValueError(f"whole levels of the kind {self.levels!r} - at `$.data.columns`")


class ColumnCells(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many cells of a released column show what.

    `values`: a value; `generalized`: a node above the values, as the file of levels has it;
    `suppressed`: ``*``. Whether values are those of the original is not said here: conditions say
    it.
    """

    name: str
    values: int
    generalized: int
    suppressed: int


class LevelNode(NamedTuple):
    """A node of a hierarchy that is published, or is above one that is.

    `level`: the lowest level at which it is, from 0, the values; `node, parent`: its text, and that
    of the node above it; ``*`` is above all others and above itself; `leaves`: how many values the
    file of the hierarchy has below it; None where there is no file.
    """

    column: str
    level: int
    node: str
    parent: str
    leaves: int | None


class Generalization(NamedTuple):
    """What is said of the columns of a generalized table, and their published nodes.

    `columns`: in the order of the table; `nodes`: by column in this order, then by level, then by
    text.
    """

    columns: tuple[DescribedColumn, ...]
    nodes: tuple[LevelNode, ...]

    @property
    def above_values(self) -> frozenset[tuple[str, str]]:
        """The column and the text of every node above the values."""
        return frozenset((one.column, one.node) for one in self.nodes if one.level > 0)


class Described(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The released data: kind, files, and counts of the release alone.

    Of networks it has the layers, of tables the cells of each column, of generalized ones what is
    said of each.
    """

    kind: str
    files: list[DataFile]
    counts: dict[str, int]
    suppressed_cells: str
    layers: list[DescribedLayer] | msgspec.UnsetType = msgspec.UNSET
    columns: list[DescribedColumn] | msgspec.UnsetType = msgspec.UNSET
    cells: list[ColumnCells] | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Refuse a kind that is not in `KINDS`, files of a role that it has not, and odd layers."""
        if self.kind not in KINDS:
            raise ValueError(f"Invalid enum value {self.kind!r} - at `$.data.kind`")
        roles = {"data", KINDS[self.kind].everyone}
        if self.columns is not msgspec.UNSET:
            roles.add(LEVELS_ROLE)
        for file in self.files:
            if file.role not in roles:
                raise ValueError(f"Invalid enum value {file.role!r} - at `$.data.files[].role`")
        names = [] if self.layers is msgspec.UNSET else [layer.name for layer in self.layers]
        if bool(names) != (self.kind == "network") or names != sorted(set(names)):
            raise ValueError(
                f"{counted(len(names), 'layer')} for data of kind {self.kind}, or layers not in "
                "order - at `$.data.layers`"
            )


class Method(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The method, and every parameter it ran with."""

    name: str
    source: str
    parameters: dict[str, Any]


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is guaranteed, against whom, what is not, and how it is checked.

    `conditions` are what the release states next to the guarantee; one that is not there claims
    less.
    """

    guarantee: AnyGuarantee
    conditions: list[AnyCondition]
    sentence: str
    threat_model: str
    does_not_protect_against: str
    check: CheckWord
    why: str | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The public manifest of a release.

    `seal` is the SHA-256 of the manifest with an empty seal. It shows accidents and careless
    edits; who can edit the file can also seal it anew, so the owner's private record keeps the
    digest of the manifest as well. `ledger` says what the owner's ledger of epsilons held, this
    release included; it is omitted where there is none.
    """

    schema: int
    tool: str
    version: str
    method: Method
    claim: Claim
    data: Described
    ledger: Composed | msgspec.UnsetType = msgspec.UNSET
    seal: str = ""

    def sealed(self) -> Manifest:
        """Return the same manifest with its seal."""
        return msgspec.structs.replace(self, seal=seal_of(self))


def seal_of(manifest: Manifest) -> str:
    """Return the SHA-256 of a manifest's bytes with an empty seal."""
    return hashlib.sha256(encode(msgspec.structs.replace(manifest, seal=""))).hexdigest()


def encode(value: msgspec.Struct) -> bytes:
    """Return the canonical bytes: fixed field order, two spaces, one newline at the end."""
    return msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2) + b"\n"


def read_manifest(folder: Place) -> Manifest:
    """Return the manifest of a release folder."""
    return decode_manifest(manifest_bytes(folder), where=folder / MANIFEST)


def manifest_bytes(folder: Place) -> bytes:
    """Return the bytes of the manifest, and no more of them than show that it is too large."""
    if isinstance(folder, Address):
        return _bytes_at(folder)
    path = folder / MANIFEST
    if folder.suffix.lower() in {".zip", ".tar", ".gz", ".tgz", ".7z"} and folder.is_file():
        raise ReleaseError(f"{folder} is an archive. Unpack it, and give the folder in it.")
    if not folder.is_dir():
        raise ReleaseError(f"{folder} is not a folder. Give the folder written by anonymize.")
    if not path.is_file():
        raise ReleaseError(
            f"{folder} has no {MANIFEST}, so it is not a release. Give the folder written by "
            "anonymize."
        )
    try:
        with path.open("rb") as stream:
            return stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise ReleaseError(
            f"{path} cannot be read ({error.strerror}). Change its permissions."
        ) from error


def _bytes_at(address: Address) -> bytes:
    """Return the bytes of the manifest at an address; say what else is there."""
    try:
        return (address / MANIFEST).read_bytes(MOST_BYTES + 1)
    except (FileNotFoundError, IsADirectoryError):
        pass
    names = [entry.name for entry in address.entries() if entry.size is not None]
    n = sum(map(is_part, names))
    if UNFINISHED in names or n:
        raise ReleaseError(
            f"{address} has {counted(n, 'part')} but no {MANIFEST}: it was left by an unfinished "
            "run and is not a release. Run the same command again, with "
            f"{option('force', value=True)} if it asks for that."
        )
    raise ReleaseError(
        f"{address} has no {MANIFEST}, so it is not a release. Give the address that anonymize "
        "wrote to."
    )


def decode_manifest(raw: bytes, *, where: Place) -> Manifest:
    """Return the manifest in these bytes."""
    if len(raw) > MOST_BYTES:
        raise ReleaseError(
            f"{where} is not a valid manifest: it has more than {MOST_BYTES} bytes. Restore the "
            "file as it was published."
        )
    try:
        schema = msgspec.json.decode(raw, type=_Schema).schema
        if schema == SCHEMA:
            return msgspec.json.decode(raw, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, ParameterError, RecursionError) as error:
        raise ReleaseError(
            f"{where} is not a valid manifest: {error}. Restore the file as it was published."
        ) from error
    way_out = "Update graphveil." if schema > SCHEMA else "Anonymize the data again."
    raise ReleaseError(f"{where} has schema {schema}; this version reads {SCHEMA}. {way_out}")


class _Schema(msgspec.Struct):
    """The one field that a manifest of any schema has."""

    schema: int


PRIVATE = ".private"
"""What the name of a release's private folder ends with."""

RECORD = "record.json"
LINKAGE = "linkage.parquet"
LINKED = "linkage"
"""The subfolder of the linkage in parts, where the private place is an address."""
LEVELS = "levels.parquet"
WITNESS = "witness.parquet"
OWNERS_PAGE = "report.html"
ATTACKED = "attacks"
"""The subfolder for what attacks say of each person, a Parquet file an attack."""

_PART = re.compile(rf"{LINKED}/part-[0-9]{{5,7}}\.parquet")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Private: cost against the original, seed, warnings, and how the input was read."""

    input_sha256: str
    manifest_sha256: str
    linkage_sha256: str | None
    method: str
    seed: int | None
    cost: dict[str, float | int]
    warnings: list[str]
    unprotected: list[int | str]
    withheld: dict[str, Any]
    reading: dict[str, Any]
    seconds: dict[str, float]
    nested_in: list[str] = []
    ledger: LedgerReference | None = None
    levels_sha256: str | None = None
    witness_sha256: str | None = None
    unrecorded: list[str] = []
    assignment: str | None = None
    origins_sha256: list[str] = []
    ancestors: dict[str, dict[str, list[str]]] = {}
    release_id: str = ""

    @property
    def identity(self) -> str:
        """What tells this release from any other; of a record without an id, its manifest."""
        return self.release_id or self.manifest_sha256


def private_folder(folder: Path) -> Path:
    """Return the private folder next to a release folder."""
    path = folder if folder.name not in {"", ".."} else folder.resolve()
    return path.parent / f"{path.name}{PRIVATE}"


def linkage_part(number: int) -> str:
    """Return the name of a part of the linkage, from 0 on, of the users of that part of data."""
    return f"{LINKED}/part-{number:05d}.parquet"


def is_linkage_part(name: str) -> bool:
    """Whether a file of this name in a private place is a part of the linkage."""
    return _PART.fullmatch(name) is not None


def linkage_files(private: Path) -> list[Path]:
    """Return the file of the linkage in a private folder, or its parts in order, or none."""
    whole = private / LINKAGE
    if whole.is_file():
        return [whole]
    parts = private / LINKED
    if not parts.is_dir():
        return []
    named = {path: f"{LINKED}/{path.name}" for path in parts.iterdir()}
    return sorted(
        (path for path, name in named.items() if is_linkage_part(name)),
        key=lambda path: (len(path.name), path.name),
    )


def digest_of_parts(digests: Iterable[str]) -> str:
    """Return the one digest of parts in order, of which each has one.

    >>> digest_of_parts(["a1", "b2"])[:8]
    'dc670a7a'
    """
    return hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()


def read_record(folder: Place, private: Place | None = None) -> Record | None:
    """Return the private record of a release, or None where there is none."""
    if private is None:
        if not isinstance(folder, Path):
            return None
        private = private_folder(folder)
    path = private / RECORD
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReleaseError(
            f"{path} is not a valid record: {error}. Restore the file as anonymize wrote it."
        ) from error


class _Digests(msgspec.Struct):
    input_sha256: str
    origins_sha256: list[str] = []


def input_digests_in(private: Place) -> frozenset[str]:
    """Return the digests of the input, and of what it was read from, that a record holds.

    None where there is no record, or it is someone else's and cannot be read.
    """
    try:
        known = msgspec.json.decode((private / RECORD).read_bytes(), type=_Digests)
    except (GraphveilError, OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return frozenset()
    return frozenset((known.input_sha256, *known.origins_sha256))


def check_outside(place: Place, *, is_folder: bool = False) -> None:
    """Refuse a place inside a release: who publishes the release would publish it, too.

    A folder that is new is refused inside a private folder as well: one of the two is not kept.
    """
    mounted = place.mounted if isinstance(place, Address) else place
    inner = None if mounted is None else mounted.parent.resolve()
    for around in _above(place) if inner is None else (inner, *inner.parents):
        if _has_manifest(around):
            raise UsageError(
                f"{place} is inside a release, which is public. Choose a place outside it."
            )
        if is_folder and input_digests_in(around):
            raise UsageError(
                f"{place} is inside the private folder of a release. Choose a place outside it."
            )


def _above(place: Place) -> Iterator[Place]:
    """Yield what an address is in, from the inside on; not its whole store."""
    while isinstance(place, Address) and "/" in place.key:
        yield (place := place.parent)


def _has_manifest(folder: Place) -> bool:
    """Whether a folder is a release, as far as can be seen; a file of that name may be another."""
    try:
        return b"graphveil" in (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError, GraphveilError):
        return False
    except OSError:
        return True


class _Entered(msgspec.Struct):
    ledger: LedgerReference | None = None


def ledger_entry_in(private: Place) -> str | None:
    """Return the entry in a ledger that a private folder records; None where there is none."""
    try:
        note = msgspec.json.decode((private / RECORD).read_bytes(), type=_Entered).ledger
    except (GraphveilError, OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return None if note is None else note.entry


def identity_in(private: Place) -> str | None:
    """Return what tells the release of a private folder from others; None where nothing does."""
    try:
        return msgspec.json.decode((private / RECORD).read_bytes(), type=Record).identity
    except (GraphveilError, OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def owners_of_others(
    folder: Place, digests: frozenset[str], private: Place | None = None
) -> list[Place]:
    """Return the private folders of other releases of the same input, oldest first.

    Any of the digests says that it is the same. The release that this one replaces does not
    count. The age is the time of the record's file.
    """
    if isinstance(private, Address):
        own_names = private.located
        placed = [other for other in private.parent.folders() if other.located != own_names]
        return [other for other in placed if input_digests_in(other) & digests]
    beside: list[Path] = []
    own = Path() if private is None else private.resolve()
    if isinstance(folder, Path):
        own = (private or private_folder(folder)).resolve()
        beside += folder.resolve().parent.glob(f"*{PRIVATE}")
    if private is not None:
        beside += [path.parent for path in own.parent.glob(f"*/{RECORD}")]
    folders = {path.resolve(): path for path in reversed(beside)}  # a folder may also be linked
    folders.pop(own, None)
    others = sorted(folders.values(), key=_written)
    return [other for other in others if input_digests_in(other) & digests]


def _written(private: Path) -> tuple[int, str]:
    """Return when the record of a private folder was written; 0 where there is none."""
    try:
        return (private / RECORD).stat().st_mtime_ns, private.name
    except OSError:
        return 0, private.name
