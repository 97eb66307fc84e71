"""Every method at matched guarantees: what is reached, kept and learned, and what it takes.

    python benchmarks/leaderboard/run.py --quick [--data FOLDER]   # small data: ten minutes
    python benchmarks/leaderboard/run.py --data FOLDER             # all of it: an hour, two cores
    python benchmarks/leaderboard/run.py --page                    # the page alone, from the rows

A method is a line of `ENTRIES`, data a line of `SETS`. A row is written to ``rows.csv`` as soon as
it is measured, in place of an older one of the same data, method and parameters; then the tables of
``docs/evidence/leaderboard.md`` are made from all rows.

What is reached says `verify`, from the published files and the original. Methods with an epsilon
draw from entropy, as a seeded run claims nothing; the others have seed 1. Seconds are CPU of the
call after one on small data. The attacks are those of `ATTACKS`, each in at most `--seconds` of
CPU; what did not end by then, or does not read such a release, is in the row.
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import gzip
import multiprocessing
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import graphveil as gv
from graphveil.attacks.wording import counted_in
from graphveil.verbs.advise.strengths import re_identifying
from graphveil.verbs.reproduce.rows import adult, coded

HERE = Path(__file__).parent
ROWS = HERE / "rows.csv"
PAGE = HERE.parents[1] / "docs" / "evidence" / "leaderboard.md"
START, END = "<!-- rows -->", "<!-- end of rows -->"
Row = dict[str, str]


class Entry(NamedTuple):
    """A line of the leaderboard.

    Parameters
    ----------
    kind, target
        The kind of data, and the guarantee that it has in common with its neighbors.
    method, parameters
        What is run.
    most
        The most nodes on which it is run.
    """

    kind: str
    target: str
    method: str
    parameters: Mapping[str, Any]
    most: int | None = None


NETWORK, DIRECTED, FEATURES, TABLE = "network", "directed network", "features", "table"
NOTHING, NO_PROOF = "nothing", "epsilon = 1 as a parameter, nothing claimed"
K, EDGES, GROUPS = "k = 5", "epsilon = 1", "groups of k = 5"
DEGREE, COUNT = "k = 5, degree", "k = 5, degree and triangles"

ENTRIES = (
    Entry(NETWORK, NOTHING, "rename", {}),
    Entry(NETWORK, DEGREE, "k-degree", {"k": 5}),
    Entry(NETWORK, DEGREE, "k-degree", {"k": 5, "edits": "add"}),
    Entry(NETWORK, DEGREE, "structural", {"k": 5, "measure": "degree"}),
    Entry(NETWORK, COUNT, "structural", {"k": 5, "measure": "count"}),
    Entry(NETWORK, COUNT, "structural", {"k": 5, "measure": "count", "heuristic": "ua"}),
    Entry(NETWORK, GROUPS, "super-nodes", {"k": 5}),
    Entry(NETWORK, EDGES, "randomized-response", {"epsilon": 1.0}, most=2_000),
    Entry(NETWORK, EDGES, "asymmetric-response", {"epsilon": 1.0}),
    Entry(NETWORK, EDGES, "degree-prior-response", {"epsilon": 1.0}),
    Entry(NETWORK, EDGES, "mixing-prior-response", {"epsilon": 1.0}),
    Entry(NETWORK, EDGES, "degree-triangle-model", {"epsilon": 1.0}),
    Entry(NETWORK, EDGES, "top-m-filter", {"epsilon": 1.0}),
    Entry(NETWORK, EDGES, "dp-1k", {"epsilon": 1.0}),
    Entry(NETWORK, NO_PROOF, "top-m-filter", {"epsilon": 1.0, "variant": "published"}),
    Entry(NETWORK, NO_PROOF, "hrg-mcmc", {"epsilon": 1.0}, most=8_000),
    Entry(NETWORK, NO_PROOF, "density-explore-reconstruct", {"epsilon": 1.0}),
    Entry(DIRECTED, NOTHING, "rename", {}),
    Entry(DIRECTED, "k = 5, edges out and in", "profile", {"k": 5}),
    Entry(FEATURES, NOTHING, "rename", {}),
    Entry(FEATURES, K, "suppress-k", {"k": 5}),
    Entry(FEATURES, K, "suppress-k", {"k": 5, "algorithm": "facility"}),
    Entry(FEATURES, K, "mondrian", {"k": 5}),
    Entry(FEATURES, K, "mondrian", {"k": 5, "split": "first"}),
    Entry(FEATURES, "k = 5, entries true of half a class", "smooth-k", {"k": 5}),
    Entry(
        FEATURES,
        "k = 5, entries true of half a class",
        "smooth-k",
        {"k": 5, "algorithm": "facility"},
    ),
    Entry(FEATURES, EDGES, "randomized-response", {"epsilon": 1.0}),
    Entry(FEATURES, EDGES, "asymmetric-response", {"epsilon": 1.0}),
    Entry(TABLE, NOTHING, "rename", {}),
    Entry(TABLE, K, "cluster-k", {"k": 5}),
    Entry(TABLE, K, "cluster-k", {"k": 5, "search": "plain"}),
    Entry(TABLE, K, "generalize", {"k": 5}),
    Entry(TABLE, "level 5", "adaptive", {"levels": 5}),
    Entry(TABLE, "level 5", "adaptive", {"levels": 5, "compatibility": "bipartite"}),
    Entry(TABLE, "level 5", "adaptive", {"levels": 5, "compatibility": "symmetric"}),
)
"""A new method is one more line."""


class Set(NamedTuple):
    """Data of a paper, under the paper's name.

    Parameters
    ----------
    kind
        Which entries are run on it.
    load
        Returns it, from the folder of data.
    quick
        Whether it is in the quick subset.
    ships
        Whether it needs no folder.
    """

    kind: str
    load: Callable[[Path], Any]
    quick: bool = False
    ships: bool = False


def file_of(folder: Path, name: str) -> Path:
    """Return the file of a paper's data, its SHA-256 checked."""
    path = gv.datasets.found_in(name, folder)
    if path is None:
        raise FileNotFoundError(f"{folder} does not hold {gv.datasets.PAPERS[name].file}")
    return path


