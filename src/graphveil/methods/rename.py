"""New ids in a new order and nothing else; with a key, the same new ids in several files.

Without a key, the new ids are 0 to n-1 in a uniformly random order. With a key, the new id of a
person is a keyed hash of the original id: the first 63 bits of HMAC-SHA256 (RFC 2104). So files
that are renamed with one key can be joined. Without the key nobody can compute a new id from an
original one, or test a guess of one. A hash without a key would not do: ids are short, and all of
them can be tried.

It is pseudonymization, and carries no guarantee: the data itself identifies people.

Cost: O(n) hashes, and a sort.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import AnyCondition, KeyedIds, SameData
from graphveil.claims.guarantees import NotClaimed
from graphveil.claims.manifest import ID_COLUMN
from graphveil.claims.neighbors import check_outside
from graphveil.claims.record import OwnersNotes
from graphveil.core.errors import InfeasibleError, InputError, ParameterError, UsageError
from graphveil.core.hints import option
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness
from graphveil.core.warnings import Advice, KeyWarning, SeedWarning
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.data.ids import Ids, as_text
from graphveil.methods.base import Anonymizer
from graphveil.methods.card import MethodCard, Reached
from graphveil.release.draft import Draft, NewIds

__all__ = ["Key", "Rename"]

BYTES = 32
"""The length of a key: 256 bits, the size of the digests of the hash."""

MAKE_ONE = "Create one once, and keep it: graphveil key FILE."
"""What error messages about a missing key advise."""

_HEX = re.compile(rf"[0-9a-f]{{{2 * BYTES}}}")
_PURPOSE = b"graphveil rename 1\0"
"""What precedes every hashed id: the hashes differ from those of any other use of the key."""


@dataclass(frozen=True)
class Key:
    """A secret of 256 bits: in a file that the owner keeps, or in memory.

    Parameters
    ----------
    file
        A file with 64 hexadecimal digits. It is read once, when ids are first computed.
    held_in_memory
        The 32 bytes of a key that is not in a file.

    Raises
    ------
    ParameterError
        If neither or both are given, or one has the wrong type or length. The value is not shown:
        it may be the key.

    Examples
    --------
    >>> Key(held_in_memory=bytes(32)).new_ids(np.array([7])).tolist()
    [5695207640324165808]
    >>> Key(held_in_memory=bytes(32))
    Key(file=None)
    """

    is_in_a_file: ClassVar[bool] = True
    """On the command line a key is given by the name of its file, or on standard input."""

    file: Path | None = None
    held_in_memory: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the type and the length of what is given."""
        if (self.file is None) == (self.held_in_memory is None):
            raise ParameterError(
                "a key is either in a file or in memory. Give file or held_in_memory."
            )
        if self.file is not None:
            object.__setattr__(self, "file", _path(self.file))
        else:
            _check_bytes(self.held_in_memory)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: a pickle never holds a key that was read from a file."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @staticmethod
    def parse(text: str | Path | bytes) -> Key:
        """Return the key in the file of this name, or the key with these bytes.

        Parameters
        ----------
        text
            The name of a file, or the 32 bytes of a key.

        Returns
        -------
        Key
            The file is not read yet.

        Raises
        ------
        ParameterError
            If it is neither, or the bytes do not have the length of a key.

        Examples
        --------
        >>> str(Key.parse("people.key"))
        'people.key'
        """
        if isinstance(text, bytes):
            return Key(held_in_memory=text)
        return Key(file=_path(text))

    @classmethod
    def new(cls, file: str | Path) -> Self:
        """Return a new key, in a new file that only its owner can read.

        Parameters
        ----------
        file
            The file; it must not exist.

        Returns
        -------
        Key
            The key in this file.

        Raises
        ------
        UsageError
            If the file exists.

        Examples
        --------
        >>> import tempfile
        >>> key = Key.new(Path(tempfile.mkdtemp(), "people.key"))
        >>> len(key.secret())
        32
        """
        # A key inside a release would be published with it.
        path = Path(file)
        check_outside(path)
        # Created exclusively and with its permissions, so that no other process can have it open.
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError as error:
            raise UsageError(
                f"{path} exists. Choose a different name: keys are never overwritten."
            ) from error
        with os.fdopen(descriptor, "w") as stream:
            stream.write(f"{secrets.token_hex(BYTES)}\n")
            stream.flush()
            os.fsync(descriptor)
        return cls(file=path)

    def __str__(self) -> str:
        """Return the name of the file; never the key."""
        return "(in memory)" if self.file is None else str(self.file)

    def secret(self) -> bytes:
        """Return the 32 bytes of the key.

        Returns
        -------
        bytes
            From memory, or from the file, which is read once.

        Raises
        ------
        InputError
            If the file cannot be read, or does not contain a key.

        Examples
        --------
        >>> len(Key(held_in_memory=bytes(32)).secret())
        32
        """
        return self._in_file if self.held_in_memory is None else self.held_in_memory

    @cached_property
    def _in_file(self) -> bytes:
        """The key in the file, read once: a pipe is empty the second time."""
        # At most 1,000 bytes: a wrong file can be large. Messages never show what it contains.
        try:
            with Path(str(self)).open("rb") as stream:
                content = stream.read(1000)
        except OSError as error:
            raise InputError(
                f"cannot read the key file ({error.strerror}). Give its name, not the key "
                f"itself. {MAKE_ONE}"
            ) from error
        digits = content.decode("ascii", "replace").strip().lower()
        if not _HEX.fullmatch(digits):
            raise InputError(
                f"{self.file} does not contain a key, which consists of {2 * BYTES} hexadecimal "
                f"digits. {MAKE_ONE}"
            )
        return bytes.fromhex(digits)

    @property
    def is_open(self) -> bool:
        """Whether users other than its owner can read the file."""
        if self.file is None or os.name != "posix":
            return False
        return bool(self.file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))

    def new_ids(self, ids: Ids) -> NDArray[np.int64]:
        """Return the new id of each original id.

        Parameters
        ----------
        ids
            Original ids, integers or texts. An integer and the text that spells it are one id.

        Returns
        -------
        int64 array, shape (n,)
            From 0 to 2^63 - 1. The same for an id in every file.

        Raises
        ------
        InputError
            If the file of the key cannot be read, or does not contain a key.

        Examples
        --------
        >>> key = Key(held_in_memory=bytes(32))
        >>> bool((key.new_ids(np.array([7])) == key.new_ids(np.array(["7"]))).all())
        True
        """
        # HMAC of the id as text; the top 63 bits of the digest, so that ids are not negative.
        secret = self.secret()
        digests = (
            hmac.digest(secret, _PURPOSE + text.encode("utf-8", "surrogatepass"), "sha256")[:8]
            for text in as_text(ids).tolist()
        )
        return (np.frombuffer(b"".join(digests), dtype=">u8") >> np.uint64(1)).astype(np.int64)


