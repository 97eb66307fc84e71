"""What a first run costs: the CPU time of one process with no compiled kernel, and with all.

    python benchmarks/first_minute/run.py [--label NAME] [--case NAME ...]   runs, one row each
    python benchmarks/first_minute/run.py --table NAME [NAME]            prints what was measured

Every verb, method, heuristic and measure runs on a made network of 100 nodes, or on 500 rows of the
table that ships with graphveil: first with an empty cache of kernels, then again with what that run
kept. Pages of help run seven times, and the least counts. The times are of the processor, as the
operating system counts them for the process and its children.

The package is compiled to bytecode beforehand, as an installer does it. The rows of methods under
``now``, and all that are older, are of sources that were compiled anew in every run (.1 to .2 s);
those under ``tiers`` are of all cases, with little work run as plain Python and nothing beside it.

Raw rows go to ``results/runs.parquet``; a run that was cut off continues there under the same
label. A busy machine adds a fifth to such seconds, a crowded one two thirds: compare rows that were
measured in turn, as those of the labels ``alternating-base`` and ``alternating-after``, or
``imports-base`` and ``imports-after``.
"""

from __future__ import annotations

import argparse
import compileall
import csv
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import graphveil
from graphveil.cli.app import COMMANDS
from graphveil.methods import METHODS

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows, read_rows

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "runs.parquet"
NODES, ROWS = 100, 500
COLUMNS = ("workclass", "education", "marital-status", "occupation", "race", "sex")
HELPS = 7
KINDS = {"network.csv": "graph", "table.csv": "table"}

Row = dict[str, Any]


class Case(NamedTuple):
    """One command; the folder that it releases, if it does, is removed before each run."""

    name: str
    words: list[str]
    out: str | None = None


def write_network(path: Path) -> None:
    """Write a network of friends of friends: a ring of near ones, some far ones, some hubs."""
    rng = np.random.default_rng(7)
    edges = {(v, (v + step) % NODES) for v in range(NODES) for step in (1, 2)}
    edges |= {(v, int(rng.integers(NODES))) for v in range(NODES)}
    edges |= {(v, int(rng.integers(10))) for v in range(0, NODES, 3)}
    simple = sorted({(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]})
    lines = "".join(f"p{v},p{w}\n" for v, w in simple)
    path.write_text("source,target\n" + lines, encoding="utf-8")


