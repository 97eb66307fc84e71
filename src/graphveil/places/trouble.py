"""What stores give up, said in a line, and no secret of an address with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol
from urllib.parse import parse_qsl, unquote

from graphveil.errors import GraphveilError, ResourceError, UsageError
from graphveil.lazy import lazy_module
from graphveil.places.stores import SCHEMES
from graphveil.terminal import printable

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = lazy_module("pyarrow")

_MOST_SAID = 240

_OPEN_OPTIONS = {"region", "scheme", "endpoint_override", "allow_bucket_creation"}
"""Options in an address that are no secrets."""

_WHILE = re.compile(r"^When .*?: (?=AWS Error)")
"""What the library for S3 says first of an error: the address says it, too."""

_REFUSED = (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError)
_REFUSED_WORDS = re.compile(
    r"NO_SUCH_BUCKET|ACCESS_DENIED|NoSuchBucket|AccessDenied|does not exist|Permission denied|"
    r"ContainerNotFound|AuthorizationPermissionMismatch|Read-only",
)


class Secretive(Protocol):
    """What is asked of an address here."""

    @property
    def scheme(self) -> str:
        """How the store is reached."""

    @property
    def secret(self) -> tuple[str, str]:
        """The authority with its password, and the options."""


@contextmanager
def reached(address: Secretive, doing: str) -> Iterator[None]:
    """Say in a line why an address cannot be read or written, and no secret with it.

    Raises
    ------
    UsageError
        Where the store refuses it.
    ResourceError
        Where the store is not reached, or for want of something.
    """
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        if doing == "read" and isinstance(error, FileNotFoundError):
            raise
        raise _problem(address, doing, error) from None


def _problem(address: Secretive, doing: str, error: Exception) -> GraphveilError:
    why = _scrubbed(str(getattr(error, "strerror", None) or error), address)
    if is_refused(error):
        return UsageError(
            f"{address} cannot be {doing} ({why}). Name another place, or see to its rights and "
            "your credentials."
        )
    return ResourceError(
        f"{address} cannot be {doing} ({why}). See to credentials, quota and network, and run the "
        "same command again."
    )


def is_refused(error: Exception) -> bool:
    """Whether it would be so again, whatever the state of credentials, quota and network."""
    return isinstance(error, _REFUSED) or _REFUSED_WORDS.search(str(error)) is not None


def _scrubbed(text: str, address: Secretive) -> str:
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
    """Return the machine, with who reaches it where that is no secret.

    Examples
    --------
    >>> without_password("box:key@account.net", keeps_user=True)
    'box@account.net'
    """
    user, at, host = authority.rpartition("@")
    if not keeps_user or not at:
        return host
    return f"{user.partition(':')[0]}@{host}"


def without_secrets(text: str) -> str:
    """Return the text of an address without what stands before the machine, and behind a `?`.

    Examples
    --------
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
