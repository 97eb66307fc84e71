"""Releases at addresses: the bytes of a local one, parts first, the manifest last."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import graphveil as gv
from forged.kit import reseal
from graphveil.claims import parts
from graphveil.cli import run as command_line
from graphveil.core.errors import GraphveilWarning, ReleaseError, ResourceError, UsageError
from graphveil.core.storage import place_of
from graphveil.engines import LocalEngine
from graphveil.engines.spark import check_executors, translated_errors
from graphveil.io import BipartiteOptions
from graphveil.io import parts as list_parts
from graphveil.methods.smooth_k import Chunks, Greedy, SmoothK
from graphveil.release import LINKAGE, read_record
from graphveil.release.files import read_linkage
from graphveil.scale import parts as parts_on_disk
from graphveil.scale.columns import KEY
from graphveil.scale.parts import Numbered, Packed, _packed, as_lists, unpacked
from graphveil.scale.writing import Classes, PartOfUsers
from graphveil.verify.kinds import feature_parts
from object_store import served
from odd_engines import Interrupted, ScrambledEngine, Session
from thorough import FUZZ, part_of

FLAWS = [
    {
        "name": "a manifest that lies at an address before the parts",
        "means": "A run that is killed leaves what looks like a release.",
        "file": "src/graphveil/release/publishing.py",
        "old": "        publication = write(out)\n",
        "new": "        out.put_bytes(MANIFEST, b'{}')\n        publication = write(out)\n",
    },
    {
        "name": "parts that stay at an address when their classes are too small",
        "means": "Rows of a class below k were refused, and lie in the public place all the same.",
        "file": "src/graphveil/release/publishing.py",
        "old": "                    _empty(address, is_public=address is out)\n",
        "new": "                    address.clear()\n",
    },
    {
        "name": "executors that write a part of which a user is missing",
        "means": "Classes are counted in what is there: others than were read are promised.",
        "file": "src/graphveil/scale/writing.py",
        "old": "if not np.array_equal(",
        "new": "if False and not np.array_equal(",
    },
    {
        "name": "objects beneath an address that nobody lists",
        "means": "A list of identities can be next to a verified release.",
        "file": "src/graphveil/verify/files/released.py",
        "old": "return sorted({*self._sizes, *(folders - {parts.FOLDER})})",
        "new": "return sorted(n for n in self._sizes if '/' not in n and n.endswith('.json'))",
    },
]

THINGS = BipartiteOptions(items="things")
METHOD = SmoothK(k=2, chunks=Chunks(rows=10), algorithm=Greedy(refine=None))
ALONE = LocalEngine(jobs=1)
OUT, OWNER = "mem://lake/lists", "mem://owner/lists"

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


@pytest.fixture(autouse=True)
def current(tmp_path, monkeypatch):
    """Stand in a folder of its own, with small parts."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    set_sizes(monkeypatch, users=15, group=4)
    return tmp_path / "here"


def set_sizes(monkeypatch, *, users, group):
    monkeypatch.setattr(parts, "PART_USERS", users)
    monkeypatch.setattr(list_parts, "GROUP_ROWS", group)
    monkeypatch.setattr(feature_parts, "GROUP_ROWS", group)


@pytest.fixture
def store(monkeypatch):
    with served(monkeypatch) as handler:
        yield handler


@pytest.fixture(scope="module")
def known():
    return {}


@pytest.fixture
def made(store, lists, known):
    """Put a release into the store, which is made once, and return its address."""
    if not known:
        release(lists)
        known.update(store.objects)
    store.objects = dict(known)
    return place_of(OUT)


def likes(n=40, *, text=False):
    rng = np.random.default_rng(0)
    rows = [np.flatnonzero(row).tolist() for row in rng.random((n, 12)) < 0.25]
    if text:
        rows = [[f"it'em {feature:02d}" for feature in row] for row in rows]
    users = [f"p{u}" for u in rng.permutation(n)] if text else (rng.permutation(n) + 100).tolist()
    return pa.table({"user": users, "items": pa.array(rows)})