def _path(name: object) -> Path:
    """Return the name of a key file as a path. It may be the key itself: no message shows it."""
    if not isinstance(name, str | Path):
        raise ParameterError(
            f"key=<{type(name).__name__}> is neither a file name nor bytes. Give the name of a "
            "key file."
        )
    if not str(name):
        raise ParameterError("key=<empty> is not a file name. Give the name of a key file.")
    return Path(name)


def _check_bytes(secret: object) -> None:
    if not isinstance(secret, bytes):
        raise ParameterError(
            f"key=<{type(secret).__name__}> in memory is not bytes. Give {BYTES} bytes."
        )
    if len(secret) != BYTES:
        raise ParameterError(
            f"key: {len(secret)} bytes, but a key has {BYTES}. Create one with "
            f"secrets.token_bytes({BYTES})."
        )


# Warnings for the data owner, on releases with a key and with a seed.
LINKED = Advice(
    "anyone with several files made with this key sees the same people in all of them. What "
    "identifies a person in one file does so in all. Anyone with the key can test guesses of "
    "original ids: keep it as secret as the ids",
    KeyWarning,
)

REPEATABLE = Advice(
    "anyone who knows the seed and the original ids can undo the renaming", SeedWarning
)


CARD = MethodCard(
    when="Only ids must be replaced; everyone who gets the data is trusted with it.",
    promise="No guarantee: people get new ids in a new order; the data is unchanged.",
    source="pseudonymization, as in Art. 4(5) of the GDPR; HMAC as in RFC 2104",
    limits="Everything but the ids.",
    reached=(
        Reached(
            "Re-identified in our tests: 100% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense).",
            {},
            ("graph", "network"),
        ),
        Reached(
            "Re-identified in our tests: 97% of 500 sampled people by an attacker who knew 8 "
            "items of a person (2,000 people).",
            {},
            ("bipartite",),
        ),
        Reached(
            "Re-identified in our tests: 58% of 500 sampled people in a table by an attacker who "
            "knew 8 values of a person (2,000 people).",
            {},
            ("table",),
        ),
    ),
    cost="linear in the number of edges, entries or cells",
    example={},
    claims_nothing=True,
    may_state=(KeyedIds,),
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class Rename(Anonymizer[Any]):
    """No guarantee: people get new ids in a new order; the data is unchanged.

    Parameters
    ----------
    key
        A `Key`, the name of its file, or its 32 bytes: a person then has the same new id in every
        release that is made with it. Default: the ids of every release are sampled again.

    Raises
    ------
    ParameterError
        If the key is not valid.

    Notes
    -----
    Pseudonymization, as in Art. 4(5) of the GDPR. Without a key the new ids are 0..n-1 in a
    uniformly random order. With a key, the id of a person is an integer of 63 bits: the first 63
    bits of HMAC-SHA256 (RFC 2104) of the original id under the key. People are in the order of
    their new ids.

    Examples
    --------
    >>> path = Graph.from_edges(["ann", "bob"], ["bob", "cyd"])
    >>> release = Rename().anonymize(path)
    >>> release.guarantee.sentence, release.data.n_edges
    ('This release carries no guarantee.', 2)
    """

    name: ClassVar[str] = "rename"
    accepts = (Graph, Bipartite, Table, Network)
    card: ClassVar[MethodCard] = CARD

    key: Key | None = parameter(
        default=None,
        text="key file; with it, a person has the same new id in every release",
        unset="ids are sampled again",
        private=True,
    )

    @property
    def guarantee(self) -> NotClaimed:
        """What is guaranteed: nothing."""
        return NotClaimed(reasons=("renamed",))

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """The conditions: the data is unchanged, and with a key its ids are from a key."""
        return (SameData(), KeyedIds()) if self.key is not None else (SameData(),)

    def check(self, data: Data) -> None:
        """Refuse data whose people cannot get ids from the key.

        Parameters
        ----------
        data
            What is to be renamed.

        Raises
        ------
        UsageError
            If the data is of a different kind, or, with a key, rows of a table have no ids.
        DataError
            If a table has no columns.
        InfeasibleError
            If the data is empty.
        InputError
            If the file does not contain a key.
        """
        # With a key, a missing or wrong file is found before anything is computed.
        super().check(data)
        if self.key is None:
            return
        self.key.secret()
        if not isinstance(data, Table):
            return
        # Row numbers are not ids: the same number is a different person in another file.
        if data.ids is None:
            raise UsageError(
                "a key derives new ids from original ids, but these rows have only their "
                f"numbers. Name the id column: {option('ids')}."
            )
        if ID_COLUMN in (name.lower() for name in data.columns):
            raise UsageError(
                f"new ids are written to a column {ID_COLUMN}, but there already is one. Rename "
                f"it, or use {option('ids', ID_COLUMN)}."
            )

    def draft(self, data: Data, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        if self.key is not None and randomness.seeded:
            raise UsageError("the key determines all ids, so a seed has no effect. Remove it.")
        from graphveil.methods.residual_risk import left_open  # noqa: PLC0415  measures

        remaining = left_open(data)
        return Draft(
            data=data,
            notes=OwnersNotes(
                cost=remaining.figures,
                warnings=(*remaining.advice, *self._advice(data, randomness)),
            ),
            order=None if self.key is None else self._keyed_ids(data, self.key),
        )

    def _advice(self, data: Data, randomness: Randomness) -> Iterator[str]:
        if randomness.seeded:
            yield REPEATABLE
        if self.key is None:
            return
        yield LINKED
        if self.key.is_open:
            readable = f"users other than you can read the key in {self.key}. Run chmod 600 on it"
            yield Advice(readable, KeyWarning)
        # Ids 0 to n-1 may be numbers that this file alone has.
        labels = data.labels()
        if labels.dtype.kind == "i" and np.array_equal(labels, np.arange(data.size)):
            numbered = (
                f"people are numbered 0 to {data.size - 1}: with a key these numbers must mean the "
                "same people in every file"
            )
            yield Advice(numbered, KeyWarning)

    @staticmethod
    def _keyed_ids(data: Data, key: Key) -> NewIds:
        """Return ids that a key derives from the original ones, and the order that they give."""
        # People in the order of their new ids, so that the order of the input is not published.
        # Two of n ids collide with a probability of about n^2 / 2^64.
        ids = key.new_ids(data.labels())
        order = np.argsort(ids, kind="stable").astype(np.int64, copy=False)
        in_order = ids[order]
        if np.any(in_order[1:] == in_order[:-1]):
            raise InfeasibleError(
                "two people have the same new id with this key, by chance. Create a different key."
            )
        return NewIds(order, in_order)