def undirected(name: str) -> Callable[[Path], gv.Graph]:
    """Return what loads a network without nodes that have no edge, as the papers count."""

    def load(folder: Path) -> gv.Graph:
        edges = gv.read_graph(file_of(folder, name), directed="symmetrize").edges()
        return gv.Graph.from_edges(edges[:, 0], edges[:, 1])

    return load


def wiki_vote(folder: Path) -> gv.Network:
    """Return who voted on whom."""
    with gzip.open(file_of(folder, "wiki-Vote"), "rt") as lines:
        people, ends = np.unique(np.loadtxt(lines, dtype=np.int64), return_inverse=True)
    source, target = ends.reshape(-1, 2).T
    return gv.Network((gv.Layer.from_arcs(source, target, n=people.size),))


def binary_table(name: str) -> Callable[[Path], gv.Table]:
    """Return what loads a table of figure 3 (a) of the adaptive paper, numbers cut at the median.

    The one that ships lacks its class.
    """

    def load(folder: Path) -> gv.Table:
        if name == "spect-heart":
            codes = gv.datasets.load(name).to_scipy().toarray()[-187:].astype(np.int32)
        else:
            codes = coded(file_of(folder, name), name)
        columns = codes.T.astype(str)
        return gv.Table.from_columns({f"c{at}": one.tolist() for at, one in enumerate(columns)})

    return load