@pytest.fixture
def lists(tmp_path):
    parquet.write_table(likes(), tmp_path / "lists.parquet")
    return tmp_path / "lists.parquet"


def release(lists, out=OUT, **options):
    given = {"engine": ALONE, "reading": THINGS, "seed": 3, "private": OWNER, **options}
    if given["private"] is None:
        del given["private"]
    return gv.anonymize_rows(given.pop("method", METHOD), lists, out, **given)


def local(lists, folder, **options):
    return release(lists, folder, private=None, parts=True, **options)


def files_in(folder):
    paths = (path for path in Path(folder).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def objects_at(store, place=OUT):
    around = place.removeprefix("mem://") + "/"
    beneath = {n: c for n, c in store.objects.items() if n.startswith(around)}
    return {name.removeprefix(around): content for name, content in beneath.items()}


# what is written


ENGINES = {
    "one process": lambda: ALONE,
    "any order": lambda: ScrambledEngine(0),
    "works that write, each twice": lambda: ScrambledEngine(0, apart=True),
}


@pytest.mark.parametrize(
    ("engine", "text"), part_of([(e, t) for t in (False, True) for e in ENGINES], every=2)
)
def test_the_bytes_at_an_address_are_those_of_a_folder(tmp_path, store, current, engine, text):
    lists = tmp_path / "lists.parquet"
    parquet.write_table(likes(text=text), lists)
    here = local(lists, tmp_path / "out")
    address = release(lists, engine=ENGINES[engine]())
    assert OUT == str(address)
    assert files_in(here) == objects_at(store)
    assert "lake/lists/release.json" == store.written[-1]
    linked = [f"linkage/part-{n:05d}.parquet" for n in range(3)]
    owned = objects_at(store, OWNER)
    assert {"record.json", *linked} == owned.keys()
    if "twice" in engine:
        release(lists, "mem://lake/again", private="mem://owner/again")
        again = objects_at(store, "mem://owner/again")
        assert [owned[name] for name in linked] == [again[name] for name in linked]
    assert [] == list(current.iterdir())
    verdict = gv.verify_release(address)
    assert verdict.ok, verdict


@pytest.mark.parametrize(
    ("engine", "private"),
    part_of([(e, p) for e in ENGINES for p in (OWNER, "file", "folder")], every=3)
    + [("works that write, each twice", OWNER)] * (not FUZZ),
)
def test_the_owner_has_record_and_linkage_and_checks_with_a_copy(
    tmp_path, store, lists, engine, private
):
    place = {"file": f"file://{tmp_path}/owner", "folder": str(tmp_path / "owner")}
    given = place.get(private, private)
    here = local(lists, tmp_path / "here-too")
    release(lists, private=given, engine=ENGINES[engine]())
    record = read_record(place_of(OUT), place_of(given))
    assert (3, read_record(here).cost) == (record.seed, record.cost)
    out = tmp_path / "copied"
    owners = tmp_path / "copied.private"
    copy_of(objects_at(store), out)
    copy_of(objects_at(store) if private != OWNER else objects_at(store, OWNER), owners)
    if private != OWNER:
        shutil.rmtree(owners)
        shutil.copytree(tmp_path / "owner", owners)
    assert (private == "folder") == (owners / LINKAGE).is_file()
    one, other = read_linkage(out), read_linkage(here)
    assert one.table().sort_by("original").equals(other.table())
    assert record.release_id == read_record(here).release_id
    verdict = gv.verify_release(out, original=gv.read_bipartite(lists, items="things"))
    assert verdict.ok, verdict
    assert [] == [check.name for check in verdict.checks if check.needs is not None]


def copy_of(content, folder):
    for name, raw in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)


def test_a_linkage_in_parts_that_is_not_the_one_recorded_is_noticed(tmp_path, store, made):
    del made
    out, owners = tmp_path / "out", tmp_path / "out.private"
    copy_of(objects_at(store), out)
    copy_of(objects_at(store, OWNER), owners)
    (owners / "linkage" / "part-00001.parquet").unlink()
    assert {"linkage file"} == failed(gv.verify_release(out)).keys()


