"""The verb verify: the guarantee of a release, recomputed from its files."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from graphveil.claims.manifest import read_manifest
from graphveil.claims.record import read_record
from graphveil.core.errors import GraphveilError
from graphveil.core.storage import Address, Place, place_of
from graphveil.io.formats import recorded
from graphveil.methods.consistency import METHOD, REWORDED, consistency_check
from graphveil.methods.registry import known_method
from graphveil.release import Release
from graphveil.verbs.read import (
    Original,
    as_release,
    original_on_disk,
    read_original,
    refuse_release,
)
from graphveil.verify.check import verify as verify_files
from graphveil.verify.verdict import LIMIT_BYTES, Verdict, named

if TYPE_CHECKING:
    from graphveil.methods.rename import Key


def verify_release(  # noqa: PLR0913  each is a flag of the command
    release: Release[Any] | str | Path | Address,
    original: Any = None,
    *,
    original_file: str | Path | None = None,
    key: Key | str | Path | bytes | None = None,
    trust_method: str | None = None,
    limit_bytes: int = LIMIT_BYTES,
    strict: bool = False,
    require_all: bool = False,
    on_disk: bool = False,
) -> Verdict:
    """Return whether the guarantee of a release holds, recomputed from its files.

    What only the original shows, such as that nothing was added, is not checked without it; the
    verdict lists it and holds all the same, unless `require_all` is set. No file shows noise:
    of differential privacy it is checked that nothing stated contradicts it.

    Parameters
    ----------
    release
        The release folder, next to which the owner's private folder is looked for; its address,
        such as ``s3a://bucket/lists-k8``, of which each file is copied here and so read once; or a
        release in memory, which is written to a temporary folder and checked from there.
    original
        The data that it was made from, an object of another library that holds it, or the name of
        its file, which is read as the owner's record says. Without it, checks that need it are not
        checked.
    original_file
        The file that the original was read from, with the options of the private record: text is
        read a second time, by code of the checker's own.
    key
        The key that ids were made with, or its file; without it that is not checked.
    trust_method
        The name of a method that this version does not know and the caller vouches for: what the
        manifest says of it is not compared with anything.
    limit_bytes
        The most that the content of one file may take in memory; a larger one is not read. Of edges
        in Parquet, which are read some rows at a time: the memory for it.
    strict
        Whether links and extended attributes in the folder fail, too: no digest counts them.
    require_all
        Whether a check that was not made leaves the verdict undecided, whatever it is about.
    on_disk
        Whether the edges of an original that is given as a file stay on the disk: for networks
        larger than memory.

    Returns
    -------
    Verdict
        Every check with its outcome, and the verdict over all of them.

    Raises
    ------
    ReleaseError
        Where the folder is not a release: no folder, or one without a manifest.
    ResourceError
        Where the memory does not suffice, or a file is larger than `limit_bytes`.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = gv.KDegree(k=2).anonymize(graph)
    >>> gv.verify_release(release, graph).complete
    True
    """
    given: dict[str, Any] = {"original_file": original_file, "key": key, "strict": strict}
    given |= {"trust_method": trust_method, "limit_bytes": limit_bytes, "require_all": require_all}
    if isinstance(release, str):
        release = place_of(release)
    if not isinstance(release, Address):
        release = as_release(release, wanted_by="verify")
    if isinstance(release, Release):
        with tempfile.TemporaryDirectory(prefix="graphveil-") as scratch:
            written = release.write(Path(scratch, "release"))
            return verify_release(written, original, **given)
    folder = release
    refuse_release(original)
    if isinstance(original, str | Path):
        if on_disk:
            with original_on_disk(folder, original) as mapped:
                return verify_release(folder, mapped, **given)
        original = read_original(folder, original)
    data, file, reading = original, original_file, None
    if isinstance(original, Original):
        data, file, reading = original.data, original.file, recorded(original.options)
        people = getattr(original.options, "nodes", None)  # no name of a file is in the record
        reading |= {} if people is None else {"nodes": str(people)}
    verdict = verify_files(
        folder,
        original=data,
        original_file=None if file is None else Path(file),
        reading=reading,
        key=None if key is None else _secret(key),
        limit_bytes=limit_bytes,
        strict=strict,
        require_all=require_all,
    )
    try:
        manifest = read_manifest(folder)
    except GraphveilError:
        return verdict  # which says why already
    agreed = consistency_check(manifest, _withheld(folder), data, trusted=trust_method)
    name = manifest.method.name
    unknown = None if name == trust_method or known_method(name) else name
    reworded = (METHOD,) if agreed.detail.startswith(REWORDED) else ()
    return msgspec.structs.replace(
        verdict,
        checks=[*verdict.checks, *named({METHOD: agreed})],
        decisive=(*verdict.decisive, *reworded),
        unknown_method=unknown,
    )


def _secret(key: Key | str | Path | bytes) -> bytes:
    from graphveil.methods.rename import Key  # noqa: PLC0415  few releases have ids from a key

    return (key if isinstance(key, Key) else Key.parse(key)).secret()


def _withheld(folder: Place) -> Mapping[str, Any] | None:
    """Return the parameters that only the owner's record holds; None where there is no record."""
    try:
        record = read_record(folder)
    except (GraphveilError, OSError):
        return None
    return None if record is None else record.withheld
