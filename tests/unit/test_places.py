"""Addresses: how they are spelled, what lies there, and that no secret is said."""

from __future__ import annotations

import stat
from types import SimpleNamespace

import pytest

from graphveil.core import storage as stores
from graphveil.core.errors import ResourceError, UsageError
from graphveil.core.storage import SCHEMES, Address, is_partial, located, place_of
from object_store import copied, served

FLAWS = [
    {
        "name": "messages that hold the password of an address",
        "means": "What a store says of a failure is shown as it is: logs keep the key.",
        "file": "src/graphveil/core/storage.py",
        "old": "for secret in sorted(",
        "new": "for secret in () and sorted(",
    },
    {
        "name": "addresses that are shown with the key in them",
        "means": "Everything that names the place of a release names the key that opens it.",
        "file": "src/graphveil/core/storage.py",
        "old": "        return host\n    return f",
        "new": "        return authority\n    return f",
    },
]


@pytest.fixture
def store(monkeypatch):
    with served(monkeypatch) as handler:
        yield handler


ADDRESSES = {
    "s3a://lake/a/b/": "s3a://lake/a/b",
    "s3n://key:word@lake/a": "s3n://lake/a",
    "s3://lake/a?endpoint_override=127.0.0.1:9&secret_key=x": "s3://lake/a",
    "gs://lake/a b": "gs://lake/a b",
    "abfss://box@account.dfs.core.windows.net/a": "abfss://box@account.dfs.core.windows.net/a",
    "abfss://box:word@account.net/a": "abfss://box@account.net/a",
    "hdfs://name:8020/a": "hdfs://name:8020/a",
    "hdfs:///a": "hdfs:///a",
    "file:/mnt/a%20b": "file:///mnt/a%20b",
    "FILE:///mnt/a?b": "file:///mnt/a?b",
    "dbfs:/Volumes/a/b/c/d": "dbfs:/Volumes/a/b/c/d",
}


@pytest.mark.parametrize("text", ADDRESSES)
def test_an_address_is_shown_without_its_secrets(text):
    address = place_of(text)
    assert ADDRESSES[text] == str(address)
    assert str(address / "x") == f"{address}/x"
    for secret in ("word", "secret_key", "endpoint"):
        assert secret not in repr(address) + str(address.parent)


