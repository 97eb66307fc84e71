"""The original beside a release: whether it is the one, and who stands for whom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np

from graphveil.claims.conditions import PeopleAsItems
from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.data.ids import as_text, to_arrow
from graphveil.data.kinds import encoded
from graphveil.data.objects import as_original
from graphveil.records.digest import digest_of
from graphveil.records.manifest import Manifest
from graphveil.records.record import LINKAGE as LINKAGE_FILE
from graphveil.verify.database import Database
from graphveil.verify.files.manifest import Owner
from graphveil.verify.promises.evidence import Evidence
from graphveil.verify.recount.linked import (
    PUBLISHED,
    link,
    linkage_problems,
    load_linkage,
    released_ids,
)
from graphveil.verify.verdict import (
    LINKAGE,
    ORIGINAL,
    RECORD,
    Check,
    counted,
    fails,
    holds,
    judged,
    not_checked,
    one_line,
    shown,
)

SAME, SIZE, ITEMS, BIJECTION = "original", "same size", "items", "linkage"
COLUMNS = "columns"
NAMES = "no original ids"
_CONTAINERS = {"graph": Graph, "bipartite": Bipartite, "table": Table}
_KINDS = {"Graph": "graph", "Bipartite": "bipartite", "Table": "table"}
_NOUNS = {"graph": "nodes", "bipartite": "users", "table": "rows"}
_TABLES = {"graph": "nodes", "bipartite": "users", "table": "cells"}
_STRANGE_ITEMS = (
    "SELECT item FROM (SELECT DISTINCT item FROM entries) ANTI JOIN features USING (item)"
)
_CHOICE = re.compile(r"[a-z-]{1,30}|([a-z-]{1,20}:)?[0-9./e-]{1,40}[a-z]{0,8}")
"""A parameter's value that is one lower-case word, or a number with a word before or behind it."""


def original_checks(
    evidence: Evidence, owner: Owner, original: Any
) -> tuple[list[Check], Evidence]:
    """Return the checks that the original decides, and all that there is once it is linked.

    Parameters
    ----------
    evidence
        What there is without the original.
    original
        The owner's data, or None: then nothing here is checked. A table is compared with a release
        of users and features as its one-hot encoding, a graph as the neighbors of everyone; items
        of which nothing is said are people where the manifest says so.
    """
    manifest, db = evidence.manifest, evidence.db
    if original is not None:
        original = as_original(original, _CONTAINERS[manifest.data.kind], wanted_by="verify")
    if original is not None and manifest.data.kind == "bipartite":
        original = _as_features(original, people=_has_people(manifest))
    named_alike = {"bipartite": (ITEMS,), "table": (COLUMNS,)}.get(manifest.data.kind, ())
    names = (SIZE, *named_alike, BIJECTION)
    if original is None:
        absent = "no original was given"
        every = (SAME, *names, NAMES)
        return [not_checked(name, absent, needs=ORIGINAL) for name in every], evidence
    same = _same(manifest, owner, original)
    named = _no_original_ids(db, manifest, original)
    if same.outcome == "fails" or db is None:
        why = "the released data cannot be read" if db is None else "another original was given"
        unlinked = [same, *(not_checked(name, why) for name in names), named]
        return unlinked, evidence._replace(why_not=why)
    published = PUBLISHED[manifest.data.kind] if evidence.keyed else None
    linkage = _linkage(db, owner, original, published)
    linked = linkage.outcome == "holds"
    checks = [same, _size(db, manifest, original)]
    if isinstance(original, Bipartite):
        checks.append(_items(db, original, people=_has_people(manifest), linked=linked))
    if isinstance(original, Table):
        checks.append(_columns(evidence.columns, original))
        if checks[-1].outcome == "fails":
            return [*checks, linkage, named], evidence._replace(why_not=checks[-1].detail)
    if linked:
        link(db, original)
    return [*checks, linkage, named], evidence._replace(original=original, linked=linked)


def _as_features(original: Data, *, people: bool) -> Data:
    """Return the original as users by features, where it can be what the manifest describes."""
    if people or not isinstance(original, Graph):
        original = encoded(original, Bipartite)
    if people and isinstance(original, Bipartite) and original.items is None:
        return original.with_items("people")
    return original


def _has_people(manifest: Manifest) -> bool:
    """Whether the manifest says that items are people."""
    return any(isinstance(value, PeopleAsItems) for value in manifest.claim.conditions)


def _same(manifest: Manifest, owner: Owner, original: Data) -> Check:
    kind = _KINDS[type(original).__name__]
    if kind != manifest.data.kind:
        return fails(SAME, f"the release is a {manifest.data.kind}, the original given a {kind}")
    if owner.record is None:
        return not_checked(SAME, "whether this is the data it was made from", needs=RECORD)
    if owner.record.input_sha256 == digest_of(original):
        return holds(SAME, f"the {kind} given has the digest of the owner's record")
    another = f"this is not the original: the {kind} given has another digest"
    return fails(SAME, another + _another_number(manifest, original))


def _another_number(manifest: Manifest, original: Data) -> str:
    """Return what to try where the original given has not as many nodes or users as the release."""
    what = _NOUNS[manifest.data.kind]
    released = manifest.data.counts.get(what)
    if released is None or released == original.size or manifest.data.kind == "table":
        return ""
    return (
        f" and {counted(original.size, what.removesuffix('s'))}, the release has {released}. "
        f"If it was made with --{what}, give the same list again"
    )


def _size(db: Database, manifest: Manifest, original: Data) -> Check:
    what = _NOUNS[manifest.data.kind]
    released = db.number(f"SELECT count(*) FROM {_TABLES[manifest.data.kind]}")
    if released == original.size:
        return holds(SIZE, f"{released} {what} in both")
    return fails(SIZE, f"{released} {what} in the release, {original.size} in the original")


