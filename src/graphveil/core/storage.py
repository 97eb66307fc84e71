"""Where a release lies: in a folder of this machine, or at an address of another store.

An address is spelled as Spark spells it, and reached by `pyarrow.fs`. Nothing in it is decoded.
Stores of objects have no folders, no modes and no renaming: an object appears whole, under a name
that begins with those of its folders.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias
from urllib.parse import parse_qsl, unquote

from graphveil.core.atomic import OWNER_ONLY, whole_file
from graphveil.core.errors import GraphveilError, ResourceError, UsageError
from graphveil.core.lazy import lazy_module
from graphveil.core.libraries import pa
from graphveil.core.text import printable

if TYPE_CHECKING:
    from pyarrow import fs
else:
    fs = lazy_module("pyarrow.fs")

WAITED_SECONDS = 60
"""So long the library for Google's stores tries again before it fails."""


class Named(Protocol):
    """What a store looks at in an address."""

    @property
    def authority(self) -> str:
        """The bucket, container or machine."""

    @property
    def key(self) -> str:
        """What follows."""


class Store:
    """A kind of store: how its addresses are spelled, and how it is reached."""

    is_local = False
    keeps_user = False
    example = "s3a://bucket/folder"

    def __init__(self, family: str) -> None:
        self.family = family

    def divided(self, rest: str) -> tuple[str, str, str]:
        """Return authority, key and options of what follows the scheme."""
        authority, _, key = rest.removeprefix("//").partition("/")
        key, _, options = key.partition("?")
        return (authority if rest.startswith("//") else ""), key, options

    def problem(self, address: Named) -> str:
        """Return what is wrong with an address of this kind; empty for nothing."""
        if ":" in address.authority:  # what stands before a slash in a password, perhaps
            return "has a colon in its bucket name; write a slash in a key as %2F"
        return "" if address.authority else "has no bucket name"

    def root(self, authority: str) -> str:
        """Return one name for all authorities, in small letters, that may be the same store."""
        return authority

    def spelled(self, scheme: str, authority: str, key: str) -> str:
        """Return an address without secrets."""
        return f"{scheme}://{authority}/{key}"

    def path(self, authority: str, key: str) -> str:
        """Return what the file system calls a key."""
        return f"{authority}/{key}".rstrip("/")

    def opened(self, authority: str, options: str) -> Any:
        """Return the file system."""
        uri = f"{self.family}://{authority}" + (f"?{options}" if options else "")
        return fs.FileSystem.from_uri(uri)[0]


class _Google(Store):
    example = "gs://bucket/folder"

    def opened(self, authority: str, options: str) -> Any:
        if "retry_limit_seconds=" not in options:  # else it waits 15 minutes, deaf to signals
            options = "&".join(filter(None, (options, f"retry_limit_seconds={WAITED_SECONDS}")))
        return super().opened(authority, options)


class _Azure(Store):
    keeps_user = True
    example = "abfss://container@account.dfs.core.windows.net/folder"

    def problem(self, address: Named) -> str:
        return "" if "@" in address.authority else "has no container name before its account"

    def root(self, authority: str) -> str:
        return authority.partition(".")[0]  # blob.core... and dfs.core... are one account

    def path(self, authority: str, key: str) -> str:
        return super().path(authority.partition("@")[0], key)


class _Hadoop(Store):
    keeps_user = True
    example = "hdfs://namenode:8020/folder"

    def problem(self, _address: Named) -> str:
        return ""

    def root(self, _authority: str) -> str:
        return ""

    def path(self, _authority: str, key: str) -> str:
        return f"/{key}"

    def opened(self, authority: str, options: str) -> Any:
        uri = f"hdfs://{authority or 'default'}/" + (f"?{options}" if options else "")
        return fs.FileSystem.from_uri(uri)[0]


