"""The folder of one run in a place that other machines see: its owner's alone, and noted."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import tempfile
from pathlib import Path

from graphveil.atomic import ELSEWHERE, OWNER_ONLY, kept_elsewhere, whole_file
from graphveil.errors import ReleaseError, ResourceError, option, warn
from graphveil.warning_kinds import LeftoverWarning

_PRIVATE = 0o700
_OTHERS = 0o077


def shared_folder(path: Path, private: Path) -> Path:
    """Return the folder of a run, which is made where it is not there, as an absolute path.

    It is noted in the private folder before anything lies in it, so that it is deleted with that.

    Parameters
    ----------
    path
        The folder; nothing but this run has the name.
    private
        The private folder of the run.

    Raises
    ------
    ReleaseError
        Where the run has kept its rows in another place, or others can write into the folder.
    ResourceError
        Where it cannot be written.
    """
    folder = path.absolute()
    before = kept_elsewhere(private)
    if before not in (None, folder):
        raise ReleaseError(
            f"the unfinished run keeps its rows in {before}, not in {folder}. Go on with "
            f"{option('working', str(before.parent))}, or delete both {before} and {private}."
        )
    try:
        folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        _check_own(folder)
        with whole_file(private / ELSEWHERE, mode=OWNER_ONLY) as part:
            part.write_text(json.dumps({"folder": str(folder)}))
    except OSError as error:
        raise ResourceError(
            f"{folder} cannot be written ({error.strerror}). Choose another place."
        ) from error
    return folder


def name_others(folder: Path) -> None:
    """Tell the owner of folders beside this one that other runs of the same release have left.

    Nothing of them is deleted: a run of that name into another place may be going on.

    Warns
    -----
    LeftoverWarning
        For each of them.
    """
    release, _, digits = folder.name.rpartition("-")
    named = re.compile(rf"{re.escape(release)}-[0-9a-f]{{{len(digits)}}}")
    for path in sorted(folder.parent.iterdir()):
        if path != folder and named.fullmatch(path.name):
            message = (
                f"{path} holds rows of people, of another run into a release of this name. Delete "
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
