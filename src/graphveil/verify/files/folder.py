"""The files of a release: checks before its data is read, and loading them into tables.

At an address, an object is read once, into a file of this machine: what was digested is checked.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import duckdb
import msgspec

from graphveil.claims import parts
from graphveil.claims.manifest import (
    LEVELS_COLUMNS,
    LEVELS_ROLE,
    MANIFEST,
    DataFile,
    Described,
    Manifest,
    decode_manifest,
    encode,
    seal_of,
)
from graphveil.claims.record import (
    LEVELS,
    LINKAGE,
    WITNESS,
    Record,
    digest_of_parts,
    linkage_files,
    private_folder,
    read_record,
)
from graphveil.core.errors import GraphveilError, ResourceError, option
from graphveil.core.storage import Address, Entry
from graphveil.core.text import counted
from graphveil.core.version import __version__
from graphveil.data.kinds import KINDS
from graphveil.data.network import LAYER
from graphveil.verify import verdict
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.evidence import Loader, checked_kind
from graphveil.verify.files.canonical import (
    CRLF,
    DELIMITERS,
    first_difference,
    load_delimited,
    refuse_missing,
)
from graphveil.verify.verdict import LINKAGE as LINKAGE_NEEDED
from graphveil.verify.verdict import Check, fails, holds, judged, not_checked, one_line, shown

LINKS, ATTRIBUTES = "no links", "no extended attributes"

_LABELS = {"security.selinux"}
"""Attributes that a system gives to every file by itself."""


def strict_checks(folder: Path | None) -> list[Check]:
    """Return whether the folder holds nothing but plain files with one name and no attributes.

    Names of other files, and bytes that no digest counts, could stand in what is looked for here.
    An archive of the folder, or a copy of it, may carry them along.
    """
    if folder is None:
        why = "what a store keeps in addition to the bytes of objects is not read"
        return verdict.named(dict.fromkeys((LINKS, ATTRIBUTES), not_checked(why)))
    paths = sorted(folder.rglob("*"))  # which follows no link
    links = [problem for path in paths if (problem := _link_problem(path, folder))]
    plain = f"no symbolic link and no second hard link among {counted(len(paths), 'file')}"
    return verdict.named({LINKS: judged(links, plain), ATTRIBUTES: _attributes(folder, paths)})


def _link_problem(path: Path, folder: Path) -> str | None:
    """Return why a path is not a file with one name, or None; of a folder the links are its own."""
    name, status = shown(path.relative_to(folder).as_posix()), path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return f"{name} is a symbolic link"
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        return f"{name} has {status.st_nlink} names: the others are hard links to it"
    return None


def _attributes(folder: Path, paths: list[Path]) -> Check:
    """Whether nothing has an extended attribute, the folder itself included."""
    if not hasattr(os, "listxattr"):
        return not_checked("this system or its Python cannot list them")
    problems = []
    try:
        for path in (folder, *paths):
            # The folder may be named by a link; of the links inside, their own are meant.
            listed = os.listxattr(path, follow_symlinks=path == folder)
            name = "the folder" if path == folder else shown(path.relative_to(folder).as_posix())
            problems += [
                f"{name} has the extended attribute {shown(one)}"
                for one in sorted({*listed} - _LABELS)
            ]
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            return not_checked(f"they cannot be listed ({error.strerror})")
    n = counted(len(paths), "file")
    return judged(problems, f"neither the folder nor any of {n} has an extended attribute")


class Released:
    """The files of a release in a folder."""

    def __init__(self, around: Path) -> None:
        self.folder: Path | None = around
        self.around = around
        self.name = around.name

    def names(self, *, with_parts: bool) -> list[str]:
        """Return the names of what is there, parts by their own if some are expected."""
        there = {path.name for path in self.around.iterdir()}
        parted = self.around / parts.FOLDER
        if with_parts and _has_mode(parted, stat.S_ISDIR):
            inside = {f"{parts.FOLDER}/{part.name}" for part in parted.iterdir()}
            there = (there - {parts.FOLDER}) | inside
        return sorted(there)

    def size(self, name: str) -> int | None:
        """Return the bytes of a regular file of this name; links of any sort are refused."""
        if not _is_plain(name) or not _has_mode(self.around / name, stat.S_ISREG):
            return None
        if parts.is_part(name) and not _has_mode(self.around / parts.FOLDER, stat.S_ISDIR):
            return None
        return self.path(name).stat().st_size

    def path(self, name: str) -> Path:
        """Return the path of a file that has a size, on this machine."""
        return self.around / name


class AtAddress(Released):
    """The objects beneath an address; copies of them go into an empty folder of this machine."""

    def __init__(self, address: Address, around: Path) -> None:
        super().__init__(around)
        self.folder, self.name = None, str(address)
        self._address = address

    @cached_property
    def _entries(self) -> list[Entry]:
        """All objects and folders; they are asked for once."""
        return self._address.entries()

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {entry.name: entry.size for entry in self._entries if entry.size is not None}

    def names(self, *, with_parts: bool) -> list[str]:  # noqa: ARG002  a listing holds all anyway
        """Return the names of all objects, at any depth, and of all folders but that of parts."""
        folders = {entry.name for entry in self._entries if entry.size is None}
        return sorted({*self._sizes, *(folders - {parts.FOLDER})})

    def size(self, name: str) -> int | None:
        """Return the bytes of an object."""
        return self._sizes.get(name) if _is_plain(name) else None

    def path(self, name: str) -> Path:
        """Return the path of the copy of an object, which is made once."""
        path = self.around / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            self._address.fetch(name, path, most=self._sizes[name] + 1)
        return path


def _is_plain(name: str) -> bool:
    """Whether it is the name of a file in the folder itself, or of a part.

    Names with separators, ``..`` and control characters are not names.
    """
    if parts.is_part(name):
        return True
    plain = name.isprintable() and Path(name).name == name and "\\" not in name
    return plain and name != MANIFEST


def _has_mode(path: Path, is_such: Callable[[int], bool]) -> bool:
    """Whether something is there, no link to it, and such."""
    try:
        return is_such(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


_STRAY = re.compile(
    r"\.ds_store|\._.*|__macosx|thumbs\.db|ehthumbs\.db|desktop\.ini|\.directory", re.IGNORECASE
)
"""Names of files that operating systems write into folders that someone looks at."""

FILES, OTHERS, DESCRIPTION = "files", "no other files", "description"

_EXTENSIONS = {form: f".{form}" for form in ("csv", "tsv", "parquet", "graphml")} | {"text": ".txt"}
_WITH_EVERYONE = frozenset({"graphml"})
"""Formats whose data file has no columns, and lists everyone itself."""

_MISREAD = re.compile(r'["\n\r\0\v\f\x1c-\x1e\x85\u2028\u2029]|^[\s\ufeff]|\s$|[\t,;#%].*\\$')
"""Names in the first line of a text file that some programs strip, or take for several lines."""


def file_checks(released: Released, manifest: Manifest, limit_bytes: int) -> list[Check]:
    """Return the checks on which files there are, and on their bytes."""
    files = manifest.data.files
    unrolled = checked_kind(manifest.data.kind).unrolled
    limits = {
        file.name: None if file.role == "data" and file.format in unrolled else limit_bytes
        for file in files
    }
    found = (file_problem(released, file, limits[file.name]) for file in files)
    problems = [problem for problem in found if problem]
    n = len(files)
    what = "1 file has the size and SHA-256" if n == 1 else f"{n} files have the sizes and SHA-256"
    as_stated = {FILES: judged(problems, f"{what} that {MANIFEST} states")}
    description = {DESCRIPTION: _description(manifest.data)}
    return verdict.named(as_stated | _others(released, files) | description)


_PACKED = (".gz", ".zst", ".bz2", ".xz", ".zip")
_MOST_READ = 1 << 28


def _no_file(released: Released, name: str) -> str:
    """Return why a listed file has no size: it is missing, perhaps packed, or no plain file."""
    there = released.names(with_parts=True)
    if not _is_plain(name) or name in there:
        return f"{shown(name)} is not the name of a regular file in the folder"
    packed = next((f"{name}{end}" for end in _PACKED if f"{name}{end}" in there), None)
    return f"{name} is missing" + (f"; {packed} is there: unpack it" if packed else "")


def _has_crlf(released: Released, file: DataFile, size: int, limit_bytes: int | None) -> bool:
    """Whether a file of text is the one described but for line ends, all of them CR LF."""
    if file.format not in DELIMITERS or not file.bytes < size <= (limit_bytes or _MOST_READ):
        return False
    try:
        content = released.path(file.name).read_bytes()
    except OSError:
        return False
    text = content.replace(b"\r\n", b"\n")
    return len(text) == file.bytes and hashlib.sha256(text).hexdigest() == file.sha256


def file_problem(released: Released, file: DataFile, limit_bytes: int | None) -> str | None:
    """Return why a listed file is not the one described, or None."""
    size = released.size(file.name)
    if size is None:
        return _no_file(released, file.name)
    if size != file.bytes and _has_crlf(released, file, size, limit_bytes):
        return f"{file.name} {CRLF}"
    if size != file.bytes:
        return f"{file.name} has {size} bytes, but {MANIFEST} states {file.bytes}"
    if limit_bytes is not None and size > limit_bytes:
        why = verdict.beyond(file.name, size, limit_bytes)
        raise ResourceError(f"{why}. Raise {option('limit')} if you trust it")
    try:
        digest = sha256_of(released.path(file.name))
    except OSError as error:
        return f"{file.name} cannot be read ({error.strerror})"
    if digest != file.sha256:
        return (
            f"{file.name} has SHA-256 {digest[:12]}, but {MANIFEST} states "
            f"{shown(file.sha256[:12])}"
        )
    return None


def sha256_of(path: Path) -> str:
    """Return the digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _others(released: Released, files: list[DataFile]) -> dict[str, Check]:
    """Return whether nothing else is there; files of operating systems are named for themselves."""
    listed = {file.name for file in files} | {MANIFEST}
    try:
        names = released.names(with_parts=parts.in_parts(files))
    except OSError as error:
        return {OTHERS: fails(f"the folder cannot be listed ({error.strerror})")}
    others = [name for name in names if name not in listed]
    stray = [name for name in others if _STRAY.fullmatch(name.rpartition("/")[2])]
    problems = [
        f"{shown(name)} is in the folder but is not listed in the manifest"
        for name in others
        if name not in stray
    ]
    if released.folder is not None and (released.folder / MANIFEST).is_symlink():
        problems.append(f"{MANIFEST} is a link to another file")
    n = counted(len(names) - len(stray), "file")
    checks = {OTHERS: judged(problems, f"the folder contains {n}, all listed")}
    if stray:
        delete = "delete it" if len(stray) == 1 else "delete them"
        whose = f"an operating system wrote {'it' if len(stray) == 1 else 'them'}"
        checks[verdict.STRAY] = fails(f"{', '.join(map(shown, stray[:3]))}: {whose}, {delete}")
    return checks


