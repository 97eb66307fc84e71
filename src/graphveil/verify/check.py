"""The whole check of a release folder, in order: manifest, files, data, claim, original."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from graphveil.claims import manifest as parts
from graphveil.claims.conditions import KeyedIds
from graphveil.claims.manifest import MANIFEST, Described, Manifest, manifest_bytes
from graphveil.claims.record import private_folder
from graphveil.core.errors import ResourceError
from graphveil.core.storage import Address, Place, place_of
from graphveil.core.text import counted, singular
from graphveil.data.kinds import kind_of
from graphveil.verify.database import LIMIT_BYTES, Database, UnreadableError, database
from graphveil.verify.files.folder import AtAddress, InFolder, Released, file_checks, strict_checks
from graphveil.verify.files.loading import load
from graphveil.verify.files.manifest import (
    PRODUCER,
    WORDS,
    decoded,
    manifest_checks,
    read_owner,
)
from graphveil.verify.kinds.kind import Evidence, checked_kind
from graphveil.verify.original import original_checks
from graphveil.verify.promises.claims import (
    claim_checks,
    cost_checks,
    decisive,
    ledger_checks,
    parameters_check,
    promised,
)
from graphveil.verify.promises.recheck import UNREADABLE
from graphveil.verify.verdict import (
    Check,
    Verdict,
    holds,
    judged,
    not_checked,
    shown,
)

READ, COUNTS = "data", "counts"
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

    Nothing of the program that made the release is used: the files are read anew, by SQL.

    Parameters
    ----------
    folder
        The release folder, beside which the owner's private folder is looked for; or its address.
    original
        The data that it was made from, also as an object of another library. Without it, checks
        that need it are not checked.
    original_file
        The file that the original was read from: text is read a second time, by code of the
        checker's own.
    reading
        The options with which the file was read; those of the private record where not given.
    key
        The key that the ids of a renamed release were made with; without it that is not checked.
    limit_bytes
        The most that the content of one file may take in memory; a larger one is not read. Of ties
        in Parquet, which are read some rows at a time: the memory for it.
    strict
        Whether links and extended attributes in the folder fail, too: no digest counts them.
    require_all
        Whether a check that was not made leaves the verdict undecided, whatever it is about.

    Returns
    -------
    Verdict
        Whatever is broken inside a release is a check that fails.

    Raises
    ------
    ReleaseError
        Where the folder is not a release: no folder, or one without a manifest.
    ResourceError
        Where the memory does not suffice, or a file is larger than `limit_bytes`.

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
    place = place_of(folder)
    if isinstance(place, Path):
        place = Path(os.path.abspath(place))  # noqa: PTH100  keeps links, and gives "." a name
    raw = manifest_bytes(place)
    manifest = decoded(raw)
    if isinstance(manifest, Check):
        return Verdict("not claimed", NOTHING, [manifest], require_all=require_all)
    try:
        with _released(place) as release:
            checks = _checks(release, raw, manifest, _Given(original, key), limit_bytes)
            checks += strict_checks(release.folder) if strict else []
            if original is not None and original_file is not None:
                checks.append(_second_reading(release.folder, original, original_file, reading))
    except (MemoryError, duckdb.OutOfMemoryException) as error:
        raise ResourceError(
            f"checking {place.name} needs more memory than is available. Run verify on a "
            "machine with more memory."
        ) from error
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
    )


@contextmanager
def _released(place: Place) -> Iterator[Released]:
    """Give the files of a release; copies of objects are there inside the block alone."""
    if isinstance(place, Path):
        yield InFolder(place)
        return
    with tempfile.TemporaryDirectory(prefix="graphveil-verify-") as folder:
        yield AtAddress(place, Path(folder))


class _Given(NamedTuple):
    """What the owner hands over: the original, and the key that ids come from."""

    original: Any
    key: bytes | None


def _second_reading(
    release: Path | None, original: Any, file: Path, reading: Mapping[str, Any] | None
) -> Check:
    if reading is None:
        record = read_owner(release).record
        reading = {} if record is None else record.reading
    beside = [Path(reading["nodes"]).resolve().parent] if reading.get("nodes") else []
    with database([file.resolve().parent, *beside]) as db:
        return checked_kind(kind_of(original).name).read_again(db, original, file, reading)


def _checks(
    release: Released, raw: bytes, manifest: Manifest, given: _Given, limit_bytes: int
) -> list[Check]:
    """Return every check of a release."""
    folder = release.folder
    owner = read_owner(folder)
    checks = manifest_checks(raw, manifest, owner)
    checks.append(parameters_check(manifest))
    checks += file_checks(release, manifest, limit_bytes)
    folders = [release.around] if folder is None else [folder, private_folder(folder)]
    size = sum(file.bytes for file in manifest.data.files)
    with database(folders, limit_bytes=limit_bytes, size=size) as db:
        data, readable = _data_checks(db, release, manifest)
        evidence = Evidence(
            manifest,
            readable,
            owner.record,
            key=given.key,
            levels=owner.levels,
            witness=owner.witness,
        )
        claimed = claim_checks(evidence, of="data")
        linked, evidence = original_checks(evidence, owner, given.original)
        compared = [*claim_checks(evidence, of="original"), *cost_checks(evidence)]
        return [*checks, *data, *claimed, *linked, *compared, *ledger_checks(evidence)]


def _data_checks(
    db: Database, release: Released, manifest: Manifest
) -> tuple[list[Check], Database | None]:
    """Return whether the data can be read, and what its shape and counts are."""
    described = manifest.data
    kind, keyed = checked_kind(described.kind), KeyedIds() in manifest.claim.conditions
    try:
        load(db, release, described)
    except UnreadableError as error:
        unread = [not_checked(name, UNREADABLE) for name in (*kind.shape_names, COUNTS)]
        return [Check(READ, "fails", str(error), error.needs), *unread], None
    checks = [holds(READ, f"{counted(len(described.files), 'file')} could be read")]
    return [*checks, *kind.shape(db, described, keyed), _counts_check(db, described)], db


def _counts_check(db: Database, described: Described) -> Check:
    """Return whether counts and numbers of rows are those of the data."""
    shape = checked_kind(described.kind)
    counts = shape.counts(db, described)
    words = {name: counted(n, singular(name.replace("_", " "))) for name, n in counts.items()}
    problems = [
        (
            f"{words[name]} in the data, but {MANIFEST} states "
            f"{described.counts.get(name, 'nothing')}"
        )
        for name in counts
        if counts[name] != described.counts.get(name)
    ]
    problems += [
        f"{shown(name)} is not a count for data of kind {described.kind}"
        for name in described.counts
        if name not in counts
    ]
    rows = {} if parts.in_parts(described.files) else shape.rows  # those of a part were counted
    problems += [
        (
            f"{shown(file.name)} has {counted(counts[rows[file.role]], 'row')}, but {MANIFEST} "
            f"states {file.rows}"
        )
        for file in described.files
        if file.role in rows and counts[rows[file.role]] != file.rows
    ]
    listed = ", ".join(
        counted(count, singular(name.replace("_", " "))) for name, count in counts.items()
    )
    return judged(COUNTS, problems, listed)
