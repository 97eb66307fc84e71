"""The whole check of a release folder, in order: manifest, files, data, claim, original."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import numpy as np

from graphveil.claims import parts
from graphveil.claims.conditions import AttachedColumns, Generalized, KeyedIds
from graphveil.claims.facts import is_digest_of
from graphveil.claims.manifest import MANIFEST, ColumnCells, Described, Manifest, manifest_bytes
from graphveil.claims.record import LINKAGE as LINKAGE_FILE
from graphveil.claims.record import private_folder
from graphveil.core.errors import ResourceError
from graphveil.core.storage import Address, Place, place_of
from graphveil.core.text import counted, singular
from graphveil.data import Data
from graphveil.data.id_columns import FEW, named_as_people, sign_of_people
from graphveil.data.ids import as_ids
from graphveil.data.kinds import KINDS, as_original, beside, kind_of
from graphveil.verify import evidence as claims
from graphveil.verify import verdict
from graphveil.verify.database import Database, UnreadableError, database
from graphveil.verify.evidence import Evidence, checked_kind
from graphveil.verify.files import folder as files
from graphveil.verify.files.folder import Owner, Released, load
from graphveil.verify.recount import linked as links
from graphveil.verify.recount.linked import released_ids
from graphveil.verify.verdict import (
    LIMIT_BYTES,
    Check,
    Verdict,
    fails,
    holds,
    judged,
    named,
    not_checked,
    shown,
)

SAME, SIZE, BIJECTION, ROWS = "original", "same size", "linkage", "rows and people"
ORDER, NAMES = verdict.OF_EVERY_RELEASE
_OPEN = {
    ORDER: "whether new ids and their order reveal nothing about the original",
    NAMES: "whether no original id is published",
}
"""What is stated of every release and stays open without the original."""

_BY_CHOICE = "the owner chose to leave open whether they are people there"
_DIGIT = re.compile(r"[0-9]")
_CHOICE = re.compile(r"[a-z-]{1,30}|([a-z-]{1,20}:)?[0-9./e-]{1,40}[a-z]{0,8}")
"""A parameter's value that is one lower-case word, or a number with a word before or behind it."""


def original_checks(
    evidence: Evidence, owner: Owner, original: Any
) -> tuple[list[Check], Evidence]:
    """Return the checks that the original decides, and all that there is once it is linked."""
    manifest, db, kind = evidence.manifest, evidence.db, evidence.kind
    names = (SIZE, *kind.shared_names, BIJECTION, ORDER)
    if original is None:
        absent = "no original was given"
        every = dict.fromkeys((SAME, *names, NAMES), absent) | _OPEN
        unmade = {n: not_checked(why, needs=verdict.ORIGINAL) for n, why in every.items()}
        return named(unmade | _rows(manifest, owner, None)), evidence
    container = KINDS[manifest.data.kind].container
    exact = manifest.data.columns is not msgspec.UNSET
    original = as_original(original, container, wanted_by="verify", exact=exact)
    original = beside(original, container, people=evidence.has_people)
    same = _same(manifest, owner, original)
    further = _rows(manifest, owner, original) | {NAMES: _no_original_ids(evidence, original)}
    if same.outcome == "fails" or db is None:
        why = claims.UNREADABLE if db is None else "a different original was given"
        unlinked = {SAME: same, **dict.fromkeys(names, not_checked(why))}
        return named(unlinked | further), evidence._replace(why_not=why)
    published = kind.published if evidence.keyed else None
    linkage = _linkage(db, owner, original, published)
    linked = linkage.outcome == "holds"
    compared = evidence._replace(original=original, linked=linked)
    shared = kind.shared(compared)
    order = _order(db, original, linked=linked)
    size = db.number(f"SELECT count(*) FROM {kind.tables[0]}")
    people = KINDS[manifest.data.kind].people
    other = [f"{size} {people} in the release, but {original.size} in the original"]
    sizes = judged(other if size != original.size else [], f"{size} {people} in both")
    made = (same, sizes, *shared.checks, linkage, order)
    checks = named(dict(zip((SAME, *names), made, strict=True)) | further)
    if shared.why_not is not None:
        return checks, evidence._replace(why_not=shared.why_not)
    if linked:
        kind.link(db, original, released_ids(db))
    return checks, compared