class _Mounted(Store):
    """A folder of every machine."""

    is_local = True
    example = "file:///mnt/folder"

    def divided(self, rest: str) -> tuple[str, str, str]:
        authority = ""
        if rest.startswith("//"):
            authority, _, rest = rest[2:].partition("/")
        return authority, rest, ""

    def problem(self, address: Named) -> str:
        return f"names a host, {address.authority}" if address.authority else ""

    def spelled(self, scheme: str, authority: str, key: str) -> str:
        return f"{scheme}://{authority}/{key}"

    def path(self, _authority: str, key: str) -> str:
        return f"/{key}"

    def opened(self, _authority: str, _options: str) -> Any:
        return fs.LocalFileSystem()


class _Volumes(_Mounted):
    """Volumes of Databricks, which every machine mounts under the same path."""

    example = "dbfs:/Volumes/catalog/schema/volume/folder"

    def problem(self, address: Named) -> str:
        if address.key.split("/")[0] != "Volumes":
            return "is not a path under /Volumes"
        return super().problem(address)

    def spelled(self, scheme: str, authority: str, key: str) -> str:
        return f"{scheme}:{f'//{authority}' if authority else ''}/{key}"


_S3, _GOOGLE, _AZURE = Store("s3"), _Google("gs"), _Azure("abfs")

SCHEMES: dict[str, Store] = {
    "s3a": _S3,
    "s3": _S3,
    "s3n": _S3,
    "gs": _GOOGLE,
    "abfss": _AZURE,
    "abfs": _AZURE,
    "hdfs": _Hadoop("hdfs"),
    "file": _Mounted("file"),
    "dbfs": _Volumes("file"),
}
"""The kinds of stores by what their addresses begin with."""

_MOST_SAID = 240

_OPEN_OPTIONS = {"region", "scheme", "endpoint_override", "allow_bucket_creation"}
"""Options in an address that are not secrets."""

_WHILE = re.compile(r"^When .*?: (?=AWS Error)")
"""What the library for S3 says first of an error: the address says it, too."""

_REFUSED = (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError)
_REFUSED_WORDS = re.compile(
    r"NO_SUCH_BUCKET|ACCESS_DENIED|NoSuchBucket|AccessDenied|does not exist|Permission denied|"
    r"ContainerNotFound|AuthorizationPermissionMismatch|Read-only"
)


class RedactedAddress(Protocol):
    """What is asked of an address here."""

    @property
    def scheme(self) -> str:
        """How the store is reached."""

    @property
    def secret(self) -> tuple[str, str]:
        """The authority with its password, and the options."""


