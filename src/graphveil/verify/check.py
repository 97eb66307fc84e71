"""The complete check of a release folder, in order: manifest, files, data, claim, original.

Claim checked: that a folder is a release as graphveil writes it, and that what its manifest
states is true of it. Every statement becomes a `Check` with one of three outcomes; the `Verdict`
weighs them. Whatever is broken inside a release is a check that fails, never an exception: a
release comes from someone else and may be forged.

What the files cannot show is listed in the verdict: what happened to the original (without it),
who is whom (without the linkage), and noise (never, by anything).

Cost: one pass over the bytes for their digests, one to load and compare them with the canonical
form, and what each check of the claim says in its module.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from graphveil.claims.conditions import KeyedIds
from graphveil.claims.manifest import Manifest, manifest_bytes
from graphveil.claims.record import private_folder
from graphveil.core.errors import ResourceError
from graphveil.core.storage import Address, Place, place_of
from graphveil.core.text import counted
from graphveil.data.kinds import kind_of
from graphveil.verify import verdict
from graphveil.verify.changes import cost_checks
from graphveil.verify.claim_check import UNREADABLE
from graphveil.verify.database import Database, UnreadableError, database
from graphveil.verify.evidence import CheckedKind, Evidence
from graphveil.verify.files.filesystem_metadata import strict_checks
from graphveil.verify.files.listed_files import file_checks
from graphveil.verify.files.loading import load
from graphveil.verify.files.manifest import BYTES, PRODUCER, WORDS, decoded, manifest_checks
from graphveil.verify.files.owner import read_owner
from graphveil.verify.files.released import AtAddress, Released
from graphveil.verify.kinds.counts import COUNTS, counts_check
from graphveil.verify.kinds.registry import CHECKED_KINDS
from graphveil.verify.ledger import ledger_checks
from graphveil.verify.original import original_checks
from graphveil.verify.parameters import PARAMETERS, parameters_check
from graphveil.verify.promises.rows.requested_levels import levels_checks
from graphveil.verify.registry import asked_for, claim_checks, decisive, promised
from graphveil.verify.rows_are_people import people_in_rows
from graphveil.verify.second_reading.plain_file import read_with_options
from graphveil.verify.verdict import LIMIT_BYTES, Check, Verdict, holds, named, not_checked

READ = "data"
NOTHING = "The manifest cannot be read, so this release states no guarantee."


def verify(
    folder: str | Path | Address,
    *,
    original: Any = None,
    original_file: Path | None = None,
    reading: Mapping[str, Any] | None = None,
    key: bytes | None = None,
    limit_bytes: int = LIMIT_BYTES,
    strict: bool = False,
    require_all: bool = False,
) -> Verdict:
    """Return whether the guarantee of a release holds, recomputed from its files.

    What only the original shows, such as that nothing was added, is not checked without it. No file
    shows noise: of differential privacy it is checked that nothing stated contradicts it.

    Nothing of the program that made the release is used: the files are read anew, by SQL. Whatever
    is broken inside a release is a check that fails.

    Parameters
    ----------
    folder
        The release folder, or its address; the owner's private folder is looked for next to it.
    original
        The data that the release was made from. Without it, checks that need it are not made.
    original_file
        The file that the original was read from: text is read a second time, by other code.
    reading
        The options that the file was read with; by default those of the owner's record.
    key
        The key that ids were made with.
    limit_bytes
        The most that the content of one file may take in memory, in bytes.
    strict
        Whether links and extended attributes in the folder fail, too.
    require_all
        Whether a check that was not made leaves the verdict undecided, whatever it is about.

    Returns
    -------
    The verdict, with every check in the order in which it was made.

    Raises
    ------
    ReleaseError
        If there is no release folder, or no manifest in it.
    ResourceError
        If the memory does not suffice, or a file is larger than `limit_bytes`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> with TemporaryDirectory() as folder:
    ...     folder = gv.KDegree(k=2).anonymize(graph).write(Path(folder, "path-k2"))
    ...     verify(folder, original=graph).ok
    True
    """
    # Step 1: the manifest. Without one there is no claim to check, so the verdict ends here.
    place = place_of(folder)
    if isinstance(place, Path):
        place = Path(os.path.abspath(place))  # noqa: PTH100  keeps links, and gives "." a name
    raw = manifest_bytes(place)
    manifest = decoded(raw)
    if isinstance(manifest, Check):
        unread = named({BYTES: manifest})
        return Verdict("not claimed", NOTHING, unread, require_all=require_all)
    # Step 2: every check, on the files as they are. A release of another kind of trouble than
    # memory cannot raise: its faults are failing checks.
    try:
        with _released(place) as release:
            checks = _checks(release, raw, manifest, original, key, limit_bytes)
            checks += strict_checks(release.folder) if strict else []
            # Step 3: the original's file, read once more by code of this room alone.
            if original is not None and original_file is not None:
                again = _second_reading(release.folder, original, original_file, reading)
                checks += named({verdict.TWICE: again})
    except (MemoryError, duckdb.OutOfMemoryException) as error:
        raise ResourceError(
            f"checking {place.name} needs more memory than is available. Run verify on a "
            "machine with more memory."
        ) from error
    # Step 4: the verdict. The words are those of the typed guarantee, never the manifest's own,
    # which may be forged.
    guarantee = manifest.claim.guarantee
    return Verdict(
        "not claimed" if guarantee.empty else guarantee.check_word,
        guarantee.sentence,
        checks,
        (PRODUCER, WORDS, *decisive(manifest)),
        core=guarantee.core,
        promised=promised(manifest),
        require_all=require_all,
        empty=guarantee.empty,
        conditions=" ".join(one.sentence for one in asked_for(manifest, checks)),
    )


@contextmanager
def _released(place: Place) -> Iterator[Released]:
    """Give the files of a release; copies of objects are there inside the block alone."""
    if isinstance(place, Path):
        yield Released(place)
        return
    with tempfile.TemporaryDirectory(prefix="graphveil-verify-") as folder:
        yield AtAddress(place, Path(folder))


def _second_reading(
    release: Path | None, original: Any, file: Path, reading: Mapping[str, Any] | None
) -> Check:
    if reading is None:
        record = read_owner(release).record
        reading = {} if record is None else record.reading
    changed = read_with_options(reading)
    if changed is not None:
        return changed
    beside = [Path(reading["nodes"]).resolve().parent] if reading.get("nodes") else []
    with database([file.resolve().parent, *beside]) as db:
        return CHECKED_KINDS[kind_of(original).name].read_again(db, original, file, reading)


def _checks(
    release: Released,
    raw: bytes,
    manifest: Manifest,
    original: Any,
    key: bytes | None,
    limit_bytes: int,
) -> list[Check]:
    """Return every check of a release."""
    # Step 1: what needs no data: the manifest and its parameters, and the bytes of the files.
    folder = release.folder
    owner = read_owner(folder)
    checks = manifest_checks(raw, manifest, owner)
    checks += named({PARAMETERS: parameters_check(manifest)})
    kind = CHECKED_KINDS[manifest.data.kind]
    checks += file_checks(release, manifest, kind, limit_bytes)
    # Step 2: load the data into a database that sees these folders and nothing else.
    folders = [release.around] if folder is None else [folder, private_folder(folder)]
    size = sum(file.bytes for file in manifest.data.files)
    with database(folders, limit_bytes=limit_bytes, size=size) as db:
        # Step 3: the shape of the data, and the claim as far as the data alone decides it.
        data, readable = _data_checks(db, release, manifest, kind)
        evidence = Evidence(manifest, kind, readable, owner.record, key=key)
        evidence = evidence._replace(levels=owner.levels, witness=owner.witness)
        claimed = [*claim_checks(evidence, of="data"), *named(people_in_rows(evidence))]
        # Step 4: link the original, if it is given, and check what only it decides.
        linked, evidence = original_checks(evidence, owner, original)
        compared = [*claim_checks(evidence, of="original"), *levels_checks(evidence)]
        compared += cost_checks(evidence)
        return [*checks, *data, *claimed, *linked, *compared, *ledger_checks(evidence)]


def _data_checks(
    db: Database, release: Released, manifest: Manifest, kind: CheckedKind
) -> tuple[list[Check], Database | None]:
    """Return whether the data can be read, and what its shape and counts are."""
    described = manifest.data
    keyed = KeyedIds() in manifest.claim.conditions
    try:
        load(db, release, described, kind)
    except UnreadableError as error:
        unread = dict.fromkeys((*kind.shape_names, COUNTS), not_checked(UNREADABLE))
        return named({READ: Check("", "fails", str(error), error.needs), **unread}), None
    checks = {READ: holds(f"{counted(len(described.files), 'file')} could be read")}
    counts = {COUNTS: counts_check(db, described, kind)}
    return named(checks | kind.shape(db, described, keyed) | counts), db