def failed(verdict):
    return {check.name: check.detail for check in verdict.checks if check.outcome == "fails"}


@settings(deadline=None, max_examples=100 if FUZZ else 3)
@given(
    st.lists(st.lists(st.integers(0, 9)), min_size=4, max_size=24),
    st.booleans(),
    st.integers(1, 9),
    st.integers(1, 5),
    st.booleans(),
)
def test_any_rows_give_the_same_release_in_a_folder_and_at_an_address(
    tmp_path_factory, rows, text, users, group, apart
):
    folder = tmp_path_factory.mktemp("rows")
    kind = pa.string() if text else pa.int64()
    items = [[f"item\n'{item}" for item in row] if text else row for row in rows]
    table = pa.table({"user": range(len(rows)), "items": pa.array(items, pa.list_(kind))})
    parquet.write_table(table, folder / "lists.parquet")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        set_sizes(patched, users=users, group=group)
        here = local(folder / "lists.parquet", folder / "out")
        there = release(
            folder / "lists.parquet",
            f"file://{folder}/there",
            private=f"file://{folder}/owner",
            engine=ScrambledEngine(0, apart=apart),
        )
        verdict = gv.verify_release(there)
    assert files_in(here) == files_in(folder / "there")
    assert verdict.ok, verdict


def test_items_that_are_people_lie_at_an_address_too(tmp_path, store):
    rng = np.random.default_rng(1)
    rows = [sorted(rng.choice(40, 3, replace=False).tolist()) for _ in range(40)]
    lists = tmp_path / "lists.parquet"
    parquet.write_table(pa.table({"user": range(40), "items": pa.array(rows)}), lists)
    people = {"reading": BipartiteOptions(items="people")}
    here = local(lists, tmp_path / "out", **people)
    release(lists, **people)
    assert files_in(here) == objects_at(store)


def test_without_a_linkage_the_owner_has_the_record_alone(store, lists):
    release(lists, linkage=False, engine=ScrambledEngine(0, apart=True))
    assert ["record.json"] == list(objects_at(store, OWNER))


# unfinished, and replaced


def test_a_killed_run_leaves_no_release_and_is_gone_on_with(store, lists, current):
    def killed(verb, name):
        if (verb, name) == ("write", "lake/lists/data/part-00002.parquet"):
            raise KeyboardInterrupt

    store.refused = killed
    with pytest.raises(KeyboardInterrupt), pytest.warns(GraphveilWarning, match="unfinished run"):
        release(lists, seed=None)
    store.refused = lambda *_: None
    left = objects_at(store)
    assert {".graphveil-unfinished", parts.part_name(0), parts.part_name(1)} == left.keys()
    assert [".graphveil-unfinished"] == list(objects_at(store, OWNER))
    [working] = current.iterdir()
    assert 0o700 == working.stat().st_mode & 0o777
    with pytest.raises(
        ReleaseError,
        match=r"lists has 2 parts but no release\.json: it was left by an unfinished run",
    ):
        gv.verify_release(OUT)
    with pytest.warns(GraphveilWarning, match="2 files of an unfinished run; they are overwritten"):
        address = release(lists, seed=None)
    there = objects_at(store)
    assert left[parts.part_name(0)] == there[parts.part_name(0)]
    assert ".graphveil-unfinished" not in there.keys() | objects_at(store, OWNER).keys()
    assert gv.verify_release(address).ok
    assert [] == list(current.iterdir())