def _description(described: Described) -> Check:
    """Whether names, roles, formats, columns and semantics are those of this kind of data."""
    kind = KINDS[described.kind]
    problems = []
    if described.suppressed_cells != kind.suppressed_cells:
        problems.append(
            f"suppressed_cells has the unexpected value {shown(described.suppressed_cells)}"
        )
    if parts.in_parts(described.files):
        problems += _parts(described)
        n = counted(len(described.files), "part")
        return judged(problems, f"a {described.kind} in {n}")
    data = [file for file in described.files if file.role == "data"]
    if len(data) != 1:
        problems.append(f"{len(data)} data files are listed instead of 1")
        return judged(problems, "")
    problems += [] if described.files[0] is data[0] else ["the data file is not listed first"]
    problems += _data_file(described, data[0])
    companions = described.files[1:]
    alone = kind.everyone is None or data[0].format in _WITH_EVERYONE
    expected = [] if alone else [kind.everyone]
    listed_levels = [file for file in companions if file.role == LEVELS_ROLE]
    if described.columns is not msgspec.UNSET:
        has_levels = any(one.levels is not None for one in described.columns)
        expected += [LEVELS_ROLE] if has_levels else []
        problems += _columns_described(described, data[0], listed_levels)
        companions = [file for file in companions if file not in listed_levels]
    roles = [file.role for file in described.files[1:]]
    if roles != expected:
        problems.append(
            f"the files listed with the data have the roles {roles}, but a "
            f"{data[0].format} release has {expected}"
        )
    column = kind.people[:-1]
    problems += [
        f"{shown(file.name)} is not described as {file.role}.csv with the column {column}"
        for file in companions
        if (file.name, file.format) != (f"{file.role}.csv", "csv")
        or (file.columns[:1] if kind.name == "network" else file.columns) != [column]
    ]
    return judged(problems, f"a {described.kind} in {data[0].format}")


