"""Releases that earlier states of the program wrote still verify; they lie beside this file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import graphveil as gv
from forged.kit import read_manifest, reseal

RELEASES = Path(__file__).with_name("releases")
FOLDERS = sorted(RELEASES.iterdir())


def failed(folder):
    return {check.name: check.detail for check in gv.verify_release(folder).failures()}


def changed(tmp_path, name, change):
    """Return a copy of a release whose manifest was changed and sealed anew."""
    folder = Path(shutil.copytree(RELEASES / name, tmp_path / name))
    manifest = read_manifest(folder)
    change(manifest)
    manifest["method"]["parameters"] = dict(sorted(manifest["method"]["parameters"].items()))
    reseal(folder, manifest)
    return folder


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_release_of_before_verifies_and_says_what_its_method_said(folder):
    verdict = gv.verify_release(folder)
    assert [] == verdict.failures()
    outcomes = {check.name: check.outcome for check in verdict.checks}
    assert ("holds", "holds") == (outcomes["method"], outcomes["data"])


def test_every_kind_of_data_is_among_them_and_none_is_large():
    manifests = [read_manifest(folder) for folder in FOLDERS]
    assert {"graph", "bipartite", "table"} == {m["data"]["kind"] for m in manifests}
    assert {"csv", "parquet"} == {m["data"]["files"][0]["format"] for m in manifests}
    sizes = [sum(file.stat().st_size for file in folder.iterdir()) for folder in FOLDERS]
    assert 20_000 > max(sizes)


def test_cells_had_the_double_nearest_to_epsilon_before():
    folder = RELEASES / "randomized-response-epsilon-0.1"
    part = read_manifest(folder)["claim"]["conditions"][0]["epsilon_cells"]
    assert "3602879701896397/36028797018963968" == part
    assert "by construction" == gv.verify_release(folder).word


def without(name):
    return lambda manifest: manifest["method"]["parameters"].pop(name)


def test_which_parameters_are_left_out_is_no_place_for_a_message(tmp_path):
    assert {} == failed(changed(tmp_path / "twin", "structural-partial", dict))
    for name in ("effort", "iterations", "distance"):
        folder = changed(tmp_path / name, "structural-partial", without(name))
        assert f"the parameter {name} is None" in failed(folder)["method"]


def test_an_earlier_state_holds_as_a_whole_or_not_at_all(tmp_path):
    before = read_manifest(RELEASES / "structural-before-effort")["claim"]
    text = {"does_not_protect_against": before["does_not_protect_against"]}
    forgeries = {
        "structural-partial": lambda manifest: manifest["claim"].update(text),
        "structural-before-effort": lambda manifest: manifest["method"]["parameters"].update(
            effort=1.0
        ),
    }
    for name, forgery in forgeries.items():
        assert {} == failed(changed(tmp_path / "twin", name, dict))
        assert ["method"] == list(failed(changed(tmp_path / "forged", name, forgery)))
    folder = changed(tmp_path / "shorter", "structural-before-effort", without("distance"))
    assert ["method"] == list(failed(folder))
