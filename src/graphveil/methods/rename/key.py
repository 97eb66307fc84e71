"""The key with which a person gets the same new id in several files, and the ids it gives."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from graphveil.data.ids import Ids, as_text
from graphveil.errors import InputError, ParameterError, UsageError

BYTES = 32
"""The length of a key."""

_HEX = re.compile(rf"[0-9a-f]{{{2 * BYTES}}}")
_PURPOSE = b"graphveil rename 1\0"
"""What stands before every id, so that the key can serve nothing else by accident."""


@dataclass(frozen=True)
class Key:
    """A secret of 256 bits: in a file that the owner keeps, or in memory.

    Parameters
    ----------
    file
        The file, which is read when ids are made: 64 hexadecimal digits.
    held_in_memory
        The 32 bytes of a key that is in no file.

    Examples
    --------
    >>> Key(held_in_memory=bytes(32)).new_ids(np.array([7])).tolist()
    [5695207640324165808]
    >>> Key(held_in_memory=bytes(32))
    Key(file=None)
    """

    file: Path | None = None
    held_in_memory: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check that a key in memory is one."""
        if self.held_in_memory is not None and len(self.held_in_memory) != BYTES:
            raise ParameterError(
                f"key: {len(self.held_in_memory)} bytes, but a key has {BYTES}. Make one with "
                "secrets.token_bytes(32)."
            )

    @staticmethod
    def parse(text: str | Path | bytes) -> Key:
        """Return the key in the file of this name, or the one that these bytes are."""
        if isinstance(text, bytes):
            return Key(held_in_memory=text)
        if isinstance(text, str | Path) and str(text):
            return Key(file=Path(text))
        raise ParameterError(f"key={text!r} is no file and no bytes. Give the file of a key.")

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
        if self.held_in_memory is not None:
            return self.held_in_memory
        path = Path(str(self))
        try:
            with path.open("rb") as stream:
                content = stream.read(1000)
        except OSError as error:
            raise InputError(
                f"{path}: no key can be read there ({error.strerror}). Make one once, and keep it: "
                "graphveil key FILE."
            ) from error
        digits = content.decode("ascii", "replace").strip().lower()
        if not _HEX.fullmatch(digits):
            raise InputError(
                f"{path.name} holds no key: that is {2 * BYTES} hexadecimal digits. "
                "Make one once, and keep it: graphveil key FILE."
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