SETS = {
    "Copnet calls": Set(
        NETWORK, lambda _: gv.datasets.load("copenhagen-calls"), quick=True, ships=True
    ),
    "polbooks": Set(NETWORK, undirected("polbooks"), quick=True),
    "polblogs": Set(NETWORK, undirected("polblogs")),
    "GRQC collab.": Set(NETWORK, undirected("ca-GrQc")),
    "as20graph": Set(NETWORK, undirected("as20graph")),
    "wiki-Vote": Set(NETWORK, undirected("wiki-Vote")),
    "ca-HepPh": Set(NETWORK, undirected("ca-HepPh")),
    "wiki-Vote, directed": Set(DIRECTED, wiki_vote),
    "stochastic": Set(FEATURES, lambda _: gv.datasets.block_model(seed=1), quick=True, ships=True),
    "adult": Set(FEATURES, lambda folder: adult(file_of(folder, "adult"))),
    "SPECT heart": Set(TABLE, binary_table("spect-heart"), quick=True, ships=True),
    "wine": Set(TABLE, binary_table("wine"), quick=True),
    "hepatitis": Set(TABLE, binary_table("hepatitis")),
    "bupa": Set(TABLE, binary_table("bupa")),
    "ecoli": Set(TABLE, binary_table("ecoli")),
    "forestfires": Set(TABLE, binary_table("forestfires")),
}
"""Networks of Facebook are measured nowhere here."""

METRICS = {
    NETWORK: (
        "edge-jaccard: all",
        "degree-distribution: half L1",
        "clustering: absolute difference",
        "shortest-path: relative error",
    ),
    DIRECTED: ("arcs-kept: share",),
    FEATURES: (
        "entry-jaccard: all",
        "entries-suppressed: share",
        "entries-created: share",
        "feature-frequency: mean change",
    ),
    TABLE: ("cells-shown: all", "column-entropy: mean of columns"),
}
"""What the page shows, as questions and parts of `evaluate`."""

ATTACKS = {
    NETWORK: ("candidate-set", "seeded-matching", "degree-matching"),
    DIRECTED: ("candidate-set", "seeded-matching"),
    FEATURES: ("linkage",),
    TABLE: ("matching", "linkage"),
}
"""What re-identifies people by kind of data, and ends in a minute on the quick sets."""

COLUMNS = (
    *("data", "kind", "target", "method", "parameters", "n", "m"),
    *("guarantee", "verified", "reached"),
    *dict.fromkeys(metric for every in METRICS.values() for metric in every),
    *("attack", "attacker", "re-identified", "guess", "attacks run", "not run"),
    *("cpu_seconds", "attack_cpu_seconds", "seconds_for_attacks"),
    *("date", "version"),
)


def written(parameters: Mapping[str, Any]) -> str:
    """Return parameters as a text."""
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def warm_up(entry: Entry, data: Any) -> None:
    """Run a method on small data of the kind: what is compiled or loaded is not timed."""
    graph = gv.datasets.barabasi_albert(40, 3, seed=1)
    layer = gv.Layer.from_arcs(*graph.edges().T, n=graph.n_nodes)
    small = {
        NETWORK: graph,
        DIRECTED: gv.Network((layer,)),
        FEATURES: gv.datasets.block_model(64, block=16, seed=1),
        TABLE: gv.Table.from_columns(
            {"x": list("aabbc" * 8), "y": list("abcde" * 8), "z": list("ab" * 20)}
        ),
    }[entry.kind]
    if small.size < data.size:
        gv.METHODS[entry.method].from_parameters(entry.parameters).anonymize(small, seed=1)


def measured(name: str, entry: Entry, folder: Path, seconds: float) -> Row:
    """Return the row of one method on one data set."""
    warnings.simplefilter("ignore")
    data = SETS[name].load(folder)
    row = key_of(name, entry) | {
        "n": str(data.size),
        "m": str(size_of(data)),
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "version": gv.__version__,
    }
    if entry.most is not None and data.size > entry.most:
        return row | {"not run": f"above {entry.most:,} nodes"}
    warm_up(entry, data)
    method = gv.METHODS[entry.method].from_parameters(entry.parameters)
    seed = None if "epsilon" in entry.parameters else 1
    started = time.process_time()
    try:
        release = method.anonymize(data, seed=seed)
    except gv.GraphveilError as error:
        return row | {"not run": str(error)}
    row["cpu_seconds"] = f"{time.process_time() - started:.2f}"
    with tempfile.TemporaryDirectory() as scratch:
        path = release.write(Path(scratch, "release"))
        row |= reached(release, gv.verify_release(path, data))
        row |= kept(path, data, METRICS[entry.kind])
        row |= strongest(path, data, ATTACKS[entry.kind], seconds)
    return row