def _same(manifest: Manifest, owner: Owner, original: Data) -> Check:
    kind = kind_of(original).name
    if kind != manifest.data.kind:
        return fails(
            f"the release is of kind {manifest.data.kind}, but the original given is of kind {kind}"
        )
    if owner.record is None:
        return not_checked("whether the release was made from this data", needs=verdict.RECORD)
    if is_digest_of(owner.record.input_sha256, original):
        return holds(f"the {kind} given has the digest stated in the private record")
    another = f"this is not the original: the {kind} given has a different digest"
    return fails(another + _another_number(manifest, original))


def _rows(manifest: Manifest, owner: Owner, original: Data | None) -> dict[str, Check]:
    """Return whether the owner said what the guarantee says of rows; none where it says nothing.

    What counts is what the input was read with; where nothing was read, what the original says.
    """
    claimed = getattr(manifest.claim.guarantee, "person", None)
    given = getattr(original, "person", None)
    if claimed is msgspec.UNSET and given is not None:
        return {ROWS: fails("the original is a table, but the guarantee is of users")}
    if claimed not in ("row", "column"):
        return {}
    reading = {} if owner.record is None else owner.record.reading
    if "person" in reading:
        named = reading["person"] not in (None, "row")
        given = "column" if named else "row" if reading["person"] else "assumed"
    elif original is None:
        why = "whether the owner said that rows are people"
        return {ROWS: not_checked(why, needs=verdict.ORIGINAL)}
    elif given == "assumed":
        why = "the original given does not say whether its rows are people"
        return {ROWS: not_checked(why, needs="the option person")}
    if given == claimed:
        return {ROWS: holds("each row is a different person, as was said when the data was read")}
    return {ROWS: fails(f"the guarantee says {claimed}, but the owner's data says {given}")}


def _people_in_rows(evidence: Evidence) -> dict[str, Check]:
    """Return a failing check where a column names people who repeat, and nobody said what rows are.

    No run releases such a table: it asks. Attached columns count by their names and values, known
    ones by their names, if they have `FEW` values or more and nothing is generalized. That a column
    determines many others, or holds codes, is tested only when a table is released: suppressed and
    generalized cells hide it. So the guarantee keeps its condition, "assuming that each row is a
    different person".
    """
    claim, is_table = evidence.manifest.claim, evidence.manifest.data.kind == "table"
    assumed = getattr(claim.guarantee, "person", None) == "assumed"
    if evidence.db is None or not (is_table and assumed):
        return {}
    stated = claim.conditions
    attached = {n for one in stated if isinstance(one, AttachedColumns) for n in one.columns}
    generalized = any(isinstance(one, Generalized) for one in stated)
    for at, name in enumerate(evidence.columns):
        if name not in attached and (generalized or not named_as_people(name)):
            continue
        cells = f"SELECT c{at}, count(*) FROM shown WHERE c{at} IS NOT NULL GROUP BY ALL ORDER BY 1"
        found = dict(evidence.db.rows(cells))
        values, sizes = list(found), list(found.values())
        if max(sizes, default=0) > 1 and (name in attached or len(values) >= FEW):
            sign = sign_of_people(name, as_ids(values, what=name), np.array(sizes))
            if sign:
                n = f"{counted(len(values), 'value')} in {counted(sum(sizes), 'row')}"
                why = "but nobody said what a row is: no run releases such a table"
                return {ROWS: fails(f"{shown(name)} may identify people ({n}, {sign}), {why}")}
    return {}


def _another_number(manifest: Manifest, original: Data) -> str:
    """Return what to try where the original given has not as many nodes or users as the release."""
    what = KINDS[manifest.data.kind].everyone
    released = manifest.data.counts.get(what or "")
    if what is None or released is None or released == original.size:
        return ""
    return (
        f" and {counted(original.size, singular(what))}, but the release has "
        f"{released}. If it was made with --{what}, give the same list again"
    )