@pytest.mark.parametrize(
    ("name", "private"),
    [
        ("data/part-00001.parquet", OWNER),
        ("record.json", OWNER),
        ("release.json", OWNER),
        ("release.json", "folder"),
    ],
)
def test_what_cannot_be_written_whole_is_taken_away(store, lists, tmp_path, name, private):
    def full(verb, path):
        if verb == "write" and path.endswith(name):
            raise OSError(122, "Disk quota exceeded")

    store.refused = full
    given = OWNER if private == OWNER else tmp_path / "owner"
    with pytest.raises(ResourceError, match=r"cannot be written \(Disk quota exceeded\)"):
        release(lists, private=given)
    assert {} == store.objects
    assert not (tmp_path / "owner").exists()
    store.refused = lambda *_: None
    assert gv.verify_release(release(lists, private=given)).ok


def test_a_run_is_kept_where_its_place_begins_to_refuse_it(store, lists, current):
    def closed(verb, path):
        if verb == "write" and path.endswith("part-00001.parquet"):
            raise OSError("AWS Error ACCESS_DENIED during PutObject operation")

    store.refused = closed
    with pytest.raises(ReleaseError, match=r"lists cannot be written \(AWS Error ACCESS_DENIED"):
        release(lists, seed=None)
    assert {} == store.objects
    [working] = current.iterdir()
    assert (working / "released").is_dir()
    store.refused = lambda *_: None
    assert gv.verify_release(release(lists, seed=None)).ok


def test_a_put_that_fails_twice_changes_nothing(store, lists, tmp_path):
    left = dict.fromkeys(("data/part-00000.parquet", "release.json", "record.json"), 2)

    def shaky(verb, path):
        for name in left:
            if verb == "write" and path.endswith(name) and left[name]:
                left[name] -= 1
                raise OSError("the connection was reset")

    here = local(lists, tmp_path / "out")
    store.refused = shaky
    release(lists)
    assert {0} == set(left.values())
    assert files_in(here) == objects_at(store)


def test_a_release_is_replaced_by_force_alone_and_nothing_of_the_old_one_stays(store, lists):
    release(lists, seed=1)
    before = objects_at(store)
    with pytest.raises(ReleaseError, match=r"^mem://(lake|owner)/lists already exists"):
        release(lists)
    assert before == objects_at(store)
    store.objects["lake/lists/data/part-00003.parquet"] = b"of a larger one"
    release(lists, seed=2, force=True)
    assert before.keys() == objects_at(store).keys()
    assert before[parts.part_name(0)] != objects_at(store)[parts.part_name(0)]


@pytest.mark.parametrize("force", [False, True])
def test_what_no_release_wrote_is_never_replaced(store, lists, force):
    for name in ("lake/lists/letters.txt", "lake/lists/data/part-00000.snappy.parquet"):
        store.objects = {name: b"mine"}
        with pytest.raises(ReleaseError, match=r"exists|which graphveil did not write"):
            release(lists, force=force)
        assert {name: b"mine"} == store.objects
    store.objects = {"lake/lists/data/part-00000.parquet": b"of another program, perhaps"}
    with pytest.raises(ReleaseError, match="exists"):
        release(lists)


def test_two_runs_into_one_place_publish_nothing_mixed(store, lists):
    def another(verb, path):
        if (verb, path) == ("write", "lake/lists/data/part-00001.parquet"):
            store.objects["lake/lists/data/part-00009.parquet"] = b""

    store.refused = another
    with pytest.raises(ReleaseError, match=r"part-00009\.parquet appeared or disappeared"):
        release(lists)
    assert "lake/lists/release.json" not in store.objects


def test_a_run_leaves_alone_what_another_one_began_or_finished_there_meanwhile(store, lists):
    mark = "lake/lists/.graphveil-unfinished"
    for others in ({mark: b"of another run"}, {"lake/lists/release.json": b"{}"}):

        def another(verb, path, others=others):
            if (verb, path) == ("write", "lake/lists/data/part-00001.parquet"):
                store.objects.pop(mark)
                store.objects |= others

        store.refused = another
        with pytest.raises(
            ReleaseError, match="another run wrote to mem://lake/lists in the meantime"
        ):
            release(lists)
        assert others.items() <= store.objects.items()
        assert {} == objects_at(store, OWNER)
        store.objects = {}