def key_of(name: str, entry: Entry) -> Row:
    """Return what tells a row from all others, and its place on the page."""
    return {
        "data": name,
        "kind": entry.kind,
        "target": entry.target,
        "method": entry.method,
        "parameters": written(entry.parameters),
    }


def size_of(data: Any) -> int:
    """Return the edges, entries or columns."""
    kind = {gv.Bipartite: "n_entries", gv.Table: "n_columns"}.get(type(data), "n_ties")
    return int(getattr(data, kind))


def reached(release: Any, verdict: Any) -> Row:
    """Return what `verify` says of the guarantee, and the check that recounted it."""
    about = ("tool", "claim in words")
    counted = [
        c.detail for c in verdict.checks if c.name in verdict.decisive and c.name not in about
    ]
    epsilon = getattr(release.guarantee, "epsilon", None)
    claims = verdict.word != "not claimed"
    said = f"{verdict.answer}, {verdict.word}" if claims or not verdict.ok else "nothing claimed"
    return {
        "guarantee": type(release.guarantee).__name__,
        "verified": said,
        "reached": "; ".join(counted) if epsilon is None else f"epsilon {epsilon:g}",
    }


def kept(path: Path, data: Any, asked: Iterable[str]) -> Row:
    """Return what `evaluate` says of the release folder."""
    names = [text.partition(":")[0] for text in asked]
    rows = gv.evaluate_release(path, data, metrics=names, seed=1)
    found = {f"{row.question}: {row.part}": row.value for row in rows}
    return {one: "" if found.get(one) is None else f"{found[one]:.4f}" for one in asked}


def strongest(path: Path, data: Any, asked: Iterable[str], seconds: float) -> Row:
    """Return the attack that re-identifies most, of all that end in time."""
    found, left, started = [], [], time.process_time()
    for name in asked:
        try:
            rows = gv.attack_release(path, data, attacks=[name], seconds=seconds, seed=1)
        except gv.GraphveilError:  # it is above its limit
            left.append(name)
            continue
        of_table = isinstance(data, gv.Table)
        mine = list(re_identifying(rows, counted_in(data), of_table=of_table))
        found += mine
        left += [] if mine else [name]
    row = {
        "attacks run": " ".join(dict.fromkeys(attack for (attack, _), _ in found)),
        "not run": " ".join(left),
        "attack_cpu_seconds": f"{time.process_time() - started:.1f}",
        "seconds_for_attacks": f"{seconds:g}",
    }
    if not found:
        return row
    (attack, attacker), most = max(found, key=lambda one: one[1].value or 0.0)
    guess = "" if most.guess is None else f"{most.guess:.4f}"
    figures = {"re-identified": f"{most.value:.4f}", "guess": guess}
    return row | {"attack": attack, "attacker": attacker} | figures


# ---- rows and the page


def stored() -> list[Row]:
    """Return the rows of the file; none where there is no file."""
    if not ROWS.exists():
        return []
    with ROWS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def place_of(row: Row) -> tuple[int, int]:
    """Return where a row stands: in the order of `SETS` and of `ENTRIES`."""
    entries = [(e.kind, e.target, e.method, written(e.parameters)) for e in ENTRIES]
    key = (row["kind"], row["target"], row["method"], row["parameters"])
    return list(SETS).index(row["data"]), entries.index(key)


def store(row: Row) -> None:
    """Put a row into the file, in place of an older one of the same key."""
    every = {place_of(one): one for one in stored()} | {place_of(row): row}
    draft = ROWS.with_suffix(".writing")
    with draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(one for _, one in sorted(every.items()))
    draft.replace(ROWS)


def percent(text: str) -> str:
    """Return a share in percent."""
    return "" if text == "" else f"{100 * float(text):.1f}%"