def _columns_described(described: Described, data: DataFile, levels: list[DataFile]) -> list[str]:
    """Return what is odd in what is said of a generalized table."""
    problems = []
    if described.kind != "table":
        problems.append(f"columns are described for data of kind {described.kind}")
    for file in levels:
        said = (file.name, file.format, file.columns)
        if said != (f"{LEVELS_ROLE}.csv", "csv", LEVELS_COLUMNS):
            problems.append(f"{shown(file.name)} is not described as the file of levels")
    if [one.name for one in described.columns or []] != data.columns:
        problems.append("the described columns are not those of the data")
    if len({one.levels is None for one in described.columns or [] if one.role == "known"}) > 1:
        problems.append("some known columns have levels, and others have none")
    return problems


def _parts(described: Described) -> list[str]:
    """Return what is odd in parts that are listed: names, order, columns, and sizes."""
    if checked_kind(described.kind).parts is None:
        return [f"data of kind {described.kind} cannot be in parts"]
    problems = []
    n = described.counts.get("users", 0)
    n_parts = parts.n_parts(n)
    if len(described.files) != n_parts:
        problems.append(
            f"{counted(len(described.files), 'file')} listed, but {counted(n, 'user')} must be "
            f"in {counted(n_parts, 'part')}"
        )
    for number, file in enumerate(described.files[:n_parts]):
        name, size = parts.part_name(number), parts.part_size(number, n)
        if file.name != name:
            problems.append(f"{shown(file.name)} is listed instead of {name}")
        elif (file.role, file.format, file.columns) != ("data", "parquet", parts.COLUMNS):
            problems.append(f"{name} is not described as parquet with {shown(parts.COLUMNS)}")
        elif file.rows != size:
            problems.append(
                f"{name} is listed with {counted(file.rows, 'row')}, but must have {size}"
            )
    return problems


