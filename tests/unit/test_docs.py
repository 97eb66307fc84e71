"""The pages say what the code does: every example runs, every field and command stands in them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import numpy as np
import pytest
from pyarrow import parquet

import graphveil
from graphveil import METHODS
from graphveil.claims.manifest import Claim, DataFile, Described, Manifest, Method
from graphveil.cli.app import COMMANDS
from graphveil.io import datasets, write
from graphveil.pages.html import WORDS
from graphveil.release import Record
from thorough import some_of

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "docs"))
import first_picture  # noqa: E402  it is next to the pages

WITH_EXAMPLES = ["README.md", "docs/tutorial.md"]
WITH_PYTHON = [
    *WITH_EXAMPLES,
    "docs/how-to/budget-of-epsilon.md",
    "docs/how-to/receive-a-noisy-release.md",
]


GRAPH = 'import graphveil as gv\ngraph = gv.read_graph("friends.csv")\n'
HANDED_IN = """
import igraph, networkx, pandas, scipy.sparse
nx_graph = networkx.path_graph(20)
ig_graph = igraph.Graph.Ring(20)
matrix = scipy.sparse.csr_array([[0, 1], [1, 0]])
frame = pandas.DataFrame({"caller": ["ann", "cyd"], "called": ["bob", "dan"], "height": [1.5, 1.9]})
"""
BEFORE = {
    "docs/how-to/attack.md": GRAPH + "release = gv.KDegree(k=5).anonymize(graph)\n",
    "docs/how-to/read-your-data.md": HANDED_IN,
    "docs/methods/adaptive.md": "import graphveil as gv\n",
    "docs/reference/python-rest.md": "import graphveil as gv\n",
    "docs/reference/datasets.md": "import graphveil as gv\n"
    'gv.datasets.fetch = lambda name: gv.datasets.path_of("copenhagen-calls")\n',
}
"""What stands in the reader's own program before the Python of a page."""

WITH_PIECES = [
    name
    for name in sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
    if "```python" in (ROOT / name).read_text(encoding="utf-8")
    and name not in WITH_PYTHON
    and not name.startswith("docs/tutorials/")  # run as notebooks, in test_docs_tutorials.py
]
PAGE_BY_PAGE = """
import json, os, shutil, sys
for name, code in json.loads(sys.argv[1]):
    home = os.path.join(os.getcwd(), "page")
    shutil.copytree("inputs", home)
    os.chdir(home)
    try:
        exec(compile(code, name, "exec"), {"__name__": "__main__"})
    finally:
        os.chdir("..")
        shutil.rmtree(home)
"""


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page(name), re.DOTALL | re.MULTILINE)


ONE_AFTER_THE_OTHER = """
import json, sys
from graphveil.cli import run
for _, *words in json.loads(sys.argv[1]):
    code = run(words)
    if code:
        sys.exit(f"{words} ended with {code}")
"""


@pytest.fixture
def cwd(tmp_path):
    calls = datasets.load("copenhagen-calls").part(np.arange(150))  # few: each is attacked
    write(calls, tmp_path / "friends.csv")
    return tmp_path