def cells_of(row: Row) -> Iterator[str]:
    """Yield the cells of a row on the page."""
    yield f"`{row['method']}`" + (f" {row['parameters']}" if row["parameters"] else "")
    if not row["verified"]:
        yield f"not run: {row['not run']}"
        return
    yield row["verified"] + (f": {row['reached']}" if row["reached"] else "")
    for metric in METRICS[row["kind"]]:
        yield f"{float(row[metric]):.3f}" if row[metric] else ""
    found = percent(row["re-identified"])
    yield f"{found} `{row['attack']}`, {row['attacker']}" if found else "none ran"
    yield percent(row["guess"])
    yield row["cpu_seconds"]


def tables(rows: list[Row]) -> str:
    """Return the tables of the page: one for each data set, by guarantee."""
    lines = []
    for name in dict.fromkeys(row["data"] for row in rows):
        mine = [row for row in rows if row["data"] == name]
        first, metrics = mine[0], METRICS[mine[0]["kind"]]
        dates = sorted({row["date"] for row in mine})
        spent = sorted({row["seconds_for_attacks"] for row in mine if row["seconds_for_attacks"]})
        lines += ["", f"## {name}", ""]
        lines.append(
            f"{first['kind'].capitalize()}, n = {int(first['n']):,}, m = {int(first['m']):,}. "
            f"Measured {' to '.join(dict.fromkeys([dates[0], dates[-1]]))} with version "
            f"{', '.join(sorted({row['version'] for row in mine}))}, one release for each line, "
            f"at most {' or '.join(spent)} seconds for an attack."
        )
        head = ["method", "`verify`", *(f"`{one}`" for one in metrics)]
        head += ["strongest attack that ran", "guess", "CPU, s"]
        for target in dict.fromkeys(row["target"] for row in mine):
            group = [list(cells_of(row)) for row in mine if row["target"] == target]
            lines += ["", f"Guarantee: {target}", "", f"| {' | '.join(head)} |"]
            lines.append("|---" * len(head) + "|")
            lines += [f"| {' | '.join(c + [''] * (len(head) - len(c)))} |" for c in group]
    return "\n".join([*lines, ""])


def page(text: str, rows: list[Row]) -> str:
    """Return the page with the tables of these rows."""
    before, _, rest = text.partition(START)
    return f"{before}{START}\n{tables(rows)}\n{END}{rest.partition(END)[2]}"


def todo(asked: argparse.Namespace) -> Iterator[tuple[str, Entry]]:
    """Yield data and entries, and say what needs a folder."""
    for name, one in SETS.items():
        if (asked.sets and name not in asked.sets) or (asked.quick and not one.quick):
            continue
        if not one.ships and asked.data is None:
            print(f"{name}: not run, needs --data")
            continue
        for entry in ENTRIES:
            fits = not asked.methods or entry.method in asked.methods
            if entry.kind == one.kind and fits:
                yield name, entry


def main() -> None:
    """Measure, store and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data alone")
    parser.add_argument("--data", type=Path, help="the folder of data that does not ship")
    parser.add_argument("--sets", nargs="*", default=[], help="these data sets alone")
    parser.add_argument("--methods", nargs="*", default=[], help="these methods alone")
    parser.add_argument("--seconds", type=float, help="for an attack; 60 if quick, else 300")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--page", action="store_true", help="write the page alone")
    asked = parser.parse_args()
    if not asked.page:
        seconds = asked.seconds or (60.0 if asked.quick else 300.0)
        os.environ.setdefault("NUMBA_NUM_THREADS", "1")
        started = time.perf_counter()
        with ProcessPoolExecutor(asked.jobs, multiprocessing.get_context("spawn")) as pool:
            runs = [
                pool.submit(measured, name, entry, asked.data or Path(), seconds)
                for name, entry in todo(asked)
            ]
            for number, run in enumerate(as_completed(runs), start=1):
                taken = f"{number}/{len(runs)} {time.perf_counter() - started:.0f} s"
                if run.exception() is not None:
                    print(f"{taken}: failed: {run.exception()!r}", flush=True)
                    continue
                row = run.result()
                store(row)
                print(f"{taken}: {row['data']}, {row['method']} {row['parameters']}", flush=True)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), stored()), encoding="utf-8")


if __name__ == "__main__":
    main()