def test_what_appears_after_the_check_is_not_deleted(store, lists):
    def appears(verb, path):
        if (verb, path) == ("write", "lake/lists/.graphveil-unfinished"):
            store.objects["lake/lists/letters.txt"] = b"mine"

    release(lists)
    store.refused = appears
    with pytest.raises(ReleaseError, match=r"letters\.txt appeared"):
        release(lists, force=True)
    assert {"letters.txt": b"mine"} == objects_at(store)


@pytest.mark.parametrize("is_private", [False, True])
def test_nothing_is_deleted_or_written_through_a_link(tmp_path, lists, is_private):
    places = {"out": f"file://{tmp_path}/out", "private": f"file://{tmp_path}/owner"}
    release(lists, **places)
    folder = tmp_path / "owner/linkage" if is_private else tmp_path / "out/data"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    before = files_in(tmp_path / "elsewhere")
    with pytest.raises(ReleaseError, match=f"{folder} is a link"):
        release(lists, force=True, **places)
    assert before == files_in(tmp_path / "elsewhere")


@pytest.mark.parametrize("what", ["gone", "mangled", "unreachable"])
def test_a_part_that_cannot_be_counted_is_one_line(store, lists, what):
    def another(verb, path):
        if verb == "read" and path.endswith("part-00001.parquet"):
            if what == "unreachable":
                raise OSError("AWS Error NETWORK_CONNECTION during GetObject")
            store.objects[path] = b"PAR1"
            if what == "gone":
                del store.objects[path]

    store.refused = another
    with pytest.raises(
        (ReleaseError, ResourceError), match=r"00001\.parquet cannot be (counted|read)"
    ):
        release(lists)
    assert {} == store.objects


@pytest.mark.usefixtures("store")
def test_no_part_of_the_linkage_lies_where_everybody_has_files(lists, current, monkeypatch):
    seen = []

    def written(rows, path, write=parts_on_disk.write_owners):
        seen.append(path)
        write(rows, path)

    monkeypatch.setattr(parts_on_disk, "write_owners", written)
    release(lists)
    assert 3 == len(seen)
    assert all(current in path.parents for path in seen)


def test_other_releases_of_the_same_rows_are_seen_beside_the_private_address(store, lists):
    release(lists)
    with pytest.warns(GraphveilWarning, match="1 other release of this input is next to it, lis"):
        release(lists, "mem://lake/again", private="mem://owner/again")

    def unlisted(verb, path):
        if (verb, path) == ("list", "owner"):
            raise OSError("AWS Error ACCESS_DENIED")

    store.refused = unlisted
    with pytest.warns(GraphveilWarning, match="the location of mem://owner/third cannot be listed"):
        release(lists, "mem://lake/third", private="mem://owner/third")


# works that write


@pytest.mark.parametrize("text", [False, True])
def test_rows_that_travel_packed_are_those_that_were_numbered(text):
    rng = np.random.default_rng(5)
    sizes = rng.integers(0, 5, 60)
    items = [rng.integers(0, 9, n).tolist() for n in sizes]
    users = pa.array(rng.permutation(60))
    lists = pa.array(items, pa.list_(pa.int64()))
    if text:
        users, lists = users.cast(pa.string()), lists.cast(pa.list_(pa.string()))
    keys = pa.array(rng.integers(0, 2**62, 60))
    rows = pa.table({KEY[0]: keys, KEY[1]: keys, "user": users, "items": lists})
    numbered = Numbered((0, 25))
    expected, made = numbered(1, rows), Packed(numbered, 20, most_rows=7, most_entries=11)(1, rows)
    shuffled = made.take(pa.array(rng.permutation(made.num_rows)))
    ids, again = unpacked(shuffled)
    assert expected["id"].to_pylist() == ids.tolist()
    assert expected.select(["user", "items"]).equals(again)
    for row in made.to_pylist():
        some, first = pa.ipc.open_stream(row["rows"]).read_all(), row["first"]
        assert row["part"] == first // 20 == (first + some.num_rows - 1) // 20
        assert some.num_rows <= 7
        assert len(some["items"].combine_chunks().flatten()) < 11 + 5


