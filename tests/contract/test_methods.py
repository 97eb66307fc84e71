"""What every method promises: each test runs over METHODS."""

from __future__ import annotations

import dataclasses
import getpass
import json
import os
import socket
import subprocess
import sys
import zlib

import msgspec
import numpy as np
import pytest

import graphveil as gv
from graphveil.claims.guarantees import AdaptiveAnonymity
from graphveil.core.errors import GraphveilError, InfeasibleError, UsageError
from graphveil.data.ids import same_ids
from graphveil.methods import METHODS
from graphveil.release import digest_of
from thorough import FUZZ

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

SEED = 918273645546372819
WITHOUT_POWER = {"noise on the edge count", "classes and weights"}
"""Conditions of which not even the original shows that they hold."""

ONE_A_KIND = ("k-degree", "mondrian", "cluster-k")
"""A method for every kind of released data: seals and digests know no more of a release."""


def text_of(data):
    """Return every id and label in a container as text."""
    labels = [data.labels()]
    if isinstance(data, gv.Bipartite):
        labels.append(data.feature_labels())
    rows = data.people if isinstance(data, gv.Network) else data
    if isinstance(rows, gv.Table):
        labels.extend(rows.categories)
    return {str(value) for values in labels for value in values.tolist()}


def size_of_data(data):
    """Return how much the data says: edges, entries, or published cells."""
    if isinstance(data, gv.Graph):
        return data.n_edges
    if isinstance(data, gv.Bipartite):
        return data.n_entries
    if isinstance(data, gv.Network):
        return data.n_ties
    return data.n_rows * data.n_columns - data.n_suppressed


def test_no_original_id_is_in_the_released_data_or_its_files(case, sample, tmp_path, public_bytes):
    assert_no_original_id(case, sample(case), tmp_path, public_bytes)


def test_no_large_integer_that_was_an_id_is_either(few, sample, tmp_path, public_bytes):
    assert_no_original_id(few, sample(few, ids=sample.big_ids), tmp_path, public_bytes)


def assert_no_original_id(case, data, tmp_path, public_bytes):
    release = case.anonymizer.anonymize(data)
    originals = {str(value) for value in data.labels().tolist()}
    assert set() == originals & text_of(release.data)
    assert list(range(data.size)) == release.data.labels().tolist()
    folder = release.write(tmp_path / "out")
    everything = b"\n".join(public_bytes(folder).values()).decode()
    assert [] == [name for name in originals if name in everything]


def test_verify_passes_on_what_was_written(case, sample, tmp_path):
    data = sample(case)
    folder = case.anonymizer.anonymize(data).write(tmp_path / "out")
    verdict = gv.verify_release(folder, original=data)
    assert [] == verdict.failures()
    few = {"chances"} if "prior-response" in case.method.name else set()  # flips of a small graph
    assert not_made(verdict) <= WITHOUT_POWER | few


def not_made(verdict):
    return {check.name for check in verdict.checks if check.outcome == "not checked"}


def test_verify_without_the_original_says_what_it_did_not_check(claim, sample, tmp_path):
    data = sample(claim)
    release = claim.anonymizer.anonymize(data)
    folder = release.write(tmp_path / "out")
    verdicts = [gv.verify_release(folder), release.verify(), release.verify(data)]
    from_files = not isinstance(release.guarantee, AdaptiveAnonymity)
    assert [from_files, from_files, True] == [verdict.ok for verdict in verdicts]
    assert all(not_made(verdict) - WITHOUT_POWER for verdict in verdicts[:2])
    assert not_made(verdicts[2]) <= WITHOUT_POWER
    assert {release.guarantee.check_word} == {verdict.word for verdict in verdicts}


def test_a_release_is_read_back_as_it_was_written(case, sample, tmp_path):
    release = case.anonymizer.anonymize(sample(case), seed=SEED)
    back = gv.read_release(release.write(tmp_path / "out"))
    assert release.data == back.data
    assert release.guarantee == back.guarantee
    assert release.provenance == back.provenance
    assert same_ids(release.private.linkage.original, back.private.linkage.original)
    assert release.private.linkage.released.tolist() == back.private.linkage.released.tolist()
    for name in ("input_sha256", "seed", "cost", "warnings", "seconds"):
        assert getattr(release.private, name) == getattr(back.private, name)


