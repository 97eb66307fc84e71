"""Draw the picture of the first page: what graphveil does with data, as an inline SVG.

Colors are those of the page (`currentColor`) and two that stand out on light and on dark.
"""

from __future__ import annotations

from html import escape

TITLE = "What graphveil does"
DESCRIPTION = (
    "Data about people, which may be a network, users by features or a table, goes through "
    "anonymize. Two folders come out. The release folder is for the public: anybody verifies it, "
    "and a public report goes along with it. The private folder links new ids to people and stays "
    "with the owner, who also verifies the release with the original, evaluates what was kept, "
    "attacks it, and reports. Before that, measure says who can be singled out."
)
STYLE = (
    ".gv-first-frame{overflow-x:auto}.gv-first{width:100%;min-width:620px;height:auto;font-family:inherit}"
    ".gv-first text{fill:currentColor;font-size:14px}"
    ".gv-first .b{font-weight:600}.gv-first .s{font-size:12px;opacity:.8}"
    ".gv-first .box{fill:none;stroke:currentColor;stroke-width:1.2}"
    ".gv-first .public{stroke:#1f8a70;stroke-width:2.4}"
    ".gv-first .private{stroke:#c2701c;stroke-width:2.4;stroke-dasharray:6 4}"
    ".gv-first .verb{fill:#1f8a70;fill-opacity:.14;stroke:none}"
    ".gv-first .own{fill:#c2701c;fill-opacity:.16;stroke:none}"
    ".gv-first .arrow{fill:none;stroke:currentColor;stroke-width:1.4}"
    ".gv-first .tip{fill:currentColor;stroke:none}"
)


def box(x: int, y: int, width: int, height: int, lines: list[str], kind: str = "box") -> str:
    """Return a box with lines of text in it, the first one bold."""
    top = y + height / 2 - 9 * (len(lines) - 1) + 5
    texts = "".join(
        f'<text x="{x + width / 2:g}" y="{top + 18 * number:g}" text-anchor="middle" '
        f'class="{"b" if number == 0 else "s"}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    shape = "box" if kind in {"public", "private"} else ""
    names = f"{shape} {kind}".strip()
    rect = f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" class="{names}"/>'
    return rect + texts


def arrow(*points: tuple[int, int]) -> str:
    """Return a line through the points, with a tip at its end, which points right or down."""
    path = "M" + " L".join(f"{x} {y}" for x, y in points)
    (before, _), (x, y) = points[-2:]
    tip = f"M{x} {y} l-9 -5 v10 z" if before != x else f"M{x} {y} l-5 -9 h10 z"
    return f'<path d="{path}" class="arrow"/><path d="{tip}" class="tip"/>'


def picture() -> str:
    """Return the picture as one element, without a blank line, as Markdown wants it."""
    parts = [
        box(
            10,
            96,
            150,
            88,
            ["data about people", "a network", "users by features", "a table"],
            "box",
        ),
        arrow((160, 140), (198, 140)),
        box(200, 116, 120, 48, ["anonymize"], "verb"),
        arrow((320, 130), (345, 130), (345, 66), (380, 66)),
        arrow((320, 150), (345, 150), (345, 226), (380, 226)),
        box(
            382,
            30,
            170,
            72,
            ["release folder", "the data, and what", "it guarantees"],
            "public",
        ),
        box(
            382,
            190,
            170,
            72,
            ["private folder", "linkage and cost", "for its owner alone"],
            "private",
        ),
        arrow((552, 50), (598, 50)),
        box(600, 30, 250, 40, ["verify: is the guarantee true?"], "verb"),
        arrow((552, 84), (575, 84), (575, 100), (598, 100)),
        box(600, 80, 250, 40, ["report: a page to publish"], "verb"),
        arrow((552, 206), (575, 206), (575, 176), (598, 176)),
        box(600, 156, 250, 40, ["evaluate: what was kept?"], "own"),
        arrow((552, 226), (598, 226)),
        box(600, 206, 250, 40, ["attack: what can be learned?"], "own"),
        arrow((552, 246), (575, 246), (575, 276), (598, 276)),
        box(600, 256, 250, 40, ["report, with all of this"], "own"),
        arrow((85, 184), (85, 238)),
        box(10, 240, 150, 40, ["measure"], "own"),
        '<text x="85" y="298" text-anchor="middle" class="s">who is unique in it?</text>',
        '<text x="725" y="18" text-anchor="middle" class="s">anybody, with the folder</text>',
        '<text x="725" y="315" text-anchor="middle" class="s">the owner, with the original</text>',
    ]
    return (
        '<div class="gv-first-frame" role="group" tabindex="0" aria-label="A picture, which may be '
        'scrolled"><svg class="gv-first" viewBox="0 0 860 324" role="img" '
        'aria-labelledby="gv-first-title gv-first-desc" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="gv-first-title">{TITLE}</title><desc id="gv-first-desc">{DESCRIPTION}</desc>'
        f"<style>{STYLE}</style>{''.join(parts)}</svg></div>"
    )
