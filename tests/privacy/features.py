"""A small release of users by features, and the hand of an attacker who knows the format."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path

import msgspec
import numpy as np
from tampering import provenance_of

from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.data import Bipartite
from graphveil.release import Private, Release, digest_of
from graphveil.release.release import Linkage

K = 3
USERS = ["ann", "bob", "cyd", "dan", "eve", "fay", "gil", "hal", "ida", "jon"]
BEFORE = ["ab", "abc", "ab", "b", "cd", "cd", "cde", "", "a", ""]
SUPPRESSED = ["b", "b", "b", "b", "cd", "cd", "cd", "", "", ""]
MAJORITY = ["ab", "ab", "ab", "ab", "cd", "cd", "cd", "", "", ""]
"""The classes are the first four, the next three and the last three."""
NAMES = {"a": "ale", "b": "bread", "c": "rye, dark", "d": '"dill"', "e": "eggs"}


def lists(rows, names=NAMES) -> list[list]:
    return [[names[letter] for letter in row] for row in rows]


def original() -> Bipartite:
    return Bipartite.from_lists(lists(BEFORE), users=USERS)


def numbered(rows=BEFORE) -> Bipartite:
    """Return the data with numbers for names: 3, 7, 10, 14 and 20, of 99 features."""
    columns = [
        [3 + 4 * "abcde".index(letter) - (letter in "cde") for letter in row] for row in rows
    ]
    indptr = np.cumsum([0, *map(len, columns)])
    return Bipartite(indptr, [item for row in columns for item in row], n_features=99)


def release_of(before: Bipartite, after: Bipartite, *, release="suppress", k=K) -> Release:
    """Return a release of `after`, as made from `before` by `mondrian`."""
    order = np.random.default_rng(5).permutation(before.size)
    had, has = entries_of(before), entries_of(after)
    return Release(
        data=after.permuted(order).without_unused(),
        guarantee=KAnonymity(k=k) if release == "suppress" else SmoothKAnonymity(k=k),
        provenance=provenance_of(
            "mondrian",
            {"k": k, "split": "first", "column_order": "sorted", "release": release},
        ),
        private=Private(
            input_sha256=digest_of(before),
            cost={
                "entries_before": len(had),
                "entries_kept": len(had & has),
                "entries_suppressed": len(had - has),
                "entries_created": len(has - had),
            },
            linkage=Linkage(before.labels(), np.argsort(order)),
        ),
    )


def entries_of(data: Bipartite) -> set[tuple[int, object]]:
    """Return (position, name) of every entry."""
    names = data.feature_labels().tolist()
    return {(user, names[item]) for user in range(data.n_users) for item in data.row(user)}


def suppressed() -> Release:
    return release_of(original(), Bipartite.from_lists(lists(SUPPRESSED)))


def by_majority() -> Release:
    return release_of(original(), Bipartite.from_lists(lists(MAJORITY)), release="majority")


def published(release: Release, name: str) -> int:
    """Return the published id of one of the users."""
    linkage = release.private.linkage
    return int(linkage.released[linkage.original.tolist().index(name)])


def rows_of(folder: Path) -> list[tuple[int, str]]:
    """Return the entries that `data.csv` lists."""
    with (folder / "data.csv").open(encoding="utf-8", newline="") as lines:
        return [(int(user), item) for user, item in list(csv.reader(lines))[1:]]


def replace_rows(folder: Path, rows) -> None:
    """Write other entries as a careful attacker does: with counts, digest and seal."""
    rows = list(rows)
    quoted = any(set(item) & set('",') for _, item in rows)
    style = csv.QUOTE_NONNUMERIC if quoted else csv.QUOTE_NONE
    text = io.StringIO("user,item\n")
    text.seek(0, io.SEEK_END)
    csv.writer(text, lineterminator="\n", quoting=style, quotechar='"').writerows(rows)
    counts = {"entries": len(rows), "items": len({item for _, item in rows})}
    replace(folder, "data.csv", text.getvalue().encode(), rows=len(rows), counts=counts)


def replace_users(folder: Path, users) -> None:
    users = list(users)
    text = "".join(f"{user}\n" for user in users)
    counts = {"users": len(users)}
    replace(folder, "users.csv", f"user\n{text}".encode(), rows=len(users), counts=counts)


def replace(folder: Path, name: str, content: bytes, *, rows=None, counts=None) -> None:
    """Write a file, and its size, digest, rows and counts into a manifest that is sealed anew."""
    (folder / name).write_bytes(content)
    manifest = json.loads((folder / "release.json").read_bytes())
    file = next(file for file in manifest["data"]["files"] if file["name"] == name)
    file |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    if rows is not None:
        file["rows"] = rows
    manifest["data"]["counts"] |= counts or {}
    manifest["seal"] = hashlib.sha256(_written(manifest | {"seal": ""})).hexdigest()
    (folder / "release.json").write_bytes(_written(manifest))


def _written(manifest: dict) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