def _data_file(described: Described, file: DataFile) -> list[str]:
    kind_name = described.kind
    if file.format not in checked_kind(kind_name).loaders:
        return [f"data of kind {kind_name} cannot have the format {shown(file.format)}"]
    problems = []
    if file.name != f"data{_EXTENSIONS[file.format]}":
        problems.append(f"{shown(file.name)} is not a valid name for {file.format} data")
    columns = list(KINDS[kind_name].columns) or file.columns
    if described.layers and len(described.layers) > 1:
        columns += [LAYER]
    if file.columns != ([] if file.format in _WITH_EVERYONE else columns):
        problems.append(
            f"{shown(file.name)} is listed with unexpected columns, {shown(file.columns)}"
        )
    return problems + _misread_names(file)


def _misread_names(file: DataFile) -> list[str]:
    """Return which names of columns are another to some programs, or of which two are one."""
    times = Counter(name.lower() for name in file.columns)
    return [
        f"programs read the column name {shown(name)} differently"
        for name in file.columns
        if not name
        or times[name.lower()] > 1
        or (file.format != "parquet" and _MISREAD.search(name))
    ]


TOOL = "graphveil"

_VERSION = re.compile(r"(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){1,2}((a|b|rc|\.dev)[0-9]{1,3})?")
"""The form of a version: anything longer could carry a message. Another one is undecided."""

BYTES, SEAL, WORDS, PRODUCER = "manifest", "seal", "claim in words", "tool"
OWNER, LINKAGE_FILE = "owner's record", "linkage file"
LEVELS_FILE, PAIRS_FILE = "levels file", "file of chosen pairs"


class Owner(NamedTuple):
    """What is in the private folder next to the release."""

    record: Record | None
    problem: str | None = None
    linkage: tuple[Path, ...] = ()
    levels: Path | None = None
    witness: Path | None = None


