# ruff: noqa: INP001  a script that is run by hand, not a package
"""Keep the list of the figures that pages show, each with its origin: docs/figures.toml.

    python tools/page_figures.py          # says which figures of pages differ from the list
    python tools/page_figures.py --write  # writes the pages' figures into the list

``listed`` has the figures of each section of a page in their order, and their origin. ``computed``
has sentences whose figures follow from stored rows or from the code; a test computes them. Code
blocks, formulas, links, figures with a mark of ``tools/paper_figures.py`` and the pages that a
script writes as a whole are left out: other tests compare these.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name
from statistics import fmean
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "benchmarks"), str(ROOT / "tools")]
import paper_figures  # noqa: E402  a script finds it there

from raw_rows import read_rows  # noqa: E402

DOCS = ROOT / "docs"
LIST = DOCS / "figures.toml"
WRITTEN = {"changelog.md", "evidence/leaderboard.md"}
"""Pages that other files are shown as, or that a script writes as a whole."""

ORIGINS = ("defined", "cited", "printed", "rows", "code", "measured")
"""First words of an origin; the head of the list says what they mean."""

FIGURE = re.compile(r"(?<![\w.-])-?\d[\d,]*(?:\.\d+)?%?(?!\w)|(?<![\w.])\.\d+(?!\w)")
NOT_SHOWN = (
    re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE),
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"\]\([^)\n]*\)"),
)
SELECTORS = {"mean": fmean, "least": min, "largest": max, "count": len}


def pages() -> list[str]:
    """Return the names of all pages whose figures are listed."""
    names = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
    return [name for name in names if name not in WRITTEN]


def figures(text: str) -> dict[str, str]:
    """Return the figures of each section of a page, in their order."""
    text = paper_figures.filled(text, lambda *_: "")
    for pattern in NOT_SHOWN:
        text = pattern.sub(" ", text)
    found: dict[str, str] = {}
    for section in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        title = section.partition("\n")[0].lstrip("# ") if section.startswith("#") else ""
        shown = " ".join(one.rstrip(",") for one in FIGURE.findall(section))
        if shown:
            found[title] = f"{found[title]} {shown}" if title in found else shown
    return found


def value(spec: dict[str, Any]) -> str:
    """Return a figure as a page shows it, from a name in the code or from stored rows."""
    show = spec.get("show", "{:,}")
    if "code" in spec:
        return str(show.format(resolve_name(spec["code"])))
    rows = [
        row
        for row in read_rows(ROOT / "benchmarks" / spec["file"])
        if spec["where"].items() <= row.items()
    ]
    if not rows:
        raise LookupError(spec)
    over = spec.get("over")
    values = [row[spec["column"]] / (row[over] if over else 1) for row in rows]
    return str(show.format(SELECTORS[spec.get("take", "mean")](values)))


def sentence(entry: dict[str, Any]) -> str:
    """Return what a page has to say, with the figures filled in."""
    return str(entry["says"].format(*map(value, entry["values"])))


def written(listed: dict[str, dict[str, list[str]]], head: str) -> str:
    """Return the list with the figures that pages show now; a new section lacks its origin."""
    lines = [head.rstrip(), ""]
    for name in pages():
        now = figures((DOCS / name).read_text(encoding="utf-8"))
        if now:
            lines.append(f"[listed.{json.dumps(name)}]")
        for title, shown in now.items():
            origin = listed.get(name, {}).get(title, ["", ""])[1]
            key, pair = json.dumps(title, ensure_ascii=False), json.dumps([shown, origin])
            lines.append(f"{key} = {pair}")
        lines += [""] * bool(now)
    return "\n".join(lines)


def main() -> int:
    """Compare the pages with the list, or write it."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the list")
    asked = parser.parse_args()
    text = LIST.read_text(encoding="utf-8")
    listed = tomllib.loads(text).get("listed", {})
    new = written(listed, text.partition("[listed.")[0])
    if asked.write:
        LIST.write_text(new, encoding="utf-8")
    elif new != text:
        sys.stdout.write("docs/figures.toml differs from the pages: look at each, then --write\n")
    return int(new != text and not asked.write)


if __name__ == "__main__":
    sys.exit(main())