def test_a_release_read_without_its_private_folder_has_no_private_part(claim, sample, tmp_path):
    folder = claim.anonymizer.anonymize(sample(claim)).write(tmp_path / "out")
    folder.rename(tmp_path / "moved")
    assert gv.read_release(tmp_path / "moved").private is None
    assert not gv.verify_release(tmp_path / "moved").failures()


def test_a_release_that_was_read_can_be_written_again(few, sample, tmp_path, public_bytes):
    folder = few.anonymizer.anonymize(sample(few)).write(tmp_path / "out")
    again = gv.read_release(folder).write(tmp_path / "again")
    assert public_bytes(folder) == public_bytes(again)


SAME_BYTES = """
import sys, warnings
from pathlib import Path
import graphveil as gv
from graphveil.methods import METHODS
sys.path[:0] = [sys.argv[1], str(Path(sys.argv[1]).parent)]
import conftest
warnings.simplefilter("ignore", gv.GraphveilWarning)
one_of_each = {(case.method, case.kind): case for case in conftest.VARIANTS}.values()
for place, case in enumerate(conftest.VARIANTS if sys.argv[3] == "all" else one_of_each):
    data = conftest.sample_of(case, case.kind, conftest.text_ids)
    folder = Path(sys.argv[2], str(place))
    case.anonymizer.anonymize(data, seed=11).write(folder)
"""


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(tmp_path, request):
    here = str(request.path.parent)
    folders = []
    for threads, hash_seed in (("1", "1"), ("2", "77")):
        folder = tmp_path / f"threads-{threads}"
        folder.mkdir()
        environment = os.environ | {"NUMBA_NUM_THREADS": threads, "PYTHONHASHSEED": hash_seed}
        variants = "all" if FUZZ else "one of each"
        command = [sys.executable, "-c", SAME_BYTES, here, str(folder), variants]
        subprocess.run(command, env=environment, check=True)
        folders.append(folder)
    files = [sorted(path.relative_to(folder) for path in folder.rglob("*")) for folder in folders]
    assert files[0] == files[1]
    assert len(files[0]) > 4 * len(METHODS)
    for name in files[0]:
        one, two = (folder / name for folder in folders)
        if name.name == "record.json":
            assert without_seconds(one) == without_seconds(two), name
        elif one.is_file():
            assert one.read_bytes() == two.read_bytes(), name


def without_seconds(path):
    record = json.loads(path.read_text())
    del record["seconds"]
    return record


def test_without_a_seed_two_runs_give_other_ids(case, sample):
    data = sample(case)
    one, two = (case.anonymizer.anonymize(data).private.linkage.released for _ in range(2))
    assert one.tolist() != two.tolist()
    assert sorted(one.tolist()) == sorted(two.tolist())


def test_relabeling_and_permuting_the_input_changes_neither_claim_nor_quality(few, sample):
    data = sample(few)
    order = np.random.Generator(np.random.PCG64(3)).permutation(data.size)
    moved = data.permuted(order, ids=np.array(sample.big_ids(data.size)))
    both = [
        [few.anonymizer.anonymize(version, seed=seed) for seed in range(4)]
        for version in (data, moved)
    ]
    claims = [[release.guarantee for release in releases] for releases in both]
    assert 1 == len({without_reach(claim) for listed in claims for claim in listed})
    reached = [np.mean([reach(claim) for claim in listed]) for listed in claims]
    assert reached[0] == pytest.approx(reached[1], abs=0.1)
    sizes = [np.mean([size_of_data(r.data) for r in releases]) for releases in both]
    assert sizes[0] == pytest.approx(sizes[1], abs=0.1 * size_of_data(data))


def reach(claim):
    """Return the share of the nodes for whom it holds: of a partial claim a run decides it."""
    return claim.share if isinstance(claim, gv.StructuralKAnonymity) else 1.0


def without_reach(claim):
    partial = isinstance(claim, gv.StructuralKAnonymity)
    return msgspec.structs.replace(claim, share=1.0) if partial else claim