@contextmanager
def reached(address: RedactedAddress, doing: str) -> Iterator[None]:
    """Say in a line why an address cannot be read or written, and no secret with it."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        if doing == "read" and isinstance(error, FileNotFoundError):
            raise
        raise _problem(address, doing, error) from None


def _problem(address: RedactedAddress, doing: str, error: Exception) -> GraphveilError:
    why = _scrubbed(str(getattr(error, "strerror", None) or error), address)
    if is_refused(error):
        return UsageError(
            f"{address} cannot be {doing} ({why}). Choose another location, or check its "
            "permissions and your credentials."
        )
    return ResourceError(
        f"{address} cannot be {doing} ({why}). Check credentials, quota and network, then run "
        "the same command again."
    )


def is_refused(error: Exception) -> bool:
    """Whether it would be so again, whatever the state of credentials, quota and network."""
    return isinstance(error, _REFUSED) or _REFUSED_WORDS.search(str(error)) is not None


def _scrubbed(text: str, address: RedactedAddress) -> str:
    """Return the first line of an error without what is secret in an address."""
    authority, options = address.secret
    user, at, _ = authority.rpartition("@")
    given = [option.partition("=") for option in options.split("&")]
    values = [value for name, _, value in given if name not in _OPEN_OPTIONS]
    values += [value for name, value in parse_qsl(options) if name not in _OPEN_OPTIONS]
    parts = user.split(":") if at else []
    if SCHEMES[address.scheme].keeps_user:
        parts = parts[1:]
    for secret in sorted({*parts, *map(unquote, parts), *values}, key=len, reverse=True):
        text = text.replace(secret, "...") if secret else text
    if options:
        text = text.replace(f"?{options}", "")
    line = _WHILE.sub("", text.strip().partition("\n")[0])
    return printable(line, _MOST_SAID).rstrip(".;")


def without_password(authority: str, *, keeps_user: bool) -> str:
    """Return the machine, with the account on it if that is not a secret.

    >>> without_password("box:key@account.net", keeps_user=True)
    'box@account.net'
    """
    user, at, host = authority.rpartition("@")
    if not keeps_user or not at:
        return host
    return f"{user.partition(':')[0]}@{host}"


def without_secrets(text: str) -> str:
    """Return the text of an address without what stands before the machine, and behind a `?`.

    >>> without_secrets("ftp://ann:secret@host/lists?token=1")
    'ftp://host/lists'
    >>> without_secrets("ftp://ann:sec/ret@host/lists")
    'ftp://host/lists'
    """
    scheme, colon, rest = text.partition(":")
    slashes = rest[: len(rest) - len(rest.lstrip("/"))]
    authority, slash, key = rest.lstrip("/").partition("/")
    host = authority.rpartition("@")[2]
    if ":" in host and "@" in key:  # a slash in the password
        host, slash, key = key.rpartition("@")[2].partition("/")
    return printable(f"{scheme}{colon}{slashes}{host}{slash}{key}".partition("?")[0])


PROBE = ".graphveil-probe-"
"""What the name of an object begins with that is written to see whether one can be."""

TRIES = 3
"""So often an object is written: the libraries below wait between tries of their own."""

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/.*)", re.DOTALL)
_PARTIAL = re.compile(r"\.[^/]+\.partial-[0-9a-f]{12}")
_COPIED_BYTES = 1 << 22
_RENAMING = ("local", "hdfs")
"""File systems in which what is written is seen before it is whole, and can be renamed."""


class Entry(NamedTuple):
    """What lies beneath an address: its name from there on, and its bytes; None for a folder."""

    name: str
    size: int | None


@dataclass(frozen=True)
class Address:
    """A folder, or a name that objects begin with, in a store that `pyarrow.fs` reaches.

    Its text omits passwords, keys and options: no message, record or plan has them.

    `scheme`: how the store is reached, as it was given; `authority`: the bucket, the container and
    its account, or the machine, without a password; `key`: what follows, without slashes around it;
    `secret`: the authority with its password, and the options behind the question mark.

    >>> address = Address.of("s3a://AKIA:secret@lake/lists/k8?region=eu-west-1")
    >>> print(address, address.name, address.parent / "k9")
    s3a://lake/lists/k8 k8 s3a://lake/lists/k9
    """

    scheme: str
    authority: str
    key: str
    secret: tuple[str, str] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> Address:
        """Return the address that a text spells."""
        matched = _ADDRESS.fullmatch(text)
        scheme, rest = (matched[1].lower(), matched[2]) if matched else ("", text)
        if scheme not in SCHEMES:
            raise UsageError(
                f"{without_secrets(text)} is not a supported address. Give a folder on this "
                f"machine, or an address of one of the types {', '.join(SCHEMES)}."
            )
        store = SCHEMES[scheme]
        authority, key, options = store.divided(rest)
        key = key.strip("/")
        open_part = without_password(authority, keeps_user=store.keeps_user)
        address = cls(scheme, open_part, key, (authority, options))
        wrong = store.problem(address)
        names = key.split("/")
        if not wrong and not key:
            wrong = "has no folder name"
        if not wrong and ({"", ".", ".."} & {*names} or not text.isprintable()):
            wrong = "contains an empty name, a name of dots only, or unprintable characters"
        if wrong:
            raise UsageError(
                f"{without_secrets(text)} {wrong}. Give a folder, such as {store.example}."
            )
        return address

    def __str__(self) -> str:
        """Return it without passwords, keys and options."""
        return printable(SCHEMES[self.scheme].spelled(self.scheme, self.authority, self.key))

    @property
    def name(self) -> str:
        """The last of its names."""
        return self.key.rpartition("/")[2]

    @property
    def parent(self) -> Address:
        """What it is in, perhaps the whole store."""
        return replace(self, key=self.key.rpartition("/")[0])

    def __truediv__(self, name: str) -> Address:
        """Return the address of what has a name beneath it."""
        return replace(self, key=f"{self.key}/{name}" if self.key else name)

    @property
    def located(self) -> tuple[str, ...]:
        """Where it is, name by name: what is in it has more of the same names."""
        store = SCHEMES[self.scheme]
        if store.is_local:
            return _located(Path(self._path()))
        root = store.root(self.authority.lower())
        return (store.family, root, *filter(None, self.key.split("/")))

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of each machine, under its path."""
        return SCHEMES[self.scheme].is_local

    @property
    def mounted(self) -> Path | None:
        """The folder of this machine that it is, where it is one."""
        return Path(self._path()) if self.is_local else None

    @property
    def has_secrets(self) -> bool:
        """Whether it has a password or options, which no text of it has."""
        return self.secret != (self.authority, "")

    @cached_property
    def _system(self) -> Any:
        return SCHEMES[self.scheme].opened(*self.secret)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is open: a work that is sent to another process opens it again."""
        return {key: value for key, value in self.__dict__.items() if key != "_system"}

    def _path(self, name: str = "") -> str:
        whole = "/".join(filter(None, (self.key, name)))
        return SCHEMES[self.scheme].path(self.authority, whole)

    # what is there

    def _info(self, name: str = "") -> Any:
        with reached(self, "read"):
            return self._system.get_file_info([self._path(name)])[0]

    def is_file(self) -> bool:
        """Whether it is an object."""
        return bool(self._info().type == fs.FileType.File)

    def is_dir(self) -> bool:
        """Whether something lies beneath it."""
        return bool(self._info().type == fs.FileType.Directory)

    def entries(self) -> list[Entry]:
        """Return what lies beneath it, at any depth, by name."""
        return self._listed(recursive=True)

    def folders(self) -> list[Address]:
        """Return the folders that lie directly in it."""
        return [self / entry.name for entry in self._listed(recursive=False) if entry.size is None]

    def _listed(self, *, recursive: bool) -> list[Entry]:
        path = self._path()
        with reached(self, "listed"):
            chosen = fs.FileSelector(path, recursive=recursive, allow_not_found=True)
            infos = self._system.get_file_info(chosen)
        around = path.rstrip("/") + "/"
        found = (
            Entry(info.path.removeprefix(around), info.size if info.is_file else None)
            for info in infos
        )
        return sorted((entry for entry in found if entry.name), key=lambda entry: entry.name)

    # reading

    def open(self, name: str = "") -> Any:
        """Open an object to be read anywhere in it."""
        with reached(self / name if name else self, "read"):
            return self._system.open_input_file(self._path(name))

    def read_bytes(self, most: int = -1) -> bytes:
        """Return the bytes of an object, or the first of them."""
        with reached(self, "read"), self._system.open_input_stream(self._path()) as stream:
            content: bytes = stream.read(None if most < 0 else most)
            return content

    def fetch(self, name: str, path: Path, most: int) -> None:
        """Copy an object into a new file, or so many of its bytes."""
        with (
            reached(self / name, "read"),
            self._system.open_input_stream(self._path(name), compression=None) as stream,
            whole_file(path, mode=OWNER_ONLY, replace=False) as part,
            part.open("wb") as copy,
        ):
            while most > 0 and (some := stream.read(min(most, _COPIED_BYTES))):
                copy.write(some)
                most -= len(some)

    # writing

    def put(self, name: str, path: Path) -> None:
        """Write an object of a file's bytes, in place of one of this name."""

        def copy(stream: Any) -> None:
            with path.open("rb") as file:
                while some := file.read(_COPIED_BYTES):
                    stream.write(some)

        self._put(name, copy)

    def put_bytes(self, name: str, content: bytes) -> None:
        """Write an object of these bytes, in place of one of this name."""
        self._put(name, lambda stream: stream.write(content))

    def _put(self, name: str, write: Callable[[Any], object]) -> None:
        with reached(self, "written"):
            for left in reversed(range(TRIES)):
                try:
                    self._put_once(name, write)
                except OSError as error:
                    if not left or is_refused(error):
                        raise
                else:
                    return

    def _put_once(self, name: str, write: Callable[[Any], object]) -> None:
        path, system = self._path(name), self._system
        if system.type_name not in _RENAMING:
            with system.open_output_stream(path, compression=None) as stream:
                write(stream)
            return
        folder, _, last = path.rpartition("/")
        partial = f"{folder}/.{last}.partial-{secrets.token_hex(6)}"
        system.create_dir(folder, recursive=True)
        try:
            with system.open_output_stream(partial, compression=None) as stream:
                write(stream)
            if self.is_local and not Path(self._path()).stat().st_mode & 0o077:
                Path(partial).chmod(OWNER_ONLY)  # what is private stays so where it is moved to
            if system.type_name != "local":  # there nothing is renamed to a name that something has
                with suppress(FileNotFoundError):
                    system.delete_file(path)
            system.move(partial, path)
        except BaseException:
            with suppress(OSError):
                system.delete_file(partial)
            raise

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""
        with reached(self, "written"), suppress(FileNotFoundError):
            self._system.delete_file(self._path(name))

    def clear(self) -> None:
        """Delete the folder where file systems have such, once nothing is in it."""
        if self._system.type_name in _RENAMING and not any(
            e.size is not None for e in self.entries()
        ):
            with suppress(OSError):
                self._system.delete_dir(self._path())

    def delete_all(self) -> None:
        """Delete everything beneath it, and the folder where file systems have such."""
        with reached(self, "deleted"), suppress(FileNotFoundError):
            self._system.delete_dir(self._path())

    def probe(self) -> None:
        """Write an object beneath it, and delete it."""
        with self.probed():
            pass

    @contextmanager
    def probed(self) -> Iterator[str]:
        """Write an object beneath it, give its name, and delete it."""
        name, was_there = f"{PROBE}{secrets.token_hex(6)}", not self.is_local or self.is_dir()
        self.put_bytes(name, b"")
        try:
            yield name
        finally:
            self.delete(name)
            if not was_there:
                self.clear()

    def links(self) -> list[Path]:
        """Return the links in a folder of this machine, and itself if it is one, by name."""
        if not self.is_local:
            return []
        folder = Path(self._path())
        return [path for path in (folder, *sorted(folder.rglob("*"))) if path.is_symlink()]

    def close_to_others(self) -> None:
        """Make it its owner's alone where it is a folder of this machine; others have no modes."""
        if self.is_local:
            with reached(self, "written"):
                folder = Path(self._path())
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                folder.chmod(0o700)


Place: TypeAlias = Path | Address


def place_of(given: str | Path | Address) -> Place:
    """Return the folder or the address that is given; a path is a path, whatever its name.

    With a single slash it is an address only where no folder of the name before it is here.
    """
    if not isinstance(given, str):
        return given
    is_here = "://" not in given and Path(given).parent.is_dir()  # a folder named file: or s3:
    return Address.of(given) if _ADDRESS.fullmatch(given) and not is_here else Path(given)


def located(place: Place) -> tuple[str, ...]:
    """Return where a place is, name by name: what is in it has more of the same names."""
    return place.located if isinstance(place, Address) else _located(place)


def _located(path: Path) -> tuple[str, ...]:
    return ("this machine", *path.resolve().parts)


def is_partial(name: str) -> bool:
    """Whether a file of this name was left by a process that was killed while it wrote."""
    return _PARTIAL.fullmatch(name.rpartition("/")[2]) is not None
