"""Short processes, ten at once, that must end with the code that is documented.

A thread of a library that still refers to a Python object when the interpreter ends can take the
process with it (SIGABRT, 134). It does so rarely, and on a busy machine more often: so many
processes are started, each doing one thing that a user does, reading, refusing to read, releasing,
verifying, and each ends as soon as that is done.

    python tests/fuzz/endings.py --processes 2000

They are copies of one process that has imported everything, so that starting them takes little.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import duckdb  # noqa: F401  imported once for all processes, as the next ones
import numba  # noqa: F401
import pandas as pd  # noqa: F401
import pyarrow.parquet  # noqa: F401
import rustworkx as rx  # noqa: F401
import scipy.sparse  # noqa: F401

import graphveil as gv
import graphveil.cli.app
from graphveil.cli import main as command_line
from graphveil.io import write

TIES = "source,target\nann,bob\nbob,cyd\ncyd,dan\ndan,ann\nann,cyd\ncyd,eve\neve,fay\nfay,ann\n"
ITEMS = "user,item\nann,tea\nbob,tea\ncyd,rye\ndan,rye\neve,tea\nfay,rye\n"
ROWS = "sex,town\nf,oslo\nf,oslo\nm,bern\nm,bern\nf,bern\nm,oslo\nf,oslo\nm,bern\n"
RAGGED = "source,target\nann,bob\nbob,cyd,dan,eve\n"
AT_ONCE = 10


def prepare(folder: Path) -> None:
    """Write the files that the jobs read, and a release of each kind."""
    for name, text in {"ties": TIES, "items": ITEMS, "rows": ROWS, "ragged": RAGGED}.items():
        (folder / f"{name}.csv").write_text(text)
    graph = gv.read_graph(folder / "ties.csv")
    for name in ("ties.parquet", "ties.arrow", "ties.csv.zst", "ties.csv.gz", "ties.graphml"):
        write(graph, folder / name)
    write(gv.read_bipartite(folder / "items.csv"), folder / "items.parquet")
    write(gv.read_table(folder / "rows.csv"), folder / "rows.parquet")
    gv.KDegree(k=2).anonymize(graph, seed=1).write(folder / "released")
    gv.Rename().anonymize(gv.read_table(folder / "rows.csv"), seed=1).write(folder / "renamed")
    (folder / "cut.parquet").write_bytes((folder / "ties.parquet").read_bytes()[:-20])


def commands(folder: Path) -> list[tuple[list[str], int]]:
    """Return what the command line is asked, with the exit code that is documented."""
    at = {path.name: str(path) for path in folder.iterdir()}
    ties, items, rows = at["ties.csv"], at["items.csv"], at["rows.csv"]
    done = [
        ["measure", ties],
        ["measure", at["ties.parquet"]],
        ["measure", at["ties.arrow"]],
        ["measure", at["ties.csv.zst"]],
        ["measure", at["ties.csv.gz"]],
        ["measure", at["ties.graphml"]],
        ["measure", items, "--kind", "bipartite"],
        ["measure", at["items.parquet"], "--kind", "bipartite"],
        ["measure", rows, "--kind", "table"],
        ["measure", at["rows.parquet"], "--kind", "table"],
        ["convert", ties, "--out", "{out}.parquet"],
        ["convert", at["ties.parquet"], "--out", "{out}.csv"],
        ["anonymize", "k-degree", ties, "--k", "2", "--out", "{out}"],
        ["anonymize", "rename", at["rows.parquet"], "--kind", "table", "--out", "{out}"],
        ["verify", at["released"], "--original", ties],
        ["verify", at["renamed"]],
        ["evaluate", at["released"], "--original", ties, "--metrics", "edges-kept"],
        [
            "anonymize",
            "suppress-k",
            items,
            "--k",
            "2",
            "--on-disk",
            "--jobs",
            "2",
            "--out",
            "{out}",
        ],
        ["attack", at["released"], "--original", ties, "--attacks", "candidate-set"],
    ]
    refused = [
        ["measure", at["ragged.csv"]],
        ["measure", at["cut.parquet"]],
        ["verify", str(folder)],
        ["anonymize", "k-degree", at["ragged.csv"], "--k", "2", "--out", "{out}"],
    ]
    return [(words, 0) for words in done] + [(words, 2) for words in refused]


def _child(words: list[str], out: Path) -> None:
    """Do one job in this process, quietly; what ends it is what ends a command."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    command_line([word.replace("{out}", str(out)) for word in words])


def run(processes: int, folder: Path) -> Counter[tuple[str, int, int]]:
    """Return how often each command ended with a code: (command, expected, code).

    Parameters
    ----------
    processes
        How many are started.
    folder
        An empty one.
    """
    if (process := os.fork()) == 0:  # no thread of a library may be there when processes are forked
        prepare(folder)
        os._exit(0)
    if os.waitpid(process, 0)[1]:
        raise RuntimeError("the files that are read could not be made")
    jobs = commands(folder)
    running: dict[int, int] = {}
    ended: Counter[tuple[str, int, int]] = Counter()

    def reap() -> None:
        number, status = os.wait()
        words, expected = jobs[running.pop(number) % len(jobs)]
        ended[" ".join(words), expected, os.waitstatus_to_exitcode(status)] += 1

    for number in range(processes):
        if len(running) >= AT_ONCE:
            reap()
        process = os.fork()
        if process == 0:
            _child(jobs[number % len(jobs)][0], folder / f"out{number}")  # exits
        running[process] = number
    while running:
        reap()
    return ended


def main() -> None:
    """Print every ending that is not as documented; exit with 1 where there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2000)
    asked = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="graphveil-")
    ended = run(asked.processes, Path(folder))
    shutil.rmtree(folder)  # here, and not where a child that ends would do it too
    wrong = {key: times for key, times in ended.items() if key[1] != key[2]}
    for (command, expected, code), times in wrong.items():
        sys.stdout.write(f"{times} of graphveil {command}: exit code {code}, not {expected}\n")
    right = asked.processes - sum(wrong.values())
    sys.stdout.write(f"{right} of {asked.processes} processes ended as documented\n")
    sys.exit(int(bool(wrong)))


if __name__ == "__main__":
    main()
