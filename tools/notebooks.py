# ruff: noqa: INP001  a script that is run by hand, not a package
"""Make the notebooks of the tutorials from their pages: the page is the source of both.

    python tools/notebooks.py                     # write docs/tutorials/*.ipynb
    python tools/notebooks.py --run PAGE.md ...   # run first, and write into the page what came out

Of a page, a block of ``python`` is a cell, a block of ``bash`` a cell for the shell, and the block
of ``text`` right behind one is what it prints. Everything else is text.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import v4

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "tutorials"
BLOCK = re.compile(
    r"^```(python|bash)\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE
)
SHELL = "%%sh\n"
ABOUT_ITSELF = re.compile(r"^.*\{download\}.*\n", re.MULTILINE)


def notebook_of(page: str) -> Any:
    """Return the notebook of a page, with what the page says that its cells print.

    Parameters
    ----------
    page
        The text of the page.
    """
    cells: list[Any] = []
    end = 0
    for block in BLOCK.finditer(page):
        cells += _text(page[end : block.start()])
        language, source, printed = block.groups()
        source = source.rstrip("\n")
        cells.append(v4.new_code_cell(source if language == "python" else SHELL + source))
        if printed is not None:
            cells[-1].outputs = [v4.new_output("stream", name="stdout", text=printed)]
        end = block.end()
    cells += _text(page[end:])
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # as drawn by nbformat it would differ each time
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _text(source: str) -> list[Any]:
    """Return a cell of text, none for blanks; that the page is a notebook as well is left out."""
    stripped = ABOUT_ITSELF.sub("", source).strip().replace("\n\n\n", "\n\n")
    return [v4.new_markdown_cell(stripped)] if stripped else []


def printed_by(cell: Mapping[str, Any]) -> str:
    """Return what a cell printed to stdout, or returned in its last line, as text."""
    return "".join(
        output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"] + "\n"
        for output in cell["outputs"]
        if output.get("name") == "stdout" or output["output_type"] == "execute_result"
    )


def run(notebooks: Iterable[Any], *, folder: Path) -> None:
    """Run notebooks one after the other in one kernel, each from an empty namespace and folder."""
    client = None
    for number, notebook in enumerate(notebooks):
        home = folder / str(number)
        home.mkdir()
        reset = v4.new_code_cell(f"%reset -f\n%cd -q {home}")
        notebook.cells.insert(0, reset)
        if client is None:
            client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}})
            client.create_kernel_manager()
            client.start_new_kernel(cwd=str(folder))
            client.start_new_kernel_client()
        client.nb = notebook
        client.reset_execution_trackers()
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                client.execute_cell(cell, index)
        notebook.cells.pop(0)
    if client is not None:
        client._cleanup_kernel()  # noqa: SLF001  nbclient offers no other end of a kernel it started


def with_outputs(page: str, notebook: Any) -> str:
    """Return a page with what the cells of its notebook printed."""
    codes = iter([cell for cell in notebook.cells if cell.cell_type == "code"])

    def rewritten(block: re.Match[str]) -> str:
        language, source, _ = block.groups()
        text = printed_by(next(codes))
        head = f"```{language}\n{source}```"
        return f"{head}\n\n```text\n{text.rstrip()}\n```" if text.strip() else head

    return BLOCK.sub(rewritten, page)


def main() -> None:
    """Write the notebooks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", nargs="*", type=Path, default=[], metavar="PAGE.md")
    for page in parser.parse_args().run:
        notebook = notebook_of(page.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            run([notebook], folder=Path(folder))
        page.write_text(with_outputs(page.read_text(encoding="utf-8"), notebook), encoding="utf-8")
    for page in sorted(FOLDER.glob("*.md")):
        notebook = notebook_of(page.read_text(encoding="utf-8"))
        nbformat.write(notebook, page.with_suffix(".ipynb"))


if __name__ == "__main__":
    main()