REFUSED = {
    "ftp://ann:word@host/a?token=word": r"ftp://host/a is not a supported address.*s3a, s3",
    "s3a://lake": "has no folder",
    "s3a://lake/": "has no folder",
    "s3a:///a": "has no bucket",
    "s3a:/lake/a": "has no bucket",
    "s3a://lake/a/../b": "dots only",
    "s3a://key:word@lake/a//b": "an empty name",
    "gs://lake/a\nb": "unprintable characters",
    "abfss://account.net/a": "has no container",
    "s3a://key:wo/word@lake/a": "s3a://lake/a has a colon in its bucket name; write a slash in a "
    "key as %2F",
    "s3n://key:123/word@lake/a": "s3n://lake/a has a colon",
    "gs://key:w?o/word@lake/a": "gs://lake/a has a colon",
    "s3a:///key:wo/word@lake/a": "s3a:///lake/a has no bucket",
    "ftp://key:wo/word@lake/a": "ftp://lake/a is not a supported address. Give",
    "s3a://la\0ke/a": "unprintable characters",
    "s3a://lake/a?region=\udcff": "unprintable characters",
    "file://host/a": "names a host, host",
    "dbfs:/mnt/a": "is not a path under /Volumes.*dbfs:/Volumes/",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_address_of_a_folder_is_refused_in_one_line(text):
    with pytest.raises(UsageError, match=REFUSED[text]) as refused:
        place_of(text)
    assert "word" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_path_is_a_path_whatever_its_name(tmp_path):
    for given in ("lists-k8", "a:b/c", "C:/lists", tmp_path, tmp_path / "s3a:" / "lake"):
        assert not isinstance(place_of(given), Address)


def test_two_spellings_of_one_place_are_one(tmp_path):
    assert located(place_of("s3a://lake/a")) == located(place_of("s3n://k:w@lake/a/"))
    assert located(place_of("abfs://b@c/a")) == located(place_of("abfss://b@c/a"))
    for host in ("c.blob.core.windows.net", "C.dfs.core.windows.net"):
        assert located(place_of("abfs://b@c/a")) == located(place_of(f"abfss://b@{host}/a"))
    for host in ("", "name", "NAME:8020", "me@name"):
        assert located(place_of("hdfs://name:8020/a")) == located(place_of(f"hdfs://{host}/a"))
    assert located(place_of(tmp_path)) == located(place_of(tmp_path.as_uri()))
    assert located(place_of("s3a://lake/a")) != located(place_of("gs://lake/a"))


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("kind", ["mem", "file"])
def test_objects_are_written_listed_read_and_deleted(tmp_path, kind):
    text = "mem://lake/lists" if kind == "mem" else f"file://{tmp_path}/lists"
    address = copied(place_of(text))
    address.probe()
    assert [] == [entry for entry in address.entries() if entry.size is not None]
    address.put_bytes("release.json", b"{}")
    (tmp_path / "part").write_bytes(b"0123456789")
    address.put("data/part-00000.parquet", tmp_path / "part")
    address.put_bytes("release.json", b"{1}")
    listed = [("data", None), ("data/part-00000.parquet", 10), ("release.json", 3)]
    assert listed == address.entries()
    assert ["data"] == [folder.name for folder in address.folders()]
    assert (True, False) == ((address / "release.json").is_file(), address.is_file())
    assert (True, False) == (address.is_dir(), (address / "none").is_dir())
    assert (b"{1}", b"{") == tuple((address / "release.json").read_bytes(n) for n in (-1, 1))
    address.fetch("data/part-00000.parquet", tmp_path / "copy", most=99)
    assert b"0123456789" == (tmp_path / "copy").read_bytes()
    with address.open("data/part-00000.parquet") as file:
        assert b"456" == file.read_at(3, 4)
    for name in ("release.json", "none", "data/part-00000.parquet"):
        address.delete(name)
    assert [] == [entry for entry in address.entries() if entry.size is not None]


@pytest.mark.usefixtures("store")
def test_what_is_not_there_is_a_missing_file(tmp_path):
    for text in ("mem://lake/lists", f"file://{tmp_path}/lists"):
        address = place_of(text)
        assert [] == address.entries()
        for read in (
            address.read_bytes,
            lambda a=address: a.fetch("x", tmp_path / f"{a.scheme}", 9),
        ):
            with pytest.raises(FileNotFoundError):
                read()


def test_an_object_whose_put_fails_twice_is_there_after_the_third(store):
    left = [2]

    def refused(verb, name):
        del name
        if verb == "write" and left[0]:
            left[0] -= 1
            raise OSError("the connection was reset")

    store.refused = refused
    place_of("mem://lake/lists").put_bytes("a", b"1")
    assert {"lake/lists/a": b"1"} == store.objects
    left[0] = 3
    with pytest.raises(
        ResourceError, match=r"the connection was reset.*run the same command again"
    ):
        place_of("mem://lake/lists").put_bytes("a", b"2")
    assert {"lake/lists/a": b"1"} == store.objects


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError("AWS Error ACCESS_DENIED during PutObject: word no"), UsageError),
        (OSError("When writing 'a': AWS Error NO_SUCH_BUCKET during PutObject\nword"), UsageError),
        (PermissionError(13, "Permission denied"), UsageError),
        (OSError("AWS Error EXPIRED_TOKEN during PutObject operation: word p%77"), ResourceError),
        (OSError(122, "Disk quota exceeded"), ResourceError),
    ],
)
def test_what_cannot_be_written_is_one_line_without_secrets(store, error, kind):
    tries = []

    def refused(verb, name):
        del name
        tries.append(verb)
        raise error

    store.refused = refused
    with pytest.raises(kind, match=r"^mem://lake/lists cannot be written") as raised:
        place_of("mem://me:word@lake/lists?token=p%2577").probe()
    said = str(raised.value)
    assert "word" not in said
    assert "p%77" not in said
    assert "\n" not in said
    assert len(tries) == (1 if kind is UsageError else 3)


def test_a_store_of_google_that_cannot_be_reached_is_given_up_in_time(monkeypatch):
    asked = []
    system = SimpleNamespace(from_uri=lambda uri: (asked.append(uri), ""))
    monkeypatch.setattr(stores, "fs", SimpleNamespace(FileSystem=system))
    for options in ("", "scheme=http", "retry_limit_seconds=5"):
        SCHEMES["gs"].opened("lake", options)
    assert [
        "gs://lake?retry_limit_seconds=60",
        "gs://lake?scheme=http&retry_limit_seconds=60",
        "gs://lake?retry_limit_seconds=5",
    ] == asked


def test_a_folder_of_this_machine_is_its_owners_alone_where_it_is_private(tmp_path):
    address = place_of(f"file://{tmp_path}/owner/lists")
    address.close_to_others()
    address.put_bytes("linkage/part-00000.parquet", b"")
    assert 0o700 == stat.S_IMODE((tmp_path / "owner" / "lists").stat().st_mode)
    [part] = (tmp_path / "owner" / "lists" / "linkage").iterdir()
    assert 0o600 == stat.S_IMODE(part.stat().st_mode)


def test_a_file_that_was_not_finished_has_a_name_of_its_own(tmp_path):
    assert is_partial("data/.part-00000.parquet.partial-0123456789ab")
    assert not is_partial("data/part-00000.parquet")
    address = place_of(f"file://{tmp_path}")
    with pytest.raises(UsageError, match="Is a directory"):
        address.put("a", tmp_path)
    assert [] == list(tmp_path.iterdir())
