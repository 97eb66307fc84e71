"""What people read is plain technical English: no construction or term of the list below.

The list holds what readers of earlier versions stumbled over. It is looked for in all strings of
the source that read as a sentence or a part of one, in docstrings, in the templates of pages, and
in the pages of the docs. SQL, examples, and names in backticks or italics are not looked at.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "graphveil"

FORBIDDEN = {
    "who without a noun: an attacker who, anyone who": r"\b(?:for|to|of|by|from|with|than) who\b|"
    r"^[Ww]ho (?:knows|has|holds|reads|looks)\b|\bwhoever\b(?! it is)|\bsome(?:one|body) who\b",
    "adversary: attacker": r"\badversar(?:y|ies)\b",
    "tie: edge, or connection on a page": r"\bties?\b(?!-membership\b|=)|\btied\b",
    "promise: guarantee": r"\b[Pp]romis(?:e|es|ed)\b",
    "is no X: is not a X": r"(?<!there )(?<!There )\b(?:is|are) (?:no|none)\b"
    r"(?! (?:longer|more|less|such|need|way|reason|other|better|worse|larger|limit))",
    "say --option: use --option": r"\b[Ss]ay (?:`)?--",
    "left out: dropped, suppressed": r"\b(?:left|leave|leaves|leaving) (?:it |them )?out\b",
    "stand out: can be singled out": r"\b(?:stands?|standing) out\b",
    "told apart: distinguished": r"\btold\b",
    "besides: in addition to": r"\b[Bb]esides\b",
    "hang on, rest on, hang together: depend on, be connected": r"\bhangs? (?:on|together)\b|"
    r"\brests? on\b",
    "recounted, counted again: verified, recomputed": r"\brecounted\b|\bcounted again\b",
    "drawn anew: sampled again": r"\bdrawn anew\b|\bdraws? anew\b",
    "a row a tie, one a line: one row per edge": r"\b(?:one|a (?:row|line|name|number|pair)) an? "
    r"(?:line|row|column|cell|tie|edge|node|person)\b",
    "mend: fix": r"\bmend(?:s|ed|ing)?\b",
    "lies in: is in": r"\blies? (?:in|at|beside|below|there)\b",
    "a space before %": r"[\d}] %(?!\w)",
    "who is who: re-identification": r"\b[Ww]ho is who\b",
    "Of a table: for a table": r"^Of (?!the )\w+|^Of the [a-z ]+:",
    "somebody: a person, an attacker": r"\b[Ss]omebody\b(?! had)",
    "beside: next to, with, in addition to": r"\b[Bb]eside\b",
    "speak of, say nothing about: apply to, concern": r"\bspeaks? (?:of|against)\b",
    "the data has no people: no rows, no nodes": r"\brelease of fewer people\b|\bhas no people\b",
    "hold off: protect against": r"\b(?:holds?|held) off\b|\bgives up\b",
    "lay terms of likeness: equal, similar, unique": r"\balike\b|\balone with\b|\bturns? out\b",
    "made up, drawn up: generated": r"\b(?:made|drawn|thought) up\b",
}
"""What not to write, each with what to write, by regular expressions."""

KEYS = frozenset(
    {
        "all ties or items in which a person has no part",
        "joint class smaller than promised",
        "no ties",
        "of people left out",
        "one item of people left out",
        "one tie",
        "rare other items, recall of people left out",
        "ties and people around",
        "ties of each kind",
        "ties out and in",
    }
)
"""Names in stored rows and in manifests of earlier releases: they are read back as they are."""

LINES = "Of a table: for a table"
"""What is looked for at the beginning of a string alone."""

AT_THE_TOP = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "GOVERNANCE.md",
    "SECURITY.md",
    "benchmarks/README.md",
)
"""Pages outside the docs."""


class Text(NamedTuple):
    """A string of the source, and where it is."""

    place: str
    words: str


@cache
def _texts() -> list[Text]:
    """Return every string that reads as English, with placeholders as ``{}``."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in _strings(ast.parse(path.read_text(encoding="utf-8"))):
            words = _words_of(node)
            if _reads_as_english(words) and words not in KEYS:
                found.append(Text(f"{path.relative_to(SOURCE)}:{node.lineno}", words))
    return found