def _linkage(db: Database, owner: Owner, original: Data, published: str | None) -> Check:
    """Whether the linkage gives each original id one published id, and each of those to one."""
    if not owner.linkage:
        return not_checked("which node stands for which", needs=verdict.LINKAGE)
    try:
        links.load_linkage(db, owner.linkage, original)
    except duckdb.Error as error:
        return fails(f"{LINKAGE_FILE} cannot be read: {verdict.one_line(error)}")
    n = original.size
    otherwise = f"{n} original ids and {n} published ids, matched one to one"
    return judged(links.linkage_problems(db, LINKAGE_FILE, published), otherwise)


def _order(db: Database, original: Data, *, linked: bool) -> Check:
    """Whether new ids and their order are such as chance gives, for any linkage."""
    if not linked:
        return not_checked(_OPEN[ORDER], needs=verdict.LINKAGE)
    labels = original.labels()
    released = np.asarray(released_ids(db), dtype=np.int64)
    integers = labels if labels.dtype.kind == "i" else None
    n = f"{original.size} new ids"
    return judged(
        links.order_leaks(released, integers), f"the order of {n} is consistent with chance"
    )


def _no_original_ids(evidence: Evidence, original: Data) -> Check:
    """Whether no id of the original is published: as a word of a parameter, or as a name.

    Other texts are compared: what a method says of itself where the method is known, and the
    version is made of numbers. Choices of one lower-case word say nothing of the data. That an id
    is the name of an item or a value of a column is the owner's choice: whether it is a person
    there, nobody can say. Integers cannot be distinguished from other numbers: they pass where
    there is no other number.
    """
    n, stated = original.size, evidence.manifest.method.parameters.values()
    texts = [text for text in stated if isinstance(text, str) and not _CHOICE.fullmatch(text)]
    numbers = original.labels().dtype.kind == "i"
    problems = []
    hits = ids_in(original, "\n".join(texts))
    if hits:
        text = next(text for text in texts if hits[0] in text)
        problems.append(f"{len(hits)} of {n} original ids are in {shown(text)}")
    among = evidence.kind.ids_among_names(evidence, original)
    problems += [
        f"{len(each.ids)} of {n} original ids are {each.published_as}; {each.strange} of "
        f"them {'names' if each.strange == 1 else 'name'} no feature of the original"
        for each in among
        if each.strange and not numbers
    ]
    if problems:
        return fails("; ".join(problems))
    with_digits = next((text for text in texts if _DIGIT.search(text)), None)
    if numbers and with_digits is not None:
        alike = f"integers cannot be distinguished from other numbers in {shown(with_digits)}"
        return not_checked(alike)
    if among:
        ids, published_as, _ = among[0]
        open_ = "integers cannot be distinguished from other numbers" if numbers else _BY_CHOICE
        return not_checked(f"{len(ids)} of {n} original ids are {published_as}, and {open_}")
    if numbers:
        return holds(f"no text parameter could hold one of {n} original ids")
    return holds(f"none of {n} original ids is in a parameter or a published name")


def ids_in(original: Data, text: str) -> list[str]:
    """Return the text ids of the original that stand in a text as words."""
    labels = original.labels()
    if labels.dtype.kind == "i":
        return []
    found = [label for label in labels.tolist() if label and label in text]
    return [one for one in found if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text)]


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

    Nothing of the program that made the release is used: the files are read anew, by SQL. Whatever
    is broken inside a release is a check that fails.

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
    manifest = files.decoded(raw)
    if isinstance(manifest, Check):
        unread = named({files.BYTES: manifest})
        return Verdict("not claimed", NOTHING, unread, require_all=require_all)
    try:
        with _released(place) as release:
            checks = _checks(release, raw, manifest, original, key, limit_bytes)
            checks += files.strict_checks(release.folder) if strict else []
            if original is not None and original_file is not None:
                again = _second_reading(release.folder, original, original_file, reading)
                checks += named({verdict.TWICE: again})
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
        (files.PRODUCER, files.WORDS, *claims.decisive(manifest)),
        core=guarantee.core,
        promised=claims.promised(manifest),
        require_all=require_all,
        empty=guarantee.empty,
        conditions=" ".join(one.sentence for one in claims.asked_for(manifest, checks)),
    )