def read_owner(folder: Path | None) -> Owner:
    """Return the owner's part; none where it belongs to someone else, or next to an address.

    A file in its place that is not a record is a problem, not an error.
    """
    if folder is None:
        return Owner(None)
    private = private_folder(folder)
    linkage: tuple[Path, ...] = ()
    files: list[Path | None] = [None, None]
    try:
        linkage = tuple(linkage_files(private))
        paths = [private / name for name in (LEVELS, WITNESS)]
        files = [path if path.is_file() else None for path in paths]
        return Owner(read_record(folder), None, linkage, *files)
    except PermissionError:
        return Owner(None)
    except (GraphveilError, OSError, RecursionError) as error:
        return Owner(None, one_line(error), linkage, *files)


def decoded(raw: bytes) -> Manifest | Check:
    """Return the manifest in these bytes, or the failing check that says why there is none."""
    try:
        return decode_manifest(raw, where=Path(MANIFEST))
    except (GraphveilError, RecursionError) as error:
        return fails(one_line(error))


def manifest_checks(raw: bytes, manifest: Manifest, owner: Owner) -> list[Check]:
    """Return the checks on the manifest's bytes and words."""
    of_manifest = {BYTES: _bytes(raw, manifest), SEAL: _seal(manifest)}
    of_owner = {OWNER: _owner(raw, owner), LINKAGE_FILE: _linkage_file(owner)}
    in_words = {PRODUCER: _producer(manifest), WORDS: _words(manifest)}
    return verdict.named(of_manifest | of_owner | _further_files(owner) | in_words)


def _bytes(raw: bytes, manifest: Manifest) -> Check:
    canonical = encode(manifest)
    if raw == canonical:
        return holds(f"the {counted(len(raw), 'byte')} of {MANIFEST} are canonical")
    position = first_difference(raw, canonical)
    line = raw[:position].count(b"\n") + 1
    return fails(
        f"{MANIFEST}, line {line}: byte {position} differs from the canonical form that graphveil "
        "writes"
    )


def _seal(manifest: Manifest) -> Check:
    seal = seal_of(manifest)
    if manifest.seal == seal:
        return holds(f"the seal {seal[:12]} matches {MANIFEST}")
    return fails(
        f"{MANIFEST} has the seal {shown(manifest.seal[:12])}, but the seal of its content is "
        f"{seal[:12]}"
    )


def _owner(raw: bytes, owner: Owner) -> Check:
    if owner.problem:
        return fails(owner.problem)
    if owner.record is None:
        return not_checked("there is no private record next to the folder", needs=verdict.RECORD)
    digest = hashlib.sha256(raw).hexdigest()
    if owner.record.manifest_sha256 == digest:
        return holds(f"the record belongs to {MANIFEST} {digest[:12]}")
    return fails(
        f"the record belongs to a {MANIFEST} with SHA-256 "
        f"{shown(owner.record.manifest_sha256[:12])}, but this one has {digest[:12]}"
    )


def _linkage_file(owner: Owner) -> Check:
    """Whether the linkage is the file that was written with the record."""
    if owner.record is None:
        return not_checked("there is no private record", needs=verdict.RECORD)
    written = owner.record.linkage_sha256
    files = owner.linkage
    digest = sha256_of(files[0]) if files else None
    if files and files[0].name != LINKAGE:
        digest = digest_of_parts(map(sha256_of, files))
    return _as_recorded(LINKAGE, digest, written, LINKAGE_NEEDED)


def _further_files(owner: Owner) -> dict[str, Check]:
    """Whether levels and chosen pairs are as they were written; nothing where there are none."""
    record = owner.record
    if record is None:
        return {}
    levels = LEVELS, owner.levels, record.levels_sha256, verdict.LEVELS_NEEDED
    pairs = WITNESS, owner.witness, record.witness_sha256, verdict.PAIRS_NEEDED
    return {
        check: _as_recorded(name, None if path is None else sha256_of(path), written, needed)
        for check, (name, path, written, needed) in ((LEVELS_FILE, levels), (PAIRS_FILE, pairs))
        if path or written
    }


def _as_recorded(name: str, digest: str | None, written: str | None, needed: str) -> Check:
    """Whether an owner's file has the digest that the record states."""
    if digest == written:
        kept = f"has the SHA-256 {digest[:12]}, as the record states" if digest else "was not kept"
        return holds(f"{name} {kept}")
    if digest is None:
        return not_checked(f"{name} is missing", needs=needed)
    stated = shown(written[:12]) if written else "none"
    return fails(f"{name} has the SHA-256 {digest[:12]}, but the record states {stated}")


