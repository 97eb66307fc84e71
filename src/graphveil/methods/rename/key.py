"""The key with which a person gets the same new id in several files, and the ids it gives."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from graphveil.data.ids import Ids, as_text
from graphveil.errors import InputError, ParameterError, UsageError

BYTES = 32
"""The length of a key."""

MAKE_ONE = "Make one once, and keep it: graphveil key FILE."
"""The way out where there is no key."""

_HEX = re.compile(rf"[0-9a-f]{{{2 * BYTES}}}")
_PURPOSE = b"graphveil rename 1\0"
"""What stands before every id, so that the key can serve nothing else by accident."""


@dataclass(frozen=True)
class Key:
    """A secret of 256 bits: in a file that the owner keeps, or in memory.

    Parameters
    ----------
    file
        The file, which is read once, when ids are first made: 64 hexadecimal digits.
    held_in_memory
        The 32 bytes of a key that is in no file.

    Raises
    ------
    ParameterError
        Where neither or both are given, or one is of another type or length. What was given is
        not shown: it may be the key.

    Examples
    --------
    >>> Key(held_in_memory=bytes(32)).new_ids(np.array([7])).tolist()
    [5695207640324165808]
    >>> Key(held_in_memory=bytes(32))
    Key(file=None)
    """

    is_in_a_file: ClassVar[bool] = True
    """On the command line it is named by its file, or read from the standard input."""

    file: Path | None = None
    held_in_memory: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the type and the length of what is given."""
        if (self.file is None) == (self.held_in_memory is None):
            raise ParameterError("a key is in a file or in memory. Give file or held_in_memory.")
        if self.file is not None:
            object.__setattr__(self, "file", _path(self.file))
        else:
            _check_bytes(self.held_in_memory)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: a pickle holds nothing that was read from a file."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @staticmethod
    def parse(text: str | Path | bytes) -> Key:
        """Return the key in the file of this name, or the one that these bytes are.

        Raises
        ------
        ParameterError
            Where it is no name and no bytes, or of another length than a key.
        """
        if isinstance(text, bytes):
            return Key(held_in_memory=text)
        return Key(file=_path(text))

    @classmethod
    def new(cls, file: str | Path) -> Self:
        """Return a new key, in a new file that its owner alone can read.

        Parameters
        ----------
        file
            The file; it must not exist.

        Raises
        ------
        UsageError
            Where there is such a file.
        """
        path = Path(file)
        try:
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError as error:
            raise UsageError(f"{path} exists. Choose another name: keys are never lost.") from error
        with os.fdopen(number, "w") as stream:
            stream.write(f"{secrets.token_hex(BYTES)}\n")
            stream.flush()
            os.fsync(number)
        return cls(file=path)

    def __str__(self) -> str:
        """Return the name of the file; never the key."""
        return "(in memory)" if self.file is None else str(self.file)

    def secret(self) -> bytes:
        """Return the 32 bytes of the key.

        Raises
        ------
        InputError
            Where the file cannot be read, or holds no key.
        """
        return self._in_file if self.held_in_memory is None else self.held_in_memory

    @cached_property
    def _in_file(self) -> bytes:
        """The key in the file, read once: a pipe has nothing to read the second time."""
        try:
            with Path(str(self)).open("rb") as stream:
                content = stream.read(1000)
        except OSError as error:
            raise InputError(
                f"the file of the key cannot be read ({error.strerror}). Give its name, not the "
                f"key itself. {MAKE_ONE}"
            ) from error
        digits = content.decode("ascii", "replace").strip().lower()
        if not _HEX.fullmatch(digits):
            raise InputError(
                f"{self.file} holds no key: that is {2 * BYTES} hexadecimal digits. {MAKE_ONE}"
            )
        return bytes.fromhex(digits)

    @property
    def is_open(self) -> bool:
        """Whether others than its owner can read the file."""
        if self.file is None or os.name != "posix":
            return False
        return bool(self.file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))

    def new_ids(self, ids: Ids) -> NDArray[np.int64]:
        """Return the new id of each of these: an integer from 0 to 2^63 - 1.

        An integer and the text that spells it are one id.

        Raises
        ------
        InputError
            As `secret`.
        """
        secret = self.secret()
        digests = (
            hmac.digest(secret, _PURPOSE + text.encode("utf-8", "surrogatepass"), "sha256")[:8]
            for text in as_text(ids).tolist()
        )
        return (np.frombuffer(b"".join(digests), dtype=">u8") >> np.uint64(1)).astype(np.int64)


def _path(name: object) -> Path:
    """Return the name of a key's file as a path; it may be the key, so no message shows it."""
    if not isinstance(name, str | Path):
        raise ParameterError(
            f"key=<{type(name).__name__}> is no file and no bytes. Give the file of a key."
        )
    if not str(name):
        raise ParameterError("key=<empty> is no file. Give the file of a key.")
    return Path(name)


def _check_bytes(secret: object) -> None:
    if not isinstance(secret, bytes):
        raise ParameterError(
            f"key=<{type(secret).__name__}> in memory is no bytes. Give {BYTES} bytes."
        )
    if len(secret) != BYTES:
        raise ParameterError(
            f"key: {len(secret)} bytes, but a key has {BYTES}. Make one with "
            f"secrets.token_bytes({BYTES})."
        )
