"""The whole check of a release folder, in order: manifest, files, data, claim, original."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb

from graphveil.data import Data
from graphveil.errors import ResourceError
from graphveil.records.manifest import Manifest
from graphveil.records.record import private_folder
from graphveil.verify.against import original_conditions
from graphveil.verify.by_method import parameters_condition
from graphveil.verify.claims import CHECKS
from graphveil.verify.database import Database, UnreadableError, database
from graphveil.verify.files.folder import file_conditions
from graphveil.verify.files.loading import load
from graphveil.verify.files.manifest import (
    decoded,
    manifest_bytes,
    manifest_conditions,
    read_owner,
)
from graphveil.verify.recount.shape import COUNTS, SHAPES, counts_condition
from graphveil.verify.verdict import Condition, Verdict, counted, fails, holds, not_checked

READ = "data"
NOTHING = "The manifest cannot be read, so nothing is claimed."


def verify(folder: str | Path, *, original: Data | None = None) -> Verdict:
    """Return whether a release keeps its promise, recomputed from its files alone.

    Nothing of the program that made the release is used: the files are read anew, by SQL.

    Parameters
    ----------
    folder
        The release folder. The owner's private folder is looked for beside it.
    original
        The data that it was made from. Without it, conditions that need it are not checked.

    Returns
    -------
    Verdict
        Whatever is broken inside a release is a condition that fails.

    Raises
    ------
    ReleaseError
        Where the folder is not a release: no folder, or one without a manifest.
    ResourceError
        Where the memory does not suffice.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> with TemporaryDirectory() as place:
    ...     folder = gv.KDegree(k=2).anonymize(graph).write(Path(place, "path-k2"))
    ...     verify(folder, original=graph).ok
    True
    """
    place = Path(os.path.abspath(folder))  # noqa: PTH100  keeps links, and gives "." a name
    raw = manifest_bytes(place)
    manifest = decoded(raw)
    if isinstance(manifest, Condition):
        return Verdict("not claimed", NOTHING, [manifest])
    try:
        conditions = _conditions(place, raw, manifest, original)
    except (MemoryError, duckdb.OutOfMemoryException) as error:
        raise ResourceError(
            f"{place.name} needs more memory than there is. Check it on a larger machine."
        ) from error
    guarantee = manifest.claim.guarantee
    return Verdict(guarantee.check_word, guarantee.sentence, conditions)


def _conditions(
    place: Path, raw: bytes, manifest: Manifest, original: Data | None
) -> list[Condition]:
    owner = read_owner(place)
    conditions = manifest_conditions(raw, manifest, owner)
    conditions.append(parameters_condition(manifest))
    conditions += file_conditions(place, manifest)
    with database([place, private_folder(place)]) as db:
        data = _data_conditions(db, place, manifest)
        readable = db if data[0].outcome == "holds" else None
        return [*conditions, *data, *original_conditions(readable, manifest, owner, original)]


def _data_conditions(db: Database, place: Path, manifest: Manifest) -> list[Condition]:
    """Return whether the data can be read, then what its shape, its counts and the claim are."""
    described, guarantee = manifest.data, manifest.claim.guarantee
    shape, check = SHAPES[described.kind], CHECKS[type(guarantee)]
    try:
        load(db, place, described)
    except UnreadableError as error:
        names = (*shape.names, COUNTS, *check.names)
        why = "the released data cannot be read"
        return [fails(READ, str(error)), *(not_checked(name, why) for name in names)]
    conditions = [holds(READ, f"{counted(len(described.files), 'file')} could be read")]
    conditions += [*shape.conditions(db), counts_condition(db, described)]
    if described.kind not in check.kinds:
        due = " or a ".join(check.kinds)
        told = f"{type(guarantee).__name__} is promised of a {due}, not a {described.kind}"
        return [*conditions, *(fails(name, told) for name in check.names)]
    return [*conditions, *check.recompute(db, guarantee)]
