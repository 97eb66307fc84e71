"""The wheel holds all that the package needs, and runs without the sources."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "graphveil"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel):
    expected = {
        f"graphveil/{path.relative_to(PACKAGE)}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    names = set(zipfile.ZipFile(wheel).namelist())
    packed = {name for name in names if name.startswith("graphveil/")}
    assert expected == packed
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("licenses/NOTICE") for name in names)
    assert any(name.endswith(".dist-info/sboms/graphveil.cdx.json") for name in names)


def test_the_package_runs_from_the_wheel_alone(wheel, tmp_path):
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    code = (
        f"import sys; sys.path.insert(0, {str(installed)!r}); import graphveil; "
        "from graphveil.cli import run; print(graphveil.__file__); "
        "item = ['reproduce', 'smooth-anonymity', '--figure', '2']; "
        "sys.exit(run(['methods', '--json']) or run(item))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    assert str(installed) == done.stdout.partition("/graphveil/__init__.py")[0]
    assert '"k-degree"' in done.stdout
    assert "epsilon for a Jaccard of one half" in done.stdout