@pytest.mark.usefixtures("one_database")
def test_every_kind_of_data_that_a_method_takes_is_released_and_verified(
    few, also, sample, tmp_path
):
    others = [sample(few)] if few.kind is gv.Network else also(few.method)
    for place, data in enumerate(others):
        release = few.anonymizer.anonymize(data, seed=SEED)
        folder = release.write(tmp_path / str(place))
        assert release.data == gv.read_release(folder).data
        verdict = gv.verify_release(folder, original=data)
        assert [] == verdict.failures()
        assert verdict.complete
        assert data.labels().tolist() == release.private.linkage.original.tolist()
        if isinstance(data, gv.Table) and isinstance(release.data, gv.Bipartite):
            encoded = few.anonymizer.anonymize(data.one_hot(), seed=SEED)
            assert encoded.data == release.data
            assert encoded.private.input_sha256 == release.private.input_sha256


def test_the_input_is_left_as_it_was(few, sample):
    data, before = sample(few), sample(few)
    few.anonymizer.anonymize(data)
    assert before == data


def test_nothing_of_the_original_or_the_machine_is_in_the_public_manifest(
    few, sample, tmp_path, public_bytes
):
    data = sample(few)
    place = tmp_path / "a-telling-path"
    place.mkdir()
    folder = few.anonymizer.anonymize(data, seed=SEED).write(
        place / "out", reading={"ids": "ssn-column"}
    )
    public = b"\n".join(public_bytes(folder).values()).decode()
    record = json.loads((place / "out.private" / "record.json").read_text())
    assert digest_of(data) == record["input_sha256"]
    secrets = [digest_of(data), str(SEED), '"seed"', "a-telling-path", str(tmp_path), "linkage"]
    secrets += [socket.gethostname(), '"seconds"', "input", "private", "ssn-column"]
    assert [] == [secret for secret in secrets if secret in public]
    manifest = json.loads((folder / "release.json").read_text())
    values = {str(leaf) for _, leaf in leaves(manifest)}
    assert getpass.getuser() not in values
    figures = {v for k, v in record["cost"].items() if isinstance(v, int) and v > 9}
    released = set(manifest["data"]["counts"].values())
    counted = {"bytes", "rows"}
    numbers = [leaf for place, leaf in leaves(manifest) if not counted & set(place)]
    assert [] == [figure for figure in figures - released if figure in numbers]