def test_a_part_that_lacks_a_user_is_never_written(store):
    work = PartOfUsers(
        out=place_of(OUT), private=None, names=None, n_users=3, part_users=3, group_rows=2
    )
    users = pa.table({"user": [8, 9, 7], "items": [[2], [], [1]]})
    values = [_packed(users.slice(start, n)) for start, n in ((2, 1), (0, 2))]
    rows = pa.table({"first": [2, 0], "rows": values})
    assert ([3], [2]) == tuple(work(0, rows)[name].to_pylist() for name in ("rows", "entries"))
    items = parquet.read_table(pa.BufferReader(store.objects["lake/lists/" + parts.part_name(0)]))
    assert [[2], [], [1]] == items["items"].to_pylist()
    store.objects.clear()
    for odd in (rows.slice(0, 1), pa.concat_tables([rows, rows.slice(0, 1)])):
        with pytest.raises(RuntimeError, match=r"part 0 has \d rows instead of its 3 users"):
            work(0, odd)
    assert {} == store.objects


@pytest.mark.parametrize("apart", [False, True])
def test_a_small_class_that_would_be_published_is_taken_away(store, lists, monkeypatch, apart):
    monkeypatch.setattr("graphveil.scale.writing.DataFiles._classes_in_parts", _too_small)
    with pytest.raises(RuntimeError, match="about to publish a class of 1 rows"):
        release(lists, engine=ScrambledEngine(0, apart=apart))
    assert {} == store.objects


def _too_small(self, public, files):
    del self, public, files
    return Classes(1, 1, 1)


# what is refused before rows are read


