"""The tutorials are pages and notebooks at once: they say the same, and print what they say."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import nbformat
import pytest

from thorough import in_fuzz_alone

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import notebooks  # noqa: E402  a script beside the package

PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
QUICK = {"received-folder"}
LONG = [pytest.mark.thorough, in_fuzz_alone]
RUN = [pytest.param(page, marks=[] if page.stem in QUICK else LONG) for page in PAGES]
PAGE = """# A page

Words [to a page](../index.md).

```python
print(6 * 7)
```

```text
42
```

```bash
echo one >&2
echo two
```

```text
two
```

```python
"three"
```

```text
alone, for it stands behind a sentence
```
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Put `graphveil` on the path of the kernel, as in an environment that is switched on."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "graphveil"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m graphveil "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        yield


def test_there_is_a_tutorial_for_each_reader_and_the_first_page_lists_them():
    wanted = ["compare-methods", "received-folder", "register", "statistical-office"]
    wanted += ["table", "user-item-data"]
    assert wanted == [page.stem for page in PAGES]
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [] == [name for name in wanted if f"(tutorials/{name}.md)" not in index]


def test_a_page_becomes_cells_of_text_code_and_shell():
    notebook = notebooks.notebook_of(
        PAGE.replace('"three"\n```\n\n```text', '"three"\n```\n\nSo:\n\n```text')
    )
    nbformat.validate(notebook)
    kinds = ["markdown", "code", "code", "code", "markdown"]
    assert kinds == [cell.cell_type for cell in notebook.cells]
    assert "%%sh\necho one >&2\necho two" == notebook.cells[2].source
    assert ["42\n", "two\n", ""] == [notebooks.printed_by(cell) for cell in notebook.cells[1:4]]
    assert "alone, for" in notebook.cells[4].source


def test_what_a_cell_prints_is_written_behind_its_block(tmp_path):
    notebook = notebooks.notebook_of(PAGE.replace("42", "43"))
    notebooks.run([notebook], folder=tmp_path)
    assert ["42\n", "two\n", "'three'\n"] == [
        notebooks.printed_by(cell) for cell in notebook.cells if cell.cell_type == "code"
    ]
    after = PAGE.replace("alone, for it stands behind a sentence", "'three'")
    assert after == notebooks.with_outputs(PAGE.replace("42", "43"), notebook)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_notebook_of_a_tutorial_is_the_page(page):
    made = notebooks.notebook_of(page.read_text(encoding="utf-8"))
    assert nbformat.writes(made) + "\n" == page.with_suffix(".ipynb").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
@pytest.mark.usefixtures("command")
def test_a_tutorial_prints_what_its_page_says(page, tmp_path):
    notebook = notebooks.notebook_of(page.read_text(encoding="utf-8"))
    said = [notebooks.printed_by(cell) for cell in notebook.cells if cell.cell_type == "code"]
    notebooks.run([notebook], folder=tmp_path)
    printed = [notebooks.printed_by(cell) for cell in notebook.cells if cell.cell_type == "code"]
    assert [text.rstrip() for text in said] == [text.rstrip() for text in printed]
    assert any(printed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_reads_no_data_but_what_ships(page):
    text = page.read_text(encoding="utf-8")
    assert re.search(r"gv\.datasets\.(load|path_of|generated_register)\(|random\.Random\(", text)
    assert "fetch" not in text
