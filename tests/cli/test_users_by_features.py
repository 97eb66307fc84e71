from __future__ import annotations

import json

import pytest

LIKES = "user,item\n" + "".join(
    f"person-{number:02d},{item}\n"
    for number in range(24)
    for column, item in enumerate(("tea", "rye", "gin", '"oil, green"'))
    if (number * 7 + column * 5) % 3
)
SMOOTH = ("anonymize", "smooth-k", "likes.csv", "--k", 3)


@pytest.fixture
def likes(cwd):
    (cwd / "likes.csv").write_text(LIKES)
    return cwd


def record_of(folder):
    return json.loads((folder.with_name(f"{folder.name}.private") / "record.json").read_text())


@pytest.mark.parametrize("method", ["smooth-k", "suppress-k", "mondrian"])
def test_from_a_file_of_pairs_to_a_verified_release(graphveil_here, likes, method):
    done = graphveil_here("anonymize", method, "likes.csv", "--k", 3, "--out", "out")
    assert 0 == done.code
    assert "person-" not in (likes / "out" / "data.csv").read_text()
    checked = graphveil_here("verify", "out", "--original", "likes.csv")
    assert 0 == checked.code
    assert "checks holds" in checked.out.splitlines()[-1]
    assert 0 == graphveil_here("evaluate", "out", "--original", "likes.csv", "--json").code


def test_a_table_is_read_as_its_features(graphveil_here, cwd):
    rows = "".join(f"{'fm'[i % 2]},{i % 3},{i % 5}\n" for i in range(30))
    (cwd / "people.csv").write_text(f"sex,age,town\n{rows}")
    flags = ("--k", 3, "--kind", "table", "--out", "out")
    assert 0 == graphveil_here("anonymize", "smooth-k", "people.csv", *flags).code
    assert "sex=f" in (cwd / "out" / "data.csv").read_text()
    assert 0 == graphveil_here("verify", "out", "--original", "people.csv").code


def test_a_second_release_is_nested_in_the_first(graphveil_here, likes):
    assert 0 == graphveil_here(*SMOOTH, "--out", "one").code
    again = ("anonymize", "smooth-k", "likes.csv", "--k", 8, "--out", "two")
    refused = graphveil_here(*again)
    assert (2, False) == (refused.code, (likes / "two").exists())
    assert "Nest the second in the first" in refused.err
    assert 0 == graphveil_here(*again, "--nested-in", "one").code
    assert 0 == graphveil_here("verify", "two", "--original", "likes.csv").code
    nowhere = graphveil_here(*again[:-1], "three", "--nested-in", "nowhere")
    assert 2 == nowhere.code
    assert "nowhere" in nowhere.err.splitlines()[-1]


def test_sensitive_features_are_named_in_one_flag(graphveil_here, likes):
    flags = (*SMOOTH, "--theta-max", 0.6, "--out", "out")
    assert 0 == graphveil_here(*flags, "--sensitive", "gin,tea").code
    manifest = json.loads((likes / "out" / "release.json").read_text())
    record = json.loads((likes / "out.private" / "record.json").read_text())
    assert "sensitive" not in manifest["method"]["parameters"]
    assert "gin,tea" == record["withheld"]["sensitive"]
    assert 0 == graphveil_here("verify", "out", "--original", "likes.csv").code
    unknown = graphveil_here(*flags[:-1], "other", "--again", "--sensitive", "rum")
    assert 2 == unknown.code
    assert "'rum', which is no feature of the data" in unknown.err.splitlines()[-1]


def test_chunks_need_no_processes_of_their_own_kind(graphveil_here, likes):
    flags = (*SMOOTH, "--chunk-rows", 12, "--seed", 5)
    for jobs in (1, 2):
        out = f"out-{jobs}"
        assert 0 == graphveil_here(*flags, "--jobs", jobs, "--out", out, "--again").code
    one, two = ((likes / f"out-{jobs}" / "data.csv").read_bytes() for jobs in (1, 2))
    assert one == two
    assert record_of(likes / "out-1")["cost"] == record_of(likes / "out-2")["cost"]


@pytest.mark.usefixtures("likes")
def test_a_format_without_names_is_refused_before_the_work(graphveil_here, monkeypatch):
    def unexpected(*_, **__):
        raise AssertionError("nothing is to be anonymized")

    monkeypatch.setattr("graphveil.methods.SmoothK.anonymize", unexpected)
    done = graphveil_here(*SMOOTH, "--out", "out", "--format", "mtx")
    assert 2 == done.code
    assert "the names of features would be lost" in done.err.splitlines()[-1]
