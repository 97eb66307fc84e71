"""Tables with suppressed cells: what `suppress-k` and `cluster-k` keep, before and after a change.

    python benchmarks/finest_masks/run.py --data FOLDER --label NAME [--set NAME ...]
    python benchmarks/finest_masks/run.py --table

Every release is counted again here, cell by cell: the share of cells kept, the smallest class and
the sum of squared class sizes. Seconds are CPU, after a run on 60 rows of the set that compiles
(`first`: once a process, so that later rows have next to nothing there). Rows of another label, as
of an earlier version on the path, stay. FOLDER holds ``adult``, ``adult-test``,
``googleplaystore``, ``forestfires`` and so on.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import graphveil as gv
from graphveil.data import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from raw_rows import Row, read_rows, write_rows

HERE = Path(__file__).resolve().parent
ROWS = HERE / "results" / "runs.parquet"
ADULT = {
    9: "sex",
    0: "age",
    8: "race",
    5: "marital-status",
    3: "education",
    13: "native-country",
    1: "workclass",
    6: "occupation",
}
ADULT_CELLS = 15
FIRST_ROWS = 60
STRENGTHS = (5, 10)
COMPARED = ("heart", "hepatitis", "wine", "bupa", "ecoli", "forest")
METHODS: dict[str, Callable[..., gv.SuppressK | gv.ClusterK]] = {
    "suppress-k": gv.SuppressK,
    "cluster-k": gv.ClusterK,
}


def sibling(path: str) -> ModuleType:
    """Return a module of another benchmark."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, HERE.parent / path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def census(path: Path) -> dict[str, list[str]]:
    """Return the eight columns of the census records without a missing value."""
    with gzip.open(path, "rt") as lines:
        split = [[cell.strip() for cell in line.split(",")] for line in lines]
    records = [cells for cells in split if len(cells) == ADULT_CELLS and "?" not in cells]
    return {name: [cells[at] for cells in records] for at, name in ADULT.items()}


def play(folder: Path) -> dict[str, list[str]]:
    """Return the ten columns of the app data's sample."""
    table = Table.from_one_hot(sibling("smooth_anonymity/data.py").playstore(folder))
    return {name: list(map(str, values)) for name, values in table.to_arrow().to_pydict().items()}


def columns_of(folder: Path, name: str) -> dict[str, list[str]]:
    """Return a set's columns."""
    if name == "adult":
        return census(folder / "adult" / "adult.data.gz")
    if name == "adult-test":
        return census(folder / "adult-test" / "adult-test.csv.gz")
    if name == "googleplaystore":
        return play(folder)
    codes = sibling("adaptive_anonymity/tables.py").codes_of(folder, name)
    return {f"c{j}": list(map(str, column)) for j, column in enumerate(codes.T.tolist())}


def published(release: gv.Release, names: list[str]) -> list[tuple[str | None, ...]]:
    """Return the rows of a release as they may be read, None for a suppressed cell."""
    if isinstance(release.data, Table):
        shown = release.data.to_arrow().to_pydict()
        return list(zip(*(shown[name] for name in names), strict=True))
    rows = []
    for items in release.data.to_lists()["items"].to_pylist():
        cells = dict(item.split("=", 1) for item in items)
        rows.append(tuple(cells.get(name) for name in names))
    return rows


def measured(columns: dict[str, list[str]], name: str, k: int) -> Row:
    """Return what a method keeps of a table, counted from what it publishes, and its seconds."""
    table, names = Table.from_columns(columns), list(columns)
    few = Table.from_columns({one: values[:FIRST_ROWS] for one, values in columns.items()})
    gv.precompile()
    started = time.process_time()
    METHODS[name](k=k).anonymize(few, seed=1)
    compiled = time.process_time()
    release = METHODS[name](k=k).anonymize(table, seed=1)
    ended = time.process_time()
    rows = published(release, names)
    sizes = Counter(rows).values()
    cells = len(rows) * len(names)
    return {
        "rows": len(rows),
        "columns": len(names),
        "kept": sum(cell is not None for row in rows for cell in row) / cells,
        "smallest": min(sizes),
        "squares": sum(size * size for size in sizes),
        "seconds": ended - compiled,
        "first": compiled - started,
    }


def run(folder: Path, label: str, sets: list[str]) -> None:
    """Measure every set, method and strength; write each row when it is measured."""
    for name in sets:
        columns = columns_of(folder, name)
        for k in STRENGTHS:
            for method in METHODS:
                key = {"label": label, "set": name, "k": k, "method": method}
                row = key | measured(columns, method, k)
                others = [one for one in read_rows(ROWS) if key != {at: one[at] for at in key}]
                write_rows(ROWS, [*others, row])
                print(row, flush=True)


def table() -> None:
    """Print the rows as a table."""
    rows = read_rows(ROWS)
    print("| set | rows x columns | k | method | version | kept | squares | CPU s | first run, s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in sorted(rows, key=lambda r: (r["set"], r["k"], r["method"], r["label"] != "before")):
        cells = [
            row["set"],
            f"{row['rows']:,} x {row['columns']}",
            row["k"],
            row["method"],
            row["label"],
            f"{row['kept']:.4f}",
            f"{row['squares']:,}",
            f"{row['seconds']:.2f}",
            f"{row['first']:.2f}",
        ]
        print("|", " | ".join(map(str, cells)), "|")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--label", default="after")
    parser.add_argument("--set", nargs="*", dest="sets")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        table()
        return
    warnings.simplefilter("ignore")
    sets = options.sets or ["adult", "adult-test", "googleplaystore", *COMPARED]
    run(options.data, options.label, sets)


if __name__ == "__main__":
    main()
