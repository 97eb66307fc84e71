"""Levels and chosen pairs lie in the owner's private folder, with their digests in the record."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.claims.guarantees import KAnonymity
from graphveil.core.errors import ReleaseError
from graphveil.methods.base import Anonymizer
from graphveil.methods.card import MethodCard
from graphveil.release import Linkage, Witness, read_record
from graphveil.release.draft import Draft
from graphveil.release.files import PART

LEVELS = [2, 1, 3]
PAIRS = (np.array([0, 2, 3, 6]), np.array([0, 2, 1, 0, 1, 2], dtype=np.int32))
IDS = ["ann", "bob", "cyd"]


CARD = MethodCard(
    promise="Everything is suppressed.",
    source="a test",
    limits="It protects nothing.",
    cost="linear",
    example={},
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class WithLevels(Anonymizer[gv.Table]):
    """Everything is suppressed; levels and pairs are those of the test."""

    name: ClassVar[str] = "with-levels"
    accepts = (gv.Table,)
    card: ClassVar[MethodCard] = CARD

    @property
    def guarantee(self):
        return KAnonymity(k=2)

    def draft(self, data, randomness):
        del randomness
        hidden = gv.Table(np.full_like(data.codes, -1), data.columns, data.categories, data.ids)
        return Draft(hidden, levels=np.array(LEVELS), witness=PAIRS)


@pytest.fixture
def release():
    return WithLevels().anonymize(gv.Table.from_columns({"sex": ["f", "m", "f"]}, ids=IDS))


def pairs_of(witness):
    return [
        witness.indices[start:end].tolist()
        for start, end in zip(witness.indptr, witness.indptr[1:], strict=False)
    ]


def test_a_promise_that_any_table_keeps_is_refused_before_the_work(monkeypatch):
    monkeypatch.setattr(WithLevels, "guarantee", KAnonymity(k=1))
    with pytest.raises(gv.GraphveilError, match=r"protects nobody: a class may be .*\(k=1\)"):
        WithLevels().anonymize(gv.Table.from_columns({"sex": ["f", "m", "f"]}, ids=IDS))


def test_levels_and_pairs_are_written_for_the_owner_alone(tmp_path, release):
    folder = release.write(tmp_path / "out")
    private = tmp_path / "out.private"
    levels = parquet.read_table(private / "levels.parquet").to_pydict()
    assert {"original": IDS, "level": LEVELS} == levels
    released = dict(zip(IDS, release.private.linkage.released.tolist(), strict=True))
    chosen = [("ann", "ann"), ("ann", "cyd"), ("bob", "bob"), *[("cyd", one) for one in IDS]]
    rows = parquet.read_table(private / "witness.parquet").to_pylist()
    assert sorted((released[one], two) for one, two in chosen) == [tuple(r.values()) for r in rows]
    for name in ("levels", "witness"):
        path = private / f"{name}.parquet"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert digest == getattr(read_record(folder), f"{name}_sha256")
        assert 0o600 == path.stat().st_mode & 0o777
    assert ["data.csv", "release.json"] == sorted(path.name for path in folder.iterdir())


def test_without_the_linkage_no_pairs_are_kept(tmp_path, release):
    folder = release.write(tmp_path / "out", linkage=False)
    names = sorted(path.name for path in (tmp_path / "out.private").iterdir())
    assert ["levels.parquet", "record.json"] == names
    assert read_record(folder).witness_sha256 is None
    assert gv.read_release(folder).private.witness is None


def test_levels_and_pairs_are_read_back_and_written_again(tmp_path, release):
    back = gv.read_release(release.write(tmp_path / "out")).private
    assert LEVELS == back.levels.level.tolist()
    assert pairs_of(Witness(*PAIRS)) == pairs_of(back.witness)
    gv.read_release(tmp_path / "out").write(tmp_path / "again")
    for name in ("levels.parquet", "witness.parquet"):
        first, second = (tmp_path / f"{folder}.private" / name for folder in ("out", "again"))
        assert first.read_bytes() == second.read_bytes()


def test_a_release_without_levels_has_no_such_files(tmp_path):
    folder = gv.KDegree(k=2).anonymize(gv.Graph.from_edges([0], [1], n=2)).write(tmp_path / "out")
    record = read_record(folder)
    assert (None, None) == (record.levels_sha256, record.witness_sha256)
    assert not list((tmp_path / "out.private").glob("[lw]e*[ls].parquet"))


@pytest.mark.parametrize("name", ["levels", "witness"])
def test_a_file_of_other_columns_is_refused(tmp_path, release, name):
    folder = release.write(tmp_path / "out")
    private = tmp_path / "out.private"
    (private / f"{name}.parquet").write_bytes((private / "linkage.parquet").read_bytes())
    with pytest.raises(ReleaseError, match=rf"{name}.parquet is not a file of"):
        gv.read_release(folder)


def test_many_pairs_come_in_parts():
    n, d = 2000, PART // 1000
    indices = (np.arange(n * d) % n).astype(np.int32)
    witness = Witness(np.arange(n + 1, dtype=np.int64) * d, indices)
    tables = list(witness.tables(Linkage(np.arange(n), np.arange(n)[::-1].copy())))
    assert [PART, n * d - PART] == [table.num_rows for table in tables]
    last = tables[-1].to_pydict()
    assert (n - 1, indices[d - 1]) == (last["record"][-1], last["person"][-1])
