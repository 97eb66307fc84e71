"""What a paper needs of a sweep: its figures are those of the rows, counted by hand."""

from __future__ import annotations

import csv
import json
import re
import statistics

import pytest

import graphveil as gv
from graphveil.cli import run
from graphveil.core.errors import UsageError
from graphveil.pages.paper_kit import tex

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
pytest.importorskip("matplotlib")

WEB = gv.datasets.barabasi_albert(40, 2, seed=1)
GRID = {
    "k-degree": {"k": [2, 6, 99]},
    "external": {
        "command": ["cp {input} {output}", "sh -c 'echo 0 1 > $1 # _&%' sh {output} {input}"]
    },
    "structural": {"k": [2], "heuristic": "ua"},
}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper") / "sweep"
    given = {"metrics": ["edge-jaccard"], "attacks": ["candidate-set"], "jobs": 1, "seed": 5}
    return gv.sweep(GRID, WEB, repeats=3, out=folder, **given)


@pytest.fixture(scope="module")
def kit(done, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kit") / "kit"
    gv.write_paper(done, folder)
    return folder


def by_hand(done, method, given, question, part):
    numbers = [p.number for p in done.plan.points if (p.method, p.given) == (method, given)]
    return [
        row["value"]
        for number in numbers
        for row in done.results[number].rows
        if (row["question"], row["part"]) == (question, part)
    ]


def lines_of(kit):
    text = (kit / "results.tex").read_text()
    body = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    return [line.removesuffix(" \\\\").split(" & ") for line in body.splitlines()]


def test_the_table_has_the_mean_and_the_deviation_of_the_rows(done, kit):
    values = by_hand(done, "structural", "k=2, heuristic=ua", "edge-jaccard", "all")
    assert 3 == len(values)
    assert len(set(values)) > 1
    mean, deviation = statistics.fmean(values), statistics.stdev(values)
    [line] = [line for line in lines_of(kit) if line[0] == "structural"]
    assert f"{mean:.3f} \\(\\pm\\) {deviation:.3f}" in line[3]
    assert "2" == line[2]


def test_the_best_of_a_column_is_bold_and_what_has_no_release_is_empty(kit):
    lines = lines_of(kit)
    kept = {tuple(line[:2]): line[3] for line in lines}
    numbers = [
        float(re.sub(r"\\textbf\{|\s.*|\}", "", cell)) for cell in kept.values() if cell != "--"
    ]
    for cell in kept.values():
        value = float(re.sub(r"\\textbf\{|\s.*|\}", "", cell)) if cell != "--" else None
        assert ("textbf" in cell) == (value == max(numbers))
    assert 1.0 == max(numbers)
    assert "--" == kept["k-degree", "k=99"]


def test_every_figure_is_in_the_csv_as_it_was_measured(done, kit):
    with (kit / "figures.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    question, part = "candidate-set", "degree and triangles, right guess"
    [row] = [
        row
        for row in rows
        if (row["method"], row["parameters"], row["figure"])
        == ("k-degree", "k=2", f"{question}: {part}")
    ]
    values = by_hand(done, "k-degree", "k=2", question, part)
    assert statistics.fmean(values) == float(row["mean"])
    assert statistics.stdev(values) == pytest.approx(float(row["deviation"]))
    assert "3" == row["releases"]


def test_commands_and_names_are_escaped_for_latex(kit):
    assert r"echo 0 1 \textgreater{} \$1 \# \_\&\%" in (kit / "results.tex").read_text()
    assert r"\textbackslash{}input\{a\} " == tex("\\input{a}\n")
    assert r"-{}-{}-a \char34{}b\char34{}" == tex('---a "b"')


COMMANDS = {
    *("begin", "end", "toprule", "midrule", "bottomrule", "textbf", "pm", "multicolumn"),
    *("raggedleft", "textgreater", "textless", "textbar", "textbackslash", "textasciicircum"),
    *("textasciitilde", "char"),
}
"""What the table may use: LaTeX in its own encoding, and booktabs."""


def parsed(text):
    """Return the depth of braces at the end, and commands; refuse a bare special character."""
    depth, commands = 0, []
    for comment_free in (re.sub(r"(?<!\\)%.*", "", line) for line in text.splitlines()):
        rest = re.sub(r"\\[&%$#_{}()\\]", "", comment_free)
        commands += re.findall(r"\\([A-Za-z]+)", rest)
        assert set(re.sub(r"\\[A-Za-z]+", "", rest)).isdisjoint('\\$#_^~<>|"'), rest
        for letter in rest:
            depth += {"{": 1, "}": -1}.get(letter, 0)
            assert depth >= 0, comment_free
    return depth, commands


def test_the_table_is_latex_with_booktabs_and_nothing_else(kit):
    text = (kit / "results.tex").read_text()
    depth, commands = parsed(text)
    assert 0 == depth
    assert COMMANDS >= set(commands)
    assert [("begin", "tabular"), ("end", "tabular")] == re.findall(r"\\(begin|end)\{(\w+)\}", text)
    [columns] = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", text)
    rules = [line for line in text.splitlines() if line.endswith("rule")]
    assert [r"\toprule", r"\midrule", r"\bottomrule"] == rules
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    cells = {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows}
    assert {len(columns)} == cells
    assert text.isascii()


def test_a_table_that_latex_refuses_is_found():
    for wrong in ("50% of a_b", "{a", "a}", "a & b $", 'say "so"'):
        text = wrong.replace("%", r"\%")
        try:
            depth, _ = parsed(text)
        except AssertionError:
            continue
        assert depth, wrong


def test_every_reference_has_braces_that_close_and_a_key_to_sort_by(kit):
    entries = (kit / "references.bib").read_text().split("\n\n")
    names = [re.match(r"@(misc|inproceedings)\{([\w-]+),", entry)[2] for entry in entries]
    assert len(names) == len(set(names)) >= 4
    for entry in entries:
        depth, _ = parsed(entry.replace(r"{\"e}", "e"))
        assert 0 == depth
        assert re.search(r"^  (author|key) = \{", entry, re.MULTILINE), entry


def test_references_and_origin_name_methods_data_seeds_and_versions(done, kit):
    bib = (kit / "references.bib").read_text()
    for key in (
        "@inproceedings{liu2008,",
        "@misc{dejong2024,",
        "@misc{data,",
        "@misc{graphveil,",
    ):
        assert key in bib
    assert done.plan.input_sha256 in bib
    origin = json.loads((kit / "origin.json").read_text())
    assert (5, done.plan.input_sha256) == (origin["seed"], origin["data"]["sha256"])
    assert gv.__version__ == origin["graphveil"]
    assert [p.seed for p in done.plan.points] == [one["seed"] for one in origin["points"]]


def test_a_private_list_of_people_is_not_printed(tmp_path):
    grid = {"k-degree": {"k": [2, 3], "people": ['["pub", "ann"]']}}
    web = gv.Graph.from_edges(["ann", "ann", "pub", "cyd"], ["pub", "cyd", "cyd", "dan"])
    swept = gv.sweep(grid, web, metrics=["edge-jaccard"], attacks=[], jobs=1)
    gv.write_paper(swept, tmp_path / "kit")
    printed = [path for path in (tmp_path / "kit").iterdir() if path.suffix != ".pdf"]
    assert "people=listed" in (tmp_path / "kit" / "results.tex").read_text()
    assert not [path.name for path in printed if "pub" in path.read_text().replace("publi", "")]
    assert ["k=2, people=listed", "k=3, people=listed"] == [p.given for p in swept.plan.points]


def test_a_shipped_data_set_is_cited_by_its_source(tmp_path):
    calls = gv.datasets.load("copenhagen-calls")
    swept = gv.sweep([gv.Rename()], calls, metrics=["edge-jaccard"], attacks=[], jobs=1)
    gv.write_paper(swept, tmp_path / "kit")
    assert "10.1038/s41597-019-0325-x" in (tmp_path / "kit" / "references.bib").read_text()


def test_figures_are_pdf_over_the_strength_and_the_folder_is_the_owners(kit):
    assert {"k-edge-jaccard.pdf", "k-candidate-set.pdf"} <= {file.name for file in kit.iterdir()}
    assert all(file.read_bytes()[:4] == b"%PDF" for file in kit.glob("*.pdf"))
    assert 0o700 == kit.stat().st_mode & 0o777
    assert {0o600} == {file.stat().st_mode & 0o777 for file in kit.iterdir()}


def test_what_cannot_be_written_is_refused(done, kit, tmp_path, capsys):
    with pytest.raises(UsageError, match="exists"):
        gv.write_paper(done, kit)
    none = gv.sweep([gv.KDegree(k=99)], WEB, metrics=[], attacks=[], jobs=1)
    with pytest.raises(UsageError, match="No point of this sweep has a release"):
        gv.write_paper(none, tmp_path / "none")
    release = gv.Rename().anonymize(WEB).write(tmp_path / "out")
    assert 2 == run(["report", str(release), "--paper", str(tmp_path / "new")])
    assert "--paper writes about a sweep" in capsys.readouterr().err
    assert 0 == run(["report", str(done.folder), "--paper", str(tmp_path / "new")])
    said = capsys.readouterr()
    assert "origin.json holds the seed" in said.err
    assert (tmp_path / "new" / "results.tex").is_file()