def _producer(manifest: Manifest) -> Check:
    """Whether this version of the tool wrote the release; of another one nothing can be said."""
    if manifest.tool != TOOL:
        return fails(f"the tool is {shown(manifest.tool)}, not {TOOL}")
    if not _VERSION.fullmatch(manifest.version):
        return fails(f"{shown(manifest.version)} is not a version of {TOOL}")
    if manifest.version != __version__:
        return not_checked(
            f"written by version {shown(manifest.version)}, this is version {__version__}: verify "
            "it with the version that wrote it",
            needs=f"version {shown(manifest.version)}",
        )
    return holds(f"{TOOL} {manifest.version}")


def _words(manifest: Manifest) -> Check:
    """Whether every sentence of the claim is the one that the guarantee has.

    Another version may word the same guarantee differently: there it is not decided.
    """
    claim, guarantee = manifest.claim, manifest.claim.guarantee
    worded = [
        f"{name} is {shown(said)}, but for this guarantee it must be {shown(own)}"
        for name, said, own in (
            ("sentence", claim.sentence, guarantee.sentence),
            ("threat_model", claim.threat_model, guarantee.threat_model),
            ("check", claim.check, guarantee.check_word),
            ("why", claim.why, guarantee.why),
        )
        if said != own
    ]
    repeated = [c for c in claim.conditions if claim.conditions.count(c) > 1]
    twice = bool(repeated) or bool(set(claim.conditions) & set(guarantee.implied))
    if worded and not twice and manifest.version != __version__:
        return not_checked(
            f"this version words the claim differently: {worded[0]}",
            needs=f"version {shown(manifest.version)}",
        )
    problems = [*worded, *(["a condition is stated twice"] if twice else [])]
    return judged(problems, "sentence, threat_model, check and why are those of the guarantee")


def load(db: Database, released: Released, described: Described) -> None:
    """Create the tables of the released data."""
    kind = checked_kind(described.kind)
    files = []
    for file in described.files:
        size = released.size(file.name)
        if size is None:
            raise UnreadableError(_no_file(released, file.name))
        if released.folder is None and size != file.bytes:  # it would be copied
            raise UnreadableError(
                f"{file.name} has {size} bytes, but the manifest states {file.bytes}"
            )
        if file.role != "data" or file.format not in kind.unrolled:
            db.refuse_beyond(size, file.name)
        with broken(file.name):
            files.append((released.path(file.name), file))
    if parts.in_parts(described.files):
        if kind.parts is None:
            raise UnreadableError(f"data of kind {described.kind} cannot be in parts")
        kind.parts(db, files)
        return
    for path, file in files:
        with broken(file.name):
            _loader(described, file)(db, path, file)
    for table in kind.tables:
        if not db.holds(table):
            raise UnreadableError(f"no file lists the {table}")


@contextmanager
def broken(name: str) -> Iterator[None]:
    """Say of any error that this file cannot be read."""
    try:
        yield
    except (UnreadableError, MemoryError, duckdb.OutOfMemoryException):
        raise
    except Exception as error:  # broken input makes libraries raise anything
        raise UnreadableError(f"{name} cannot be read: {one_line(error)}") from error


def _loader(described: Described, file: DataFile) -> Loader:
    """Return what loads a file: of the role of everyone, a list of ids; else by its format."""
    kind = checked_kind(described.kind)
    if file.role == KINDS[described.kind].everyone:
        return kind.everyone or _everyone(*kind.people)
    if file.role == LEVELS_ROLE and kind.levels is not None:
        return kind.levels
    if file.format not in kind.loaders:
        raise UnreadableError(
            f"data of kind {described.kind} cannot have the format {shown(file.format)}"
        )
    return kind.loaders[file.format]


def _everyone(table: str, column: str) -> Loader:
    def load_ids(db: Database, path: Path, file: DataFile) -> None:
        columns = [(column, "BIGINT")]
        load_delimited(db, path, table, columns, names=[file.role.removesuffix("s")])
        refuse_missing(db, table, [column], path.name)

    return load_ids