def _strings(tree: ast.Module) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Yield the strings of a module; of those that are joined the whole, docstrings not."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            yield node
            continue
        waiting.extend(ast.iter_child_nodes(node))


def _words_of(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
    )


@cache
def _docstrings() -> list[Text]:
    """Return every paragraph of a docstring, without names in backticks and examples."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                found += [
                    Text(f"{place}:{node.lineno}", words)
                    for words in _paragraphs(node.value.value)
                    if words
                ]
    return found


def _paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs, entries of lists and descriptions of parameters."""
    header = r"\n *(?:[\w, *]+ : [^\n]+|-{3,}|[a-z_]+(?:, [a-z_]+)*)(?=\n)"
    parts = re.split(rf"\n\s*\n|\n *- |{header}", text)
    for part in parts:
        if not part.strip().startswith((">>>", "...")):
            yield re.sub(r"`+[^`]*`+", "`x`", " ".join(part.split("\n>>>")[0].split()))


@cache
def _templates() -> list[Text]:
    """Return what a template shows, with expressions as ``{}``, and the strings in its code."""
    found = []
    for path in sorted(SOURCE.rglob("templates/*.html")):
        place, text = str(path.relative_to(SOURCE)), path.read_text(encoding="utf-8")
        text = re.sub(r"\{#.*?#\}", "", text, flags=re.DOTALL)
        strings = [
            one
            for code in re.findall(r"\{[%{].*?[%}]\}", text, flags=re.DOTALL)
            for one in re.findall(r'"([^"]*)"', code)
        ]
        text = re.sub(r"\{%.*?%\}", " ", text, flags=re.DOTALL)
        text = re.sub(r"\{\{.*?\}\}", "{}", text, flags=re.DOTALL)
        strings += re.findall(r' (?:aria-label|placeholder|title)="([^"]*)"', text)
        strings += re.sub(r"<[^>]*>", "\n", text).split("\n")
        found += [Text(place, one.strip()) for one in strings if _reads_as_english(one)]
    return found


@cache
def _pages() -> list[Text]:
    """Return every line of a page, without code and addresses."""
    found = []
    for path in [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in AT_THE_TOP)]:
        inside = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            inside ^= line.lstrip().startswith(("```", "~~~"))
            words = re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]*>|\*[a-z]+\*", "`x`", line)
            if not inside and words.strip():
                found.append(Text(f"{path.relative_to(ROOT)}:{number}", words))
    return found


def _reads_as_english(words: str) -> bool:
    letters = sum(letter.isalpha() or letter == " " for letter in words)
    statement = re.search(
        r"\b(?:SELECT|CREATE|COPY|INSERT|CASE WHEN|regexp_replace)\b|\[ _-\]", words
    )
    return " " in words.strip() and letters > 0.6 * len(words) and statement is None


def test_the_texts_are_found() -> None:
    assert len(_texts()) > 3_000
    assert len(_templates()) > 200
    places = {text.place.partition("/")[0] for text in _templates()}
    assert {"app", "pages"} == places
    assert any("kernels/" in text.place for text in _docstrings())


@pytest.mark.parametrize(("instead", "pattern"), FORBIDDEN.items(), ids=FORBIDDEN)
def test_no_text_has_a_forbidden_construction(instead: str, pattern: str) -> None:
    """Rewrite what is listed: the name of the test says how."""
    texts = [*_texts(), *_templates()]
    found = [f"{text.place}: {text.words}" for text in texts if re.search(pattern, text.words)]
    assert not found, f"{instead} ({len(found)})\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("instead", "pattern"),
    [(instead, pattern) for instead, pattern in FORBIDDEN.items() if instead != LINES],
    ids=[instead for instead in FORBIDDEN if instead != LINES],
)
def test_no_docstring_or_page_has_one(instead: str, pattern: str) -> None:
    """Rewrite what is listed: the name of the test says how."""
    texts = [*_docstrings(), *_pages()]
    found = [f"{text.place}: {text.words}" for text in texts if re.search(pattern, text.words)]
    assert not found, f"{instead} ({len(found)})\n" + "\n".join(found)


def test_docstrings_and_pages_are_found() -> None:
    assert len(_docstrings()) > 5_000
    assert len(_pages()) > 3_000