def write_table(path: Path) -> None:
    """Write some columns of the first rows of the table that ships with graphveil."""
    text = files("graphveil.io.datasets").joinpath("files/adult_sample.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))[:ROWS]
    columns = [name for name in rows[0] if name in COLUMNS] or list(rows[0])[:6]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def commands() -> Iterator[Case]:
    """Yield every command that is timed, in an order in which each finds its input."""
    yield from _methods()
    yield from _structural()
    yield from _tables()
    yield from _verbs()
    yield from _helps()


def _release(name: str, words: str, data: str, kind: str = "") -> Case:
    method, *options = words.split()
    out = "release-" + name.replace(" ", "-")
    given = ["--kind", kind or KINDS[data], "--out", out, "--seed", "1"]
    return Case(name, ["anonymize", method, data, *given, *options], out)


def _methods() -> Iterator[Case]:
    for more in ("--edits add", "--edits any", "--edits add --target greedy"):
        yield _release(f"k-degree {more}".strip(), f"k-degree --k 5 {more}", "network.csv")
    for name in ("asymmetric", "degree-prior", "mixing-prior", "randomized"):
        yield _release(f"{name}-response", f"{name}-response --epsilon 4", "network.csv")
    for name in ("top-m-filter", "dp-1k", "hrg-mcmc", "density-explore-reconstruct"):
        yield _release(name, f"{name} --epsilon 4", "network.csv")
    yield _release("rename", "rename", "network.csv")
    people = "smooth-k --k 5 --items people"
    yield _release("smooth-k of a network", people, "network.csv", "bipartite")


def _structural() -> Iterator[Case]:
    for measure in MEASURES:
        yield _structural_case(f"--measure {measure}")
    for heuristic in ("es", "degree", "affected", "unique", "ua", "search", "strip", "cut"):
        yield _structural_case(f"--heuristic {heuristic}")
    yield _structural_case("--heuristic target --edits any")
    for edits in ("add", "rewire", "any"):
        yield _structural_case(f"--edits {edits}")
    yield _structural_case("--measure count --distance 2")
    yield _structural_case("--goal budget:0.05")
    yield _structural_case("--goal partial:0.9")


MEASURES = ("degree", "count", "edge-count", "degree-distribution", "dk", "vrq", "hybrid")


def _structural_case(options: str) -> Case:
    return _release(f"structural {options}", f"structural {options}", "network.csv")


def _tables() -> Iterator[Case]:
    for method in ("smooth-k", "suppress-k"):
        for more in ("", "--algorithm facility", "--anneal 0.3", "--chunk-rows 128"):
            yield _release(f"{method} {more}".strip(), f"{method} --k 5 {more}", "table.csv")
    label = "smooth-k --k 5 --chunk-rows 128 --order label-propagation"
    yield _release("smooth-k --order label-propagation", label, "table.csv")
    yield _release("mondrian", "mondrian --k 5", "table.csv")
    yield _release("cluster-k", "cluster-k --k 5", "table.csv")
    yield _release("rename of a table", "rename", "table.csv")
    pairs = itertools.product(("bipartite", "symmetric"), ("none", "prune"))
    for way, refine in (*pairs, ("bipartite", "regular-search")):
        options = f"--compatibility {way} --refine {refine}"
        yield _release(f"adaptive {options}", f"adaptive --levels 5 {options}", "table.csv")


def _verbs() -> Iterator[Case]:
    for measure in MEASURES:
        yield Case(f"measure --measure {measure}", ["measure", "network.csv", "--measure", measure])
    yield Case("measure", ["measure", "network.csv"])
    yield Case("measure of a table", ["measure", "table.csv", "--kind", "table"])
    for name, data in RELEASED.items():
        folder = "release-" + name.replace(" ", "-")
        yield Case(f"verify of {name}", ["verify", folder, "--original", data])
        yield Case(f"evaluate of {name}", ["evaluate", folder, "--original", data])
        yield Case(f"attack of {name}", ["attack", folder, "--original", data])
    yield Case("advise", ["advise", "network.csv"])
    yield Case("advise of a table", ["advise", "table.csv", "--kind", "table"])
    yield Case("methods", ["methods"])
    yield Case("convert", ["convert", "network.csv", "--out", "network.gexf"], "network.gexf")
    yield Case("demo", ["demo", "--out", "demo", "--force"])


RELEASED = {
    "k-degree": "network.csv",
    "structural --measure count": "network.csv",
    "asymmetric-response": "network.csv",
    "smooth-k": "table.csv",
    "adaptive --compatibility bipartite --refine none": "table.csv",
}


def _helps() -> Iterator[Case]:
    for words in ([], *([name] for name in COMMANDS), *(["anonymize", name] for name in METHODS)):
        yield Case(" ".join([*words, "--help"]), [*words, "--help"])


def seconds_of(command: list[str], room: Path, cache: Path) -> tuple[float, int, str]:
    """Return the seconds of CPU of a process and its children, its exit code, what it said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command,
        cwd=room,
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(seconds, 3), done.returncode, done.stderr


def measured(case: Case, room: Path) -> Row:
    """Return the row of a command: cold with the specializations counted, then warm."""
    with tempfile.TemporaryDirectory() as cache:
        counts = Path(cache, "counts.json")
        counted = [sys.executable, str(HERE / "counted.py"), str(counts), *case.words]
        plain = [sys.executable, "-m", "graphveil", *case.words]
        if case.words[-1] == "--help":
            runs = [seconds_of(plain, room, Path(cache, "kernels")) for _ in range(HELPS)]
            return {"case": case.name, "help_seconds": min(run[0] for run in runs)}
        cold, code, said = seconds_of(counted, room, Path(cache, "kernels"))
        if code not in (0, 1):
            raise SystemExit(f"{case.name}: {said}")
        kernels = json.loads(counts.read_text(encoding="utf-8"))
        _remove(case, room)
        warm, _, _ = seconds_of(plain, room, Path(cache, "kernels"))
    total = sum(kernels.values())
    return {
        "case": case.name,
        "cold_seconds": cold,
        "warm_seconds": warm,
        "specializations": total,
        "more_than_one": {name: count for name, count in kernels.items() if count > 1},
    }


def _remove(case: Case, room: Path) -> None:
    if case.out:
        for name in (case.out, f"{case.out}.private"):
            subprocess.run(["rm", "-rf", name], cwd=room, check=True)


def run(label: str, only: list[str]) -> None:
    """Measure what the label does not have yet, of some cases or of all; keep each row at once."""
    compileall.compile_dir(Path(graphveil.__file__).parent, quiet=1)
    done = {row["case"] for row in read_rows(RESULTS) if row["label"] == label}
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder)
        write_network(room / "network.csv")
        write_table(room / "table.csv")
        for case in commands():
            if case.name in done or (only and case.name not in only):
                continue
            _prepare(case, room)
            row = {"label": label, **measured(case, room)}
            print({name: value for name, value in row.items() if name != "more_than_one"})
            append_rows(RESULTS, row)


def _prepare(case: Case, room: Path) -> None:
    """Make the release that a verb reads, where an earlier run made it elsewhere."""
    for name in RELEASED:
        folder = "release-" + name.replace(" ", "-")
        if folder in case.words and case.out != folder and not (room / folder).exists():
            release = next(one for one in commands() if one.out == folder)
            subprocess.run(
                [sys.executable, "-m", "graphveil", *release.words], cwd=room, check=True
            )


def print_table(labels: list[str]) -> None:
    """Print one line a case with the columns of every label, as Markdown."""
    by_case: dict[str, dict[str, Row]] = {}
    for row in read_rows(RESULTS):
        by_case.setdefault(row["case"], {})[row["label"]] = row
    columns = ("cold_seconds", "warm_seconds", "specializations", "help_seconds")
    for case, rows in by_case.items():
        cells = [str(rows.get(label, {}).get(name, "")) for name in columns for label in labels]
        print(f"| {case} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--label", default="now", help="names the rows of this run")
    parser.add_argument("--case", nargs="+", default=[], metavar="NAME", help="these cases alone")
    parser.add_argument("--table", nargs="+", metavar="LABEL", help="print, measure nothing")
    arguments = parser.parse_args()
    if arguments.table:
        print_table(arguments.table)
    else:
        run(arguments.label, arguments.case)
