# ruff: noqa: INP001, T201  a script that is run by hand, and prints
"""Print the shape of the project: sizes to look at. Nothing here fails.

    python tools/shape.py

A large number is a question, not a fault: is a module two subjects, is a page two pages? What must
hold (rooms, randomness, words) is in the tests.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "graphveil"
SHOWN = 8
"""How many of each list are printed."""

SENTENCE = 25
"""The words of a sentence that is read at once; longer ones are counted."""


class Module:
    """A module of the package, with its lines by what they are."""

    def __init__(self, path: Path) -> None:
        """Read the file."""
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        self.name = path.relative_to(PACKAGE).as_posix()
        self.lines = source.count("\n")
        texts = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ]
        docs = {line for node in texts for line in range(node.lineno, (node.end_lineno or 0) + 1)}
        comments, code = set(), set()
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                comments.add(token.start[0])
            elif token.string.strip() and token.type != tokenize.ENDMARKER:
                code |= set(range(token.start[0], token.end[0] + 1))
        self.docs, self.code = len(docs), len(code - docs)
        self.comments = len(comments - code)
        self.functions = {
            f"{self.name}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
        }


def listed(title: str, counts: Iterable[tuple[str, int]]) -> None:
    """Print the largest of some counts."""
    print(f"\n{title}")
    for name, count in sorted(counts, key=lambda pair: -pair[1])[:SHOWN]:
        print(f"  {count:6,}  {name}")


def words_of(path: Path) -> int:
    """Return the words of a page."""
    return len(
        [word for word in path.read_text(encoding="utf-8").split() if re.search(r"\w", word)]
    )


def long_sentences(path: Path) -> int:
    """Return how many sentences of a page have more than 25 words; tables and code do not count."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    prose = " ".join(line for line in text.split("\n") if not line.startswith(("|", "#", "    ")))
    return sum(len(part.split()) > SENTENCE for part in re.split(r"(?<=[.!?:;])\s+", prose))


def main() -> None:
    """Print the report."""
    modules = [Module(path) for path in sorted(PACKAGE.rglob("*.py"))]
    code = sum(module.code for module in modules)
    print(
        f"{len(modules):,} modules, {code:,} lines of code, "
        f"{sum(module.docs for module in modules):,} of docstrings, "
        f"{sum(module.comments for module in modules):,} of comments"
    )
    folders = Counter(Path(module.name).parent.as_posix() for module in modules)
    listed("modules in a folder", folders.items())
    listed("lines of a module", ((module.name, module.lines) for module in modules))
    listed(
        "lines of a function",
        (pair for module in modules for pair in module.functions.items()),
    )
    listed(
        "lines of code in modules without three comments",
        ((module.name, module.code) for module in modules if module.comments < 3),
    )
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    named = [(path.relative_to(ROOT).as_posix(), path) for path in pages]
    listed("words of a page", ((name, words_of(path)) for name, path in named))
    listed("sentences of more than 25 words", ((name, long_sentences(p)) for name, p in named))


if __name__ == "__main__":
    main()
