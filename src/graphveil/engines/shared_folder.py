"""Where a run keeps rows that other machines see: its owner's alone, and noted.

A folder is closed to others. At an address nothing has a mode: policies say who may read it.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import tempfile
from pathlib import Path

from graphveil.atomic import ELSEWHERE, OWNER_ONLY, kept_elsewhere, whole_file
from graphveil.errors import ReleaseError, ResourceError, UsageError, option, warn
from graphveil.places.address import Address, Place, place_of
from graphveil.warning_kinds import LeftoverWarning

_PRIVATE = 0o700
_OTHERS = 0o077


def working_place(given: str | Path | Address) -> Place:
    """Return the place under which runs keep rows.

    Raises
    ------
    UsageError
        Where no such store is served, or the address has a password or options: what a run keeps
        there is noted, to be deleted, and no note has these.

    Examples
    --------
    >>> str(working_place("s3a://owner/run"))
    's3a://owner/run'
    """
    place = place_of(given)
    if isinstance(place, Address) and place.has_secrets:
        raise UsageError(
            f"{place} has a password or options, which nothing notes, and what lies there would "
            "not be deleted. Leave them to the environment (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL "
            "and the like)."
        )
    return place


def shared_place(place: Place, private: Path) -> Place:
    """Return the place of a run, a folder as an absolute path; it is made where it is not there.

    It is noted in the private folder before anything lies in it, so that it is deleted with that.

    Parameters
    ----------
    place
        The place; nothing but this run has the name.
    private
        The private folder of the run.

    Raises
    ------
    ReleaseError
        Where the run has kept its rows in another place, or others can write into the folder.
    ResourceError
        Where it cannot be written.
    """
    place = place if isinstance(place, Address) else place.absolute()
    before = kept_elsewhere(private)
    if before not in (None, str(place)):
        raise ReleaseError(
            f"the unfinished run keeps its rows in {before}, not in {place}. Go on with "
            f"{option('working', str(place_of(before).parent))}, or delete both {before} and "
            f"{private}."
        )
    folder = place.mounted if isinstance(place, Address) else place
    try:
        if folder is not None:
            folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            _check_own(folder)
        with whole_file(private / ELSEWHERE, mode=OWNER_ONLY) as part:
            part.write_text(json.dumps({"folder": str(place)}))
    except OSError as error:
        raise ResourceError(
            f"{place} cannot be written ({error.strerror}). Choose another place."
        ) from error
    return place


def note(place: Place, name: str) -> bytes | None:
    """Return what a run noted in its place under a name; None where it noted nothing."""
    path = place / name
    return path.read_bytes() if path.is_file() else None


def write_note(place: Place, name: str, content: bytes) -> None:
    """Write a note into the place of a run: it is there whole, or not."""
    if isinstance(place, Address):
        place.put_bytes(name, content)
        return
    with whole_file(place / name, mode=OWNER_ONLY) as part:
        part.write_bytes(content)


def name_others(place: Place) -> None:
    """Tell the owner of places beside this one that other runs of the same release have left.

    Nothing of them is deleted: a run of that name into another place may be going on.

    Warns
    -----
    LeftoverWarning
        For each of them.
    """
    release, _, digits = place.name.rpartition("-")
    named = re.compile(rf"{re.escape(release)}-[0-9a-f]{{{len(digits)}}}")
    around = place.parent
    others = around.folders() if isinstance(around, Address) else sorted(around.iterdir())
    for other in others:
        if other.name != place.name and named.fullmatch(other.name):
            message = (
                f"{other} holds rows of people, of another run into a release of this name. Delete "
                "it, unless that run goes on"
            )
            warn(message, LeftoverWarning)


def _check_own(folder: Path) -> None:
    """Refuse a folder that is not as its owner's run makes it, where the file system can tell.

    Whoever could write into it could put other people's rows into a release.
    """
    status = folder.lstat()
    if stat.S_ISDIR(status.st_mode) and (_is_own(status) or not _tells(folder)):
        return
    raise ReleaseError(
        f"{folder} is a link, belongs to another user (number {status.st_uid}), or is open to "
        f"others (mode {stat.S_IMODE(status.st_mode):o}, a run leaves {_PRIVATE:o}), so what it "
        "holds is not taken up. Move it away."
    )


def _is_own(status: os.stat_result) -> bool:
    if sys.platform == "win32":
        return True
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & _OTHERS


def _tells(folder: Path) -> bool:
    """Whether a new private folder is this user's alone there: not every shared mount says so."""
    probe = Path(tempfile.mkdtemp(dir=folder))
    status = probe.lstat()
    probe.rmdir()
    return _is_own(status)