def _columns(published: list[str], original: Table) -> Check:
    """Whether every released column is one of the original; the claim says nothing of others."""
    strange = [name for name in published if name not in original.columns]
    if strange:
        return fails(COLUMNS, f"the original has no column {shown(strange[0])}")
    beyond = [name for name in original.columns if name not in published]
    unpublished = f"; not published: {', '.join(map(shown, beyond[:3]))}" if beyond else ""
    more = ", ..." if len(beyond) > 3 else ""
    n = counted(len(published), "column")
    return holds(COLUMNS, f"{n} of the release are columns of the original{unpublished}{more}")


def _items(db: Database, original: Bipartite, *, people: bool, linked: bool) -> Check:
    """Whether every published item is a feature of the original; create `features`.

    The name of an item that is a person is the published id of that person.
    """
    names = original.feature_labels()
    if people and original.items == "people" and linked:
        names = released_ids(db)
    db.put("features", {"feature": np.arange(names.size), "item": to_arrow(as_text(names))})
    if people != (original.items == "people"):
        said, read = ("people", "things") if people else ("things", "people")
        return fails(ITEMS, f"items are {said} in the manifest, and {read} in the original")
    if people and not linked:
        return not_checked(ITEMS, "whether an item is the person of that id", needs=LINKAGE)
    n = db.number("SELECT count(DISTINCT item) FROM entries")
    strange = db.first(f"SELECT min(item), count(*) FROM ({_STRANGE_ITEMS})")
    if strange is None or not strange[1]:
        return holds(ITEMS, f"every item of the release is a feature of the original, {n} in all")
    no_features = f"{strange[1]} of {n} published items are no features of the original, the first"
    return fails(ITEMS, f"{no_features} {shown(strange[0])}")


def _linkage(db: Database, owner: Owner, original: Data, published: str | None) -> Check:
    """Whether the linkage gives each original id one published id, and each of those to one."""
    if owner.linkage is None:
        return not_checked(BIJECTION, "who stands for whom", needs=LINKAGE)
    try:
        load_linkage(db, owner.linkage, original)
    except duckdb.Error as error:
        return fails(BIJECTION, f"{LINKAGE_FILE} cannot be read: {one_line(error)}")
    n = original.size
    otherwise = f"{n} original ids, {n} published ids, 1 to 1"
    return judged(BIJECTION, linkage_problems(db, LINKAGE_FILE, published), otherwise)


def _no_original_ids(db: Database | None, manifest: Manifest, original: Data) -> Check:
    """Whether no text id of the original stands among the parameters of the manifest.

    Other texts are compared: what a method says of itself where the method is known, and the
    version is made of numbers. Choices of one lower-case word say nothing of the data. Ids that are
    also names of published items are counted; they pass where the original has features of these
    names. Integers cannot be told from other numbers: they pass where there is no other number.
    """
    labels = original.labels()
    texts = list(_free_texts(manifest))
    if labels.dtype.kind == "i":
        return _no_original_integers(db, manifest, original, texts)
    hits = ids_in(original, "\n".join(texts))
    problems = []
    if hits:
        text = next(text for text in texts if hits[0] in text)
        problems.append(f"{len(hits)} of {labels.size} original ids stand in {shown(text)}")
    as_items = _published_names(db, manifest, original).intersection(labels.tolist())
    if not as_items or not isinstance(original, Bipartite):
        return judged(NAMES, problems, f"none of {labels.size} original ids is in a parameter")
    named = f"{len(as_items)} of {labels.size} user ids are names of published items"
    strange = as_items.difference(as_text(original.feature_labels()).tolist())
    if strange:
        problems.append(f"{named}, {len(strange)} of them names of no feature of the original")
    otherwise = f"{named}, as they are names of its features; no other id is in a parameter"
    return judged(NAMES, problems, otherwise)


def _no_original_integers(
    db: Database | None, manifest: Manifest, original: Data, texts: list[str]
) -> Check:
    """Whether nothing is published that may be an integer id of the original."""
    n = original.size
    if texts:
        alike = f"integers cannot be told from other numbers in {shown(texts[0])}"
        return not_checked(NAMES, alike)
    names = _published_names(db, manifest, original)
    as_items = names.intersection(map(str, original.labels().tolist())) if names else set()
    if as_items:
        named = f"{len(as_items)} of {n} user ids are also published items"
        return not_checked(NAMES, f"{named}, and integers cannot be told from other numbers")
    besides = ", and none is a published item" if names else ""
    return holds(NAMES, f"no text parameter could hold one of {n} original ids{besides}")


def _published_names(db: Database | None, manifest: Manifest, original: Data) -> set[str]:
    """Return the names of the published items; none where there are none, or they are new ids."""
    if db is None or not isinstance(original, Bipartite) or not db.holds("entries"):
        return set()
    if _has_people(manifest):
        return set()
    return {item for (item,) in db.rows("SELECT DISTINCT item FROM entries")}


def _free_texts(manifest: Manifest) -> Iterator[str]:
    """Yield the texts of the manifest's parameters that are no plain choices."""
    for value in manifest.method.parameters.values():
        if isinstance(value, str) and not _CHOICE.fullmatch(value):
            yield value


def ids_in(original: Data, text: str) -> list[str]:
    """Return the text ids of the original that stand in a text as words.

    Examples
    --------
    >>> ids_in(Graph.from_edges(["ann", "bob"], ["bob", "cyd"]), "bob, not Annie")
    ['bob']
    """
    labels = original.labels()
    if labels.dtype.kind == "i":
        return []
    return [label for label in labels.tolist() if label and label in text and _as_word(label, text)]


def _as_word(label: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(label)}(?!\w)", text) is not None