def run(arguments, cwd):
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", WITH_PYTHON)
def test_the_python_of_a_page_runs(name, cwd):
    code = "\n".join(blocks(name, "python"))
    assert code
    done = run(["-c", code], cwd)
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_the_python_of_all_other_pages_runs(tmp_path):
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    shutil.copy(datasets.path_of("copenhagen-calls"), inputs / "friends.csv")
    table = "name,height,age\n" + "".join(f"p{n},{150 + n},{20 + n}\n" for n in range(40))
    (inputs / "people.csv").write_text(table, encoding="utf-8")
    lists = graphveil.Bipartite.from_lists([["gin", "tea"], ["gin", "jam"]] * 20)
    parquet.write_table(lists.to_arrow(), inputs / "lists.parquet")
    ties = datasets.load("copenhagen-calls").to_arrow()
    parquet.write_table(ties, inputs / "ties.parquet")
    (inputs / "likes.csv").write_text("user,item\nann,gin\nbob,tea\n", encoding="utf-8")
    (inputs / "users.csv").write_text("user\nann\nbob\ncyd\n", encoding="utf-8")
    codes = [
        (name, BEFORE.get(name, "") + "\n".join(blocks(name, "python"))) for name in WITH_PIECES
    ]
    assert len(codes) > 15
    chosen = some_of(WITH_PIECES, every=8)
    codes = [(name, code) for name, code in codes if name in chosen]
    done = run(["-c", PAGE_BY_PAGE, json.dumps(codes)], tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_commands_of_a_page_run_one_after_the_other(name, cwd):
    lines = [
        shlex.split(line, comments=True)
        for block in blocks(name, "bash")
        for line in block.splitlines()
        if line.startswith("graphveil ")
    ]
    assert lines
    done = run(["-c", ONE_AFTER_THE_OTHER, json.dumps(lines)], cwd)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("struct", [Manifest, Method, Claim, Described, DataFile, Record])
def test_every_field_of_manifest_and_record_is_explained(struct):
    lines = page("docs/reference/release-folder.md").splitlines()
    named = re.findall(r"`([^`]+)`", " ".join(line.split("|")[1] for line in lines if "|" in line))
    explained = {part for name in named for part in name.split(".")}
    fields = {field.name for field in msgspec.structs.fields(struct)}
    assert fields <= explained


def test_every_command_has_a_page_in_the_reference_and_a_line_in_its_table():
    listed = re.findall(r"^commands-(\S+)$", page("docs/reference/commands.md"), re.MULTILINE)
    assert listed == list(COMMANDS)
    for name in COMMANDS:
        text = page(f"docs/reference/commands-{name}.md")
        assert text.startswith(f"# graphveil {name}\n\n{{{{ help_{name} }}}}\n")
    assert "{{ commands }}" in page("docs/reference/commands.md")


@pytest.mark.parametrize("name", ["attacks", "commands", "metrics", "python"])
def test_a_long_reference_is_a_table_and_a_page_for_each_line_of_it(name):
    text = page(f"docs/reference/{name}.md")
    head = text.partition("\n\n")[2]
    assert head.startswith(("| ", "{{ commands }}"))
    parts = {path.stem for path in (ROOT / "docs" / "reference").glob(f"{name}-*.md")}
    listed = re.findall(rf"^{name}-\S+$", text, re.MULTILINE)
    assert parts == set(listed)
    if name != "commands":
        assert listed == re.findall(rf"^\| \[.*\]\(({name}-\S+)\.md\)", text, re.MULTILINE)


def test_the_glossary_has_every_word_once_in_alphabetical_order_and_that_of_a_report():
    text = page("docs/reference/words.md")
    words = [word.strip("`") for word in re.findall(r"^(\S.*)\n: ", text, re.MULTILINE)]
    assert words == sorted(set(words))
    notions = {*("attacker", "claim", "condition", "guarantee", "ledger", "linkage", "manifest")}
    notions |= {*("measure", "method", "metric", "owner", "record", "release", "verdict")}
    notions |= {"bounded", "not shown", "recomputed", "verdict"}
    assert set() == notions - set(words)
    assert "{{ words_of_a_page }}" in text
    assert len(WORDS) <= 15


def test_the_picture_of_the_first_page_says_in_words_what_it_shows():
    assert "\n{{ first_picture }}\n" in page("docs/index.md")
    picture = ET.fromstring(first_picture.picture())  # noqa: S314  our own text
    texts = {element.tag.rpartition("}")[2]: element.text for element in picture.iter()}
    assert texts["title"] == "What graphveil does"
    for verb in ("anonymize", "verif", "measure", "evaluate", "attack", "report"):
        assert verb in texts["desc"]
        assert verb in first_picture.picture().partition("</style>")[2]


def test_the_menu_has_at_most_thirty_entries():
    trees = re.findall(r"^```{toctree}\n(.*?)^```", page("docs/index.md"), re.DOTALL | re.MULTILINE)
    entries = [line for tree in trees for line in tree.splitlines() if line and line[0] != ":"]
    assert 20 < len(entries) <= 30
    assert [] == [name for name in entries if not (ROOT / "docs" / f"{name}.md").exists()]


METHOD_PAGE = [
    *("Use it when", "Example", "Guarantee", "Not covered", "Parameters", "How it works"),
    *("Measured", "References"),
]
"""The parts of a method's page in their order; a part that one method alone has stands between."""


@pytest.mark.parametrize("method", METHODS)
def test_the_page_of_a_method_says_what_it_is_then_for_whom_then_its_limits(method):
    text = page(f"docs/methods/{method}.md")
    title, what, *_ = text.split("\n\n")
    assert title.startswith("# ")
    assert not what.startswith(("#", "{{", "|", "-"))
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert [*METHOD_PAGE[:1], *METHOD_PAGE[2:]] == [
        heading for heading in headings if heading in METHOD_PAGE and heading != "Example"
    ]
    assert "Example" not in headings[2:]
    limits = text.partition("## Not covered\n\n")[2]
    assert limits.startswith(f"{{{{ limit_{method.replace('-', '_')} }}}}")


def test_every_method_has_a_page_with_its_limits_and_its_parameters():
    for name in METHODS:
        key = name.replace("-", "_")
        text = page(f"docs/methods/{name}.md")
        assert f"{{{{ limit_{key} }}}}" in text
        assert f"{{{{ parameters_{key} }}}}" in text
    assert "\n[!i]*\n" in page("docs/methods/index.md")
    assert all(method.card.limits for method in METHODS.values())


def test_the_notice_names_every_shipped_file():
    files = {file for item in datasets.DATASETS.values() for file in item.files}
    assert [file for file in files if file not in page("NOTICE")] == []


def test_the_changelog_has_a_place_for_the_next_change():
    _, *versions = re.split(r"^## ", page("CHANGELOG.md"), flags=re.MULTILINE)
    assert versions[0].startswith("Unreleased\n")


def test_the_reference_of_python_names_everything_public():
    pages = (ROOT / "docs" / "reference").glob("python-*.md")
    reference = "".join(path.read_text(encoding="utf-8") for path in pages)
    assert "{{ python_methods }}" in reference
    methods = {method.__name__ for method in graphveil.METHODS.values()}
    unlisted = {"GraphveilError", "GraphveilWarning", "warnings", "__version__", *methods}
    public = set(graphveil.__all__) - unlisted
    assert "{{ python_warnings }}" in reference
    assert set() == {name for name in public if not re.search(rf":: .*\b{name}\b", reference)}


def test_the_reference_of_python_tells_how_to_hear_notices():
    assert ".. autofunction:: graphveil.core.progress.heard" in page(
        "docs/reference/python-rest.md"
    )


def test_folders_of_kernels_are_named_in_the_order_in_which_they_are_tried():
    folders = ["`NUMBA_CACHE_DIR` names", "the package's own", "`~/.cache/graphveil`"]
    text = page("docs/reference/commands-warm.md")
    assert folders == sorted(folders, key=text.index)
