"""The public manifest of a release, `release.json`: what it is, claims and was made by.

It carries nothing that the guarantee does not cover: no original ids, no digest of the input, no
seed, no paths, no timings, and counts of the released data only.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal, NamedTuple

import msgspec

from graphveil.claims.conditions import AnyCondition
from graphveil.claims.guarantees import AnyGuarantee, CheckWord
from graphveil.claims.ledger import Composed
from graphveil.claims.parts import UNFINISHED, is_part
from graphveil.core.errors import ParameterError, ReleaseError
from graphveil.core.hints import option
from graphveil.core.storage import Address, Place
from graphveil.core.text import counted
from graphveil.data.kinds import KINDS

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
    `suppressed`: ``*``, suppressed, or missing in the original. Whether values are those of the
    original is not said here: conditions say it.
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
