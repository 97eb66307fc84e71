"""Whether a manifest says what the method that it names says: one more check beside the checker's.

The checker knows promises and no method. Where this version of the program knows the method as
well, the manifest can be compared with it: words, parameters, guarantee and conditions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from graphveil.anonymizer import Anonymizer
from graphveil.claims.condition import Condition
from graphveil.claims.conditions import PeopleAsItems
from graphveil.claims.flips import BlockFlips, CellFlips
from graphveil.data import Bipartite, Graph, Table
from graphveil.data.encoding import accepted_kinds
from graphveil.data.objects import as_original
from graphveil.errors import GraphveilError, ParameterError
from graphveil.methods import METHODS
from graphveil.methods.earlier_limits import said_earlier
from graphveil.records.manifest import Manifest, read_manifest
from graphveil.records.record import read_record
from graphveil.release.files import kind_of
from graphveil.verify import LIMIT_BYTES, Check, Verdict, verify
from graphveil.verify.original import ids_in
from graphveil.verify.verdict import RECORD, fails, judged, not_checked, shown

if TYPE_CHECKING:
    from graphveil.methods.rename import Key

METHOD = "method"


def verify_release(
    folder: str | Path,
    *,
    original: Any = None,
    original_file: str | Path | None = None,
    key: Key | str | Path | bytes | None = None,
    limit_bytes: int = LIMIT_BYTES,
) -> Verdict:
    """Return whether a release keeps its promise, recomputed from its files alone.

    As `graphveil.verify.verify`, and one check more: whether the manifest says what the method
    that it names says of itself with these parameters.

    Parameters
    ----------
    folder
        The release folder. The owner's private folder is looked for beside it.
    original
        The data that it was made from, also as an object of another library. Without it, checks
        that need it are not checked.
    original_file
        The file that the original was read from without options, or a table with those of the
        private record: plain text is read a second time, by code of the checker's own.
    key
        The key that ids were made with, or its file; without it that is not checked.
    limit_bytes
        The most that the content of one file may take in memory; a larger one is not read.

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
    >>> with TemporaryDirectory() as scratch:
    ...     folder = gv.KDegree(k=2).anonymize(graph).write(Path(scratch, "path-k2"))
    ...     gv.verify_release(folder, original=graph).complete
    True
    """
    file = None if original_file is None else Path(original_file)
    verdict = verify(
        folder,
        original=original,
        original_file=file,
        key=None if key is None else _secret(key),
        limit_bytes=limit_bytes,
    )
    try:
        manifest = read_manifest(Path(folder))
    except GraphveilError:
        return verdict  # which says why already
    agreed = agreement(manifest, _withheld(Path(folder)), original)
    return msgspec.structs.replace(verdict, checks=[*verdict.checks, agreed])


def _secret(key: Key | str | Path | bytes) -> bytes:
    from graphveil.methods.rename import Key  # noqa: PLC0415  few releases have ids from a key

    return (key if isinstance(key, Key) else Key.parse(key)).secret()


def agreement(
    manifest: Manifest, withheld: Mapping[str, Any] | None, original: Any = None
) -> Check:
    """Return whether the manifest says what its method says of itself with these parameters.

    Parameters
    ----------
    manifest
        The manifest.
    withheld
        The parameters that only the owner's record holds; None where there is no record.
    original
        The data that the release was made from, or None. What is said of a method that nobody
        knows could be anything: ids of the original are looked for in it, but for those that are
        words of the known methods' texts.
    """
    name = manifest.method.name
    method = METHODS.get(name)
    if method is None:
        return _unknown(manifest, original)
    kinds = [kind_of(kind) for kind in accepted_kinds(method.accepts)]
    if manifest.data.kind not in kinds:
        return fails(METHOD, f"{name} makes a {kinds[0]}, not a {manifest.data.kind}")
    private, stated = method.private_parameters(), manifest.method.parameters
    if private & set(stated):
        return fails(METHOD, f"the parameter {min(private & set(stated))} is published")
    try:
        own = method.from_parameters({**stated, **(withheld or {})})
    except ParameterError as error:
        if private and withheld is None:
            return not_checked(METHOD, "whether its parameters make this claim", needs=RECORD)
        return fails(METHOD, f"{name}: {error}")
    may_state = method.may_state if withheld is None else ()
    problems = _differences(manifest, own, may_state)
    agreed = f"{name} says this of itself; numbers that follow from the draw are not compared"
    return judged(METHOD, problems, agreed)


def _unknown(manifest: Manifest, original: Any) -> Check:
    """Return what can be said of a method that this version does not know."""
    method, claim = manifest.method, manifest.claim
    unknown = f"this version knows no method {shown(method.name)}"
    if original is None:
        return not_checked(METHOD, unknown)
    container = next(
        kind for kind in (Graph, Bipartite, Table) if kind_of(kind) == manifest.data.kind
    )
    data = as_original(original, container, wanted_by="verify")
    common = "\n".join(text for known in METHODS.values() for text in (known.source, known.limits))
    for text in (method.name, method.source, claim.does_not_protect_against):
        ids = sorted(set(ids_in(data, text)).difference(ids_in(data, common)))
        if ids:
            return fails(METHOD, f"{unknown}, and the id {shown(ids[0])} stands in {shown(text)}")
    return not_checked(
        METHOD,
        f"{unknown}; no text id of the original stands in its words, but such as known methods use",
    )


def _differences(
    manifest: Manifest, method: Anonymizer[Any], may_state: tuple[type[Condition], ...]
) -> list[str]:
    claim, stated, own = manifest.claim, manifest.method.parameters, method.provenance
    problems = []
    if manifest.method.source != own.source:
        problems.append(f"the source is {shown(manifest.method.source)}")
    said = claim.does_not_protect_against
    if said != own.limits and not said_earlier(own.method, said):
        problems.append(f"the text on limits is {shown(said)}")
    problems += [
        f"the parameter {name} is {shown(stated.get(name))}, {own.method} writes {shown(value)}"
        for name, value in own.parameters.items()
        if name not in stated or stated[name] != value or type(stated[name]) is not type(value)
    ]
    if not method.guarantee.covers(claim.guarantee):
        problems.append(f"{own.method} with these parameters promises: {method.guarantee.sentence}")
    problems += _other_parts(claim.conditions, method)
    return problems + _other_conditions(manifest, method, may_state)


def _other_parts(conditions: Sequence[Condition], method: Anonymizer[Any]) -> list[str]:
    """Return whether cells have another part of epsilon than counts leave them, to the last digit.

    Nearly the same chances follow from parts that are nearly the same, so digits could hold a text.
    Without a count the checker itself knows the part.
    """
    own = str(method.epsilon_cells)
    return [
        f"beside a noisy count cells have epsilon_cells={shown(stated.epsilon_cells)}, with these "
        f"parameters {own}"
        for stated in conditions
        if isinstance(stated, CellFlips | BlockFlips)
        and stated.noisy_count is not None
        and stated.epsilon_cells != own
    ]


def _other_conditions(
    manifest: Manifest, method: Anonymizer[Any], may_state: tuple[type[Condition], ...]
) -> list[str]:
    """Return what is stated too little, or more than what the method states of such data.

    A condition of no method is no harmless one: its numbers would carry what they like.
    """
    own, left = method.provenance, list(manifest.claim.conditions)
    problems = []
    for condition in method.conditions:
        if condition in left:
            left.remove(condition)
        else:
            problems.append(f"it does not say: {condition.sentence}")
    for kind in method.states:
        stated = next((condition for condition in left if isinstance(condition, kind)), None)
        if stated is None:
            problems.append(f"it states no {kind.__name__}, which {own.method} always does")
        else:
            left.remove(stated)
    if manifest.data.kind == "bipartite" and PeopleAsItems() in left:
        left.remove(PeopleAsItems())
    left = [condition for condition in left if not isinstance(condition, may_state)]
    return problems + [f"{own.method} does not say: {condition.sentence}" for condition in left]


def _withheld(folder: Path) -> Mapping[str, Any] | None:
    try:
        record = read_record(folder)
    except (GraphveilError, OSError):
        return None
    return None if record is None else record.withheld