@contextmanager
def _released(place: Place) -> Iterator[Released]:
    """Give the files of a release; copies of objects are there inside the block alone."""
    if isinstance(place, Path):
        yield Released(place)
        return
    with tempfile.TemporaryDirectory(prefix="graphveil-verify-") as folder:
        yield files.AtAddress(place, Path(folder))


def _second_reading(
    release: Path | None, original: Any, file: Path, reading: Mapping[str, Any] | None
) -> Check:
    if reading is None:
        record = files.read_owner(release).record
        reading = {} if record is None else record.reading
    beside = [Path(reading["nodes"]).resolve().parent] if reading.get("nodes") else []
    with database([file.resolve().parent, *beside]) as db:
        return checked_kind(kind_of(original).name).read_again(db, original, file, reading)


def _checks(
    release: Released,
    raw: bytes,
    manifest: Manifest,
    original: Any,
    key: bytes | None,
    limit_bytes: int,
) -> list[Check]:
    """Return every check of a release."""
    folder = release.folder
    owner = files.read_owner(folder)
    checks = files.manifest_checks(raw, manifest, owner)
    checks += named({claims.PARAMETERS: claims.parameters_check(manifest)})
    checks += files.file_checks(release, manifest, limit_bytes)
    folders = [release.around] if folder is None else [folder, private_folder(folder)]
    size = sum(file.bytes for file in manifest.data.files)
    with database(folders, limit_bytes=limit_bytes, size=size) as db:
        data, readable = _data_checks(db, release, manifest)
        evidence = Evidence(manifest, readable, owner.record, key=key)
        evidence = evidence._replace(levels=owner.levels, witness=owner.witness)
        claimed = [*claims.claim_checks(evidence, of="data"), *named(_people_in_rows(evidence))]
        linked, evidence = original_checks(evidence, owner, original)
        compared = [*claims.claim_checks(evidence, of="original"), *claims.cost_checks(evidence)]
        return [*checks, *data, *claimed, *linked, *compared, *claims.ledger_checks(evidence)]


def _data_checks(
    db: Database, release: Released, manifest: Manifest
) -> tuple[list[Check], Database | None]:
    """Return whether the data can be read, and what its shape and counts are."""
    described = manifest.data
    kind, keyed = checked_kind(described.kind), KeyedIds() in manifest.claim.conditions
    try:
        load(db, release, described)
    except UnreadableError as error:
        unread = dict.fromkeys((*kind.shape_names, COUNTS), not_checked(claims.UNREADABLE))
        return named({READ: Check("", "fails", str(error), error.needs), **unread}), None
    checks = {READ: holds(f"{counted(len(described.files), 'file')} could be read")}
    counts = {COUNTS: _counts_check(db, described)}
    return named(checks | kind.shape(db, described, keyed) | counts), db


def _cells_problems(found: list[ColumnCells], stated: list[ColumnCells]) -> list[str]:
    """Return which column shows other cells than the manifest states."""
    if [one.name for one in found] != [one.name for one in stated]:
        return [f"{MANIFEST} does not state the cells of each column of the data"]
    return [
        f"{shown(one.name)} shows {counted(one.values, 'value')}, {one.generalized} generalized "
        f"and {one.suppressed} suppressed, but {MANIFEST} states {said.values}, "
        f"{said.generalized} and {said.suppressed}"
        for one, said in zip(found, stated, strict=True)
        if one != said
    ]


def _counts_check(db: Database, described: Described) -> Check:
    """Return whether counts and numbers of rows are those of the data."""
    shape = checked_kind(described.kind)
    counts = shape.counts(db, described)
    words = {name: counted(n, singular(name.replace("_", " "))) for name, n in counts.items()}
    problems = [
        f"{words[name]} in the data, but {MANIFEST} states {described.counts.get(name, 'nothing')}"
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
        f"{shown(file.name)} has {counted(counts[rows[file.role]], 'row')}, but {MANIFEST} "
        f"states {file.rows}"
        for file in described.files
        if file.role in rows and counts[rows[file.role]] != file.rows
    ]
    problems += _cells_problems(shape.cells(db, described), described.cells or [])
    listed = ", ".join(
        counted(count, singular(name.replace("_", " "))) for name, count in counts.items()
    )
    return judged(problems, listed)
