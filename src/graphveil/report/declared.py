"""What an owner declares of a publication: read from TOML, shown as declared, never inferred."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal, get_args

from graphveil.errors import InputError, UsageError, one_of

Recipient = Literal["public", "named", "controlled"]

RECIPIENTS: dict[str, str] = {
    "public": "The public",
    "named": "Named recipients",
    "controlled": "Recipients under controlled access",
}
FIELDS: dict[str, str] = {
    "purpose": "Purpose",
    "other_data": "Other data that recipients may hold",
    "motive": "Why somebody might try to identify a person",
    "review": "Date of review",
    "license": "License",
    "creator": "Published by",
    "url": "Address",
    "published": "Date of publication",
}
"""What may be declared, and what a page calls it."""

MOST_BYTES = 1 << 20


def recipient_of(name: str | None) -> str | None:
    """Return to whom a release goes, in words; None where it was not declared.

    Raises
    ------
    UsageError
        Where there is no such recipient.
    """
    if name is not None and name not in get_args(Recipient):
        raise UsageError(f"the recipient {name!r} is unknown. {one_of(name, RECIPIENTS)}")
    return None if name is None else RECIPIENTS[name]


def read_declared(path: str | Path) -> dict[str, str]:
    """Return what a TOML file declares, by the names of `FIELDS` and `recipient`.

    Raises
    ------
    InputError
        Where it cannot be read, or is no TOML.
    UsageError
        Where it declares what a page does not show.
    """
    file = Path(path)
    try:
        raw = file.read_bytes()
        if len(raw) > MOST_BYTES:
            raise UsageError(f"{file} holds {len(raw):,} bytes. Give at most {MOST_BYTES:,}.")
        values = tomllib.loads(raw.decode())
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror}). Give a TOML file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file.name} is no TOML: {error}. Correct the line.") from error
    known = ["recipient", *FIELDS]
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{file.name} declares {name!r}. {one_of(name, known)}")
        if isinstance(value, dict | list):
            raise UsageError(f"{file.name}: {name!r} is no text. Give one in quotes.")
    return {name: str(value) for name, value in values.items()}