REFUSED = {
    "no private place": ({"private": None}, UsageError, r"Choose where .* with private"),
    "private in out": ({"private": f"{OUT}/owner"}, UsageError, r"\(private\) is inside .*\(out\)"),
    "one place, spelled twice": ({"private": "mem://key:word@lake/lists/"}, UsageError, "is mem:"),
    "a file of pairs": ({"parts": False}, UsageError, "written in Parquet parts"),
    "text": ({"format": "csv"}, UsageError, "written in Parquet parts"),
    "an unknown store": (
        {"out": "ftp://me:word@host/a?x=word"},
        UsageError,
        "not a supported address.*s3a",
    ),
    "a bucket": ({"out": "mem://lake"}, UsageError, "has no folder"),
    "a folder, and an address": ({"out": "there"}, UsageError, "Give a folder for both"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_place_for_a_release_is_one_line(store, lists, current, what):
    options, kind, says = REFUSED[what]
    given = {"out": OUT, **options}
    with pytest.raises(kind, match=says) as refused:
        release(lists, given.pop("out"), **given)
    assert "word" not in str(refused.value)
    assert {} == store.objects
    assert [] == list(current.iterdir())


def test_the_unfinished_run_does_not_lie_where_the_release_does(current):
    out = f"file://{current.parent}"
    with pytest.raises(UsageError, match="in the current folder"):
        release(
            current / "none", out, private=f"file://{current.parent.parent}/owner-of", force=True
        )


@pytest.mark.parametrize(
    ("side", "verb"), [("lake", "write"), ("owner", "write"), ("lake", "list")]
)
def test_a_place_that_refuses_is_named_before_rows_are_read(store, lists, side, verb):
    def refused(doing, path):
        if doing == verb and path.startswith(side):
            raise OSError("AWS Error ACCESS_DENIED during PutObject operation")

    store.refused = refused
    says = rf"mem://{side}/lists cannot be (written|listed) \(AWS Error ACCESS_DENIED"
    with pytest.raises(UsageError, match=says):
        release(lists.with_name("none"))


def test_executors_that_do_not_share_an_address_are_named(store):
    places = place_of(OUT), place_of(OWNER)
    check_executors(Session(), None, places)
    assert {} == store.objects
    with pytest.raises(ResourceError, match="executors cannot see what this process writes to mem"):
        check_executors(Session(store.objects.clear), None, places)

    def refused(verb, path):
        if verb == "write" and path.startswith("owner"):
            raise OSError("AWS Error ACCESS_DENIED")

    def refuse():
        store.refused = refused

    with pytest.raises(ResourceError, match="executors have no shared place: mem://owner"):
        check_executors(Session(refuse), None, places)
    assert {} == store.objects


@pytest.mark.parametrize("kind", [UsageError, ResourceError])
def test_what_a_store_refuses_an_executor_is_one_line_with_its_kind(kind):
    name = f"{kind.__module__}.{kind.__name__}"
    said = f"worker died\n  Traceback (most recent call last):\n{name}: no\n"
    of_spark = type("PythonException", (Exception,), {"__module__": "pyspark.errors"})
    with pytest.raises(kind, match=r"^executors: no$"), translated_errors("writing parts"):
        raise of_spark(said)


def test_methods_in_memory_and_ties_are_refused_at_an_address(lists, capsys, current):
    out = ["--out=s3a://key:word@lake/a", "--private=s3a://owner/a"]
    ties = lists.with_name("ties.csv")
    ties.write_text("source,target\n0,1\n1,2\n")
    for words in (
        ["suppress-k", str(lists), "--k=2", *out],
        ["k-degree", str(ties), "--k=2", "--on-disk", out[0]],
        ["k-degree", str(ties), "--k=2", out[0]],
    ):
        assert 2 == command_line(["anonymize", *words])
        said = capsys.readouterr().err
        assert "s3a://lake/a is an address" in said
        assert "word" not in said
    assert [] == list(current.iterdir())


def test_no_other_verb_takes_an_address():
    with pytest.raises(UsageError, match="is an address, which only verify can read"):
        gv.evaluate_release("s3a://lake/lists", None)


# the command


def test_the_command_writes_and_verifies_at_addresses(tmp_path, lists, capsys, current):
    out, owner = f"file://{tmp_path}/out", f"file://{tmp_path}/owner"
    words = ["anonymize", "suppress-k", str(lists), "--k=2", "--items=things", "--on-disk"]
    words += ["--jobs=1", f"--out={out}", f"--private={owner}"]
    assert 0 == command_line(words), capsys.readouterr().err
    said = capsys.readouterr()
    assert f"Publish: {out}" in said.out
    assert f"Keep private: {owner}" in said.out
    assert f"graphveil verify {out}" in said.out + said.err
    assert 0o700 == (tmp_path / "owner").stat().st_mode & 0o777
    assert 0 == command_line(["verify", out])
    said = " ".join(capsys.readouterr().out.split())
    assert "Not checked without the original: nothing was added" in said
    assert 2 == command_line(words)
    assert f"{out} exists" in capsys.readouterr().err or owner
    assert 2 == command_line(["verify", f"file://{tmp_path}/none"])
    assert "has no release.json" in capsys.readouterr().err
    assert b"owner" not in (tmp_path / "out" / "release.json").read_bytes()
    assert [] == list(current.iterdir())


def test_the_original_is_compared_without_the_linkage(made, lists):
    verdict = gv.verify_release(made, str(lists), strict=True)
    unchecked = {c.name for c in verdict.checks if c.outcome == "not checked"}
    assert verdict.ok
    assert {"owner's record", "no links", "no extended attributes"} <= unchecked


# forgeries


def remade(store, change):
    """Change the release at the address as a folder, and put it back."""

    def forge(folder):
        copy_of(objects_at(store), folder)
        change(folder)
        for name in objects_at(store):
            del store.objects[f"lake/lists/{name}"]
        store.objects |= {f"lake/lists/{name}": raw for name, raw in files_in(folder).items()}

    return forge


def _changed(store, name):
    raw = bytearray(store.objects[f"lake/lists/{name}"])
    raw[len(raw) // 2] ^= 1
    store.objects[f"lake/lists/{name}"] = bytes(raw)


def _swapped(store):
    one, other = (f"lake/lists/{parts.part_name(n)}" for n in (0, 1))
    store.objects[one], store.objects[other] = store.objects[other], store.objects[one]


def _dropped_row(folder):
    path = folder / parts.part_name(1)
    table = parquet.read_table(path).slice(1)
    items = table["items"].combine_chunks()
    starts = items.offsets.to_numpy() - items.offsets[0].as_py()
    rows = as_lists(table["user"].combine_chunks(), starts, items.flatten())
    groups = [rows.slice(at, 4).combine_chunks() for at in range(0, rows.num_rows, 4)]
    list_parts.write_lists(groups, path)
    reseal(folder)


FORGERIES = {
    "a changed byte": (lambda s, _: _changed(s, parts.part_name(1)), "files", "has SHA-256"),
    "a torn part": (
        lambda s, _: s.objects.update(
            {
                "lake/lists/data/part-00001.parquet": s.objects[
                    "lake/lists/data/part-00001.parquet"
                ][:9]
            }
        ),
        "files",
        "part-00001.parquet has 9 bytes",
    ),
    "a part missing": (
        lambda s, _: s.objects.pop("lake/lists/data/part-00001.parquet"),
        "files",
        "data/part-00001.parquet is missing",
    ),
    "two parts swapped": (lambda s, _: _swapped(s), "files", "data/part-00000.parquet has"),
    "a part too many": (
        lambda s, _: s.objects.update({"lake/lists/data/part-00003.parquet": b""}),
        "no other files",
        "'data/part-00003.parquet' is in the folder but is not listed",
    ),
    "an object deep beneath": (
        lambda s, _: s.objects.update({"lake/lists/who/ann/is/0": b""}),
        "no other files",
        "'who' is in the folder but is not listed",
    ),
    "an object beside the manifest": (
        lambda s, _: s.objects.update({"lake/lists/.graphveil-probe-0": b""}),
        "no other files",
        "probe-0' is in the folder but is not listed",
    ),
    "a dropped row, sealed anew": (
        lambda s, folder: remade(s, _dropped_row)(folder),
        "data",
        "row 1 is user 16, but must be user 15",
    ),
    "a changed manifest": (lambda s, _: _seal(s), "seal", "has the seal"),
}


def _seal(store):
    manifest = json.loads(store.objects["lake/lists/release.json"])
    manifest["seal"] = "0" * 64
    store.objects["lake/lists/release.json"] = json.dumps(manifest).encode()


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forgery_at_an_address_is_noticed_as_in_a_folder(store, made, tmp_path, what):
    forge, check, says = FORGERIES[what]
    forge(store, tmp_path / "forged")
    problems = failed(gv.verify_release(made))
    assert says in problems[check]


def test_a_part_that_is_longer_than_described_is_not_read(store, made):
    read = []
    store.refused = lambda verb, path: read.append(path) if verb == "read" else None
    store.objects["lake/lists/data/part-00001.parquet"] += b"0"
    problems = failed(gv.verify_release(made))
    assert "part-00001.parquet has" in problems["files"]
    assert "lake/lists/data/part-00001.parquet" not in read


def test_a_store_that_goes_away_is_one_line(store, made):
    def gone(verb, path):
        if verb == "read" and path.endswith("part-00001.parquet"):
            raise OSError("AWS Error NETWORK_CONNECTION during GetObject")

    store.refused = gone
    with pytest.raises(ResourceError, match=r"part-00001\.parquet cannot be read .*NETWORK"):
        gv.verify_release(made)


def test_an_interrupted_run_goes_on_from_the_same_root(store, lists, current):
    with pytest.raises(KeyboardInterrupt):
        release(lists, seed=None, engine=Interrupted())
    assert {} == store.objects
    [working] = current.iterdir()
    assert working.name.startswith(".lists-")
    release(lists, seed=None)
    assert [] == list(current.iterdir())