def leaves(value, place=()):
    """Yield (place, value) of every leaf of a manifest."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in items:
            yield from leaves(child, (*place, key))
    else:
        yield place, value


def edited(value):
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value[:-1] + ("x" if value[-1:] != "x" else "y")
        case None:
            return "something"
    return ["something"]


def is_caught(folder):
    """Whether verify fails the release, or cannot take it for one."""
    try:
        return not gv.verify_release(folder).ok
    except GraphveilError:
        return True


@pytest.mark.usefixtures("one_database")
@pytest.mark.parametrize("name", ONE_A_KIND)
def test_an_edit_of_any_leaf_of_the_manifest_is_caught(name, sample, tmp_path):
    method = METHODS[name]
    release = sample.quick(method).anonymize(sample(method))
    path = release.write(tmp_path / "out") / "release.json"
    whole = path.read_text()
    for place, leaf in leaves(json.loads(whole)):
        manifest = json.loads(whole)
        inner = manifest
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = edited(leaf)
        path.write_text(json.dumps(manifest, indent=2))
        assert is_caught(path.parent), f"{place}: {leaf!r} -> {edited(leaf)!r}"
        del inner[place[-1]]
        path.write_text(json.dumps(manifest, indent=2))
        assert is_caught(path.parent), f"{place} removed"
    path.write_text(whole)
    assert not is_caught(path.parent)


@pytest.mark.usefixtures("one_database")
@pytest.mark.parametrize("name", ONE_A_KIND)
def test_a_flipped_byte_of_any_file_is_caught(name, sample, tmp_path):
    method = METHODS[name]
    release = sample.quick(method).anonymize(sample(method))
    folder = release.write(tmp_path / "out")
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        for place in np.linspace(0, len(whole) - 1, num=12, dtype=int):
            raw = bytearray(whole)
            raw[place] ^= 1
            path.write_bytes(raw)
            assert is_caught(folder), f"{path.name}, byte {place}"
        path.write_bytes(whole)


@pytest.mark.usefixtures("one_database")
def test_a_missing_or_a_further_file_is_caught(method, sample, tmp_path):
    release = sample.quick(method).anonymize(sample(method))
    folder = release.write(tmp_path / "out")
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        path.unlink()
        assert is_caught(folder), f"{path.name} is missing"
        path.write_bytes(whole)
    (folder / "more.csv").write_text("source,target\n")
    assert is_caught(folder)


def test_data_of_another_kind_is_refused_with_both_kinds_named(method, sample):
    others = [
        gv.Graph.from_edges([0], [1], n=2),
        gv.Bipartite.from_pairs(["ann"], ["tea"]),
        gv.Table.from_columns({"sex": ["f"]}),
    ]
    taken = method.accepts
    for data in others:
        if not isinstance(data, taken):  # a graph is a network
            with pytest.raises(UsageError, match=f"not a {type(data).__name__}") as caught:
                sample.quick(method).anonymize(data)
            assert all(f"a {kind.__name__}" in str(caught.value) for kind in taken)


def test_too_few_rows_are_infeasible_with_numbers_and_the_way_out(bounded, sample):
    needed = bounded.anonymizer.rows_needed
    data = first_rows(sample(bounded), needed - 1)
    with pytest.raises(InfeasibleError, match=rf"{needed}.*has {needed - 1}\b.*\. \w+") as caught:
        bounded.anonymizer.anonymize(data)
    assert "\n" not in str(caught.value)


def first_rows(data, n):
    """Return the first n rows or nodes of the data, under their ids."""
    if isinstance(data, gv.Graph):
        edges = data.edges()
        inside = edges[(edges < n).all(axis=1)]
        return gv.Graph.from_edges(inside[:, 0], inside[:, 1], ids=data.labels()[:n], n=n)
    if isinstance(data, gv.Bipartite):
        end = data.indptr[n]
        shape = data.n_features, data.labels()[:n], data.features
        return gv.Bipartite(data.indptr[: n + 1], data.indices[:end], *shape)
    if isinstance(data, gv.Table):
        ids = data.labels()[:n]
        return gv.Table(data.codes[:n], data.columns, data.categories, ids).without_unused()
    if isinstance(data, gv.Network):
        return data.part(np.arange(n)).without_unused()
    raise TypeError(f"first_rows is not written for {type(data).__name__}")


@pytest.mark.usefixtures("one_database")
def test_just_enough_rows_are_enough(case, sample):
    data = first_rows(sample(case), case.anonymizer.rows_needed)
    release = case.anonymizer.anonymize(data)
    assert release.verify(data).ok
    assert data.size == release.data.size


ODD_GRAPHS = {
    "one node": gv.Graph.from_edges([], [], n=1),
    "two nodes": gv.Graph.from_edges([], [], n=2),
    "isolated nodes only": gv.Graph.from_edges([], [], n=12),
    "all equal": gv.Graph.from_edges(range(12), [(v + 1) % 12 for v in range(12)], n=12),
    "complete": gv.Graph.from_edges(*np.triu_indices(12, k=1), n=12),
    "a star": gv.Graph.from_edges([0] * 11, range(1, 12), n=12),
    "a star and isolated nodes": gv.Graph.from_edges([0] * 5, range(1, 6), n=12),
}
ODD_LISTS = {
    "one user": gv.Bipartite.from_lists([["tea"]]),
    "no feature at all": gv.Bipartite(np.zeros(13), [], n_features=0),
    "features that nobody has": gv.Bipartite(np.zeros(13), [], n_features=5),
    "all equal": gv.Bipartite.from_lists([["tea", "rye"]] * 12),
    "all different": gv.Bipartite.from_lists([[f"only {user}"] for user in range(12)]),
    "every subset": gv.Bipartite.from_scipy(
        (np.arange(16)[:, None] >> np.arange(4)[None, :] & 1).astype(np.int8)
    ),
    "numbers with gaps": gv.Bipartite(range(13), [3, 7] * 6, n_features=40),
}
ODD_TABLES = {
    "one row": gv.Table.from_columns({"sex": ["f"], "age": ["30"]}),
    "one column": gv.Table.from_columns({"sex": ["f", "m", "*"] * 4}),
    "nothing known": gv.Table.from_columns({"sex": ["*"] * 12, "age": [""] * 12}),
    "all equal": gv.Table.from_columns({"sex": ["f"] * 12, "age": [30] * 12}),
    "all different": gv.Table.from_columns({"sex": range(12), "age": range(12, 24)}),
    "every combination": gv.Table(
        np.arange(16)[:, None] >> np.arange(4)[None, :] & 1, tuple("abcd"), ([0, 1],) * 4
    ),
    "values that nobody has": gv.Table([[1], [3]] * 6, ("sex",), (list("abcde"),)),
    "names that need care": gv.Table.from_columns(
        {"sex, or gender": ["f", '"m"', "a,b"] * 4, "=it's": [" x", "y ", "NULL"] * 4}
    ),
    "a column id": gv.Table.from_columns({"id": ["a", "b", "c"], "5-disk, old": ["x", "*", "x"]}),
}


def described(graph, sexes, zips):
    """Return a graph of people whose attributes repeat these values."""
    n = graph.n_nodes
    columns = {"sex": sexes, "zip": zips, "town": ["Oslo", "*", "a,b"]}
    cells = {
        name: [values[row % len(values)] for row in range(n)] for name, values in columns.items()
    }
    return gv.Network({"ties": graph}, gv.Table.from_columns(cells))


ODD_NETWORKS = {
    **{f"of one color, {name}": described(graph, ["f"], [1]) for name, graph in ODD_GRAPHS.items()},
    "two colors": described(ODD_GRAPHS["a star"], ["f"] * 6 + ["m"] * 6, ["x"]),
    "nothing known": described(ODD_GRAPHS["a star"], ["*"], [""]),
    "one color too small": described(ODD_GRAPHS["all equal"], ["f"] * 11 + ["m"], ["a, b"]),
}
ODD = {
    gv.Graph: ODD_GRAPHS,
    gv.Bipartite: ODD_LISTS,
    gv.Table: ODD_TABLES,
    gv.Network: ODD_NETWORKS,
}
EMPTY = {
    gv.Graph: gv.Graph.from_edges([], [], n=0),
    gv.Bipartite: gv.Bipartite([0], [], n_features=0),
    gv.Table: gv.Table(np.empty((0, 2), dtype=np.int32), ("sex", "age"), (["f"], ["30"])),
    gv.Network: gv.Network({"ties": gv.Graph.from_edges([], [], n=0)}),
}


def assert_released_or_refused(case, name, sample):
    data = sample.for_method(case, ODD[case.kind][name])
    anonymizer = case.anonymizer
    if case.method is METHODS["generalize"]:  # numbers without levels are refused
        columns = zip(data.columns, data.categories, strict=True)
        levels = {name: "auto" for name, values in columns if values.dtype.kind == "i"}
        anonymizer = dataclasses.replace(anonymizer, levels=levels or None)
    if data.size < anonymizer.rows_needed:
        with pytest.raises(InfeasibleError):
            anonymizer.anonymize(data)
    else:
        release = anonymizer.anonymize(data)
        assert data.size == release.data.size, name
        assert [] == release.verify(data).failures(), name


@pytest.mark.usefixtures("one_database")
def test_odd_data_gives_a_release_that_verifies_or_the_right_error(few, alike, sample):
    """Each odd data set meets every method, and half of them every choice of parameters."""
    at, several = alike
    for place, name in enumerate(ODD[few.kind]):
        if place % 2 == at % 2 or place % several == at:
            assert_released_or_refused(few, name, sample)


@pytest.mark.usefixtures("one_database")
def test_every_other_choice_of_parameters_copes_with_some_odd_data(rest, sample):
    names = list(ODD[rest.kind])
    assert_released_or_refused(rest, names[zlib.crc32(str(rest).encode()) % len(names)], sample)


def test_empty_data_gives_an_empty_release_or_the_right_error(method, sample):
    anonymizer = sample.quick(method)
    for kind in sample.kinds_of(method):
        data = sample.for_method(method, EMPTY[kind])
        if anonymizer.rows_needed > 0:
            with pytest.raises(InfeasibleError, match="has 0"):
                anonymizer.anonymize(data)
        else:
            assert anonymizer.anonymize(data).verify(data).ok
