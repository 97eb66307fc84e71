"""Every method at three strengths against every attack that fits.

    python benchmarks/attacks/matrix.py --data FOLDER [--sets NAME ...] [--methods NAME ...]
        [--attacks NAME ...] [--seeds N] [--minutes N] [--longest SECONDS]

A point is a data set, a method, a strength and the seed of a release; attacks run under the same
seed. The rows of every attack go to ``results/matrix.parquet`` (twice a minute, and at the end),
what could not be measured with its reason, and an attack that stands there is not run again. One
row an attack says what the hundredth of people who are worst off have to fear, where at least a
hundred have a risk. Attacks and their defaults were tuned on `TUNED`, and on no other data of this
file.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from pyarrow import parquet

import graphveil as gv
from graphveil.attacks import Attached
from graphveil.attacks.attack import AttackInput
from graphveil.attacks.registry import ATTACKS as ATTACKERS
from graphveil.attacks.registry import not_run
from graphveil.claims.record import ATTACKED, private_folder
from graphveil.core.randomness import Randomness
from graphveil.evaluate.measuring import comparison_of
from graphveil.verbs.attack import rerun_of

HERE = Path(__file__).parent
for beside in ("", "adaptive_anonymity", "smooth_anonymity"):
    sys.path.append(str(HERE.parent / beside))
import data as sets  # noqa: E402  the data of another comparison
import tables  # noqa: E402

from raw_rows import append_rows, read_rows, write_rows  # noqa: E402

RESULTS = HERE / "results" / "matrix.parquet"
SEEDS = (1, 2, 3, 4, 5)
ADULT, HEART, PLAY = "adult, 2,000 people", "heart", "apps, 2,000 rows"
ARENAS, SCHOOL, BLOGS, HEPPH = "arenas-email", "primary school", "polblogs", "ca-HepPh"
TUNED = (ARENAS,)
PEOPLE = 2_000
FILES = {
    ARENAS: "anonet/out.arenas-email.edges",
    SCHOOL: "anonet/primaryschool.edges",
    BLOGS: "polblogs/edges.tsv.gz",
    HEPPH: "ca-HepPh/edges.tsv.gz",
}
PEOPLE_IN = {ARENAS: 1_133, SCHOOL: 242, BLOGS: 1_224, HEPPH: 12_006}
CELL = ("data", "method", "parameters", "attack", "options")
WORST = "mean risk of the hundredth of people who are worst off"
FEWEST_FOR_A_HUNDREDTH = 100
"""People: the hundredth of fewer is less than one person."""
BETWEEN_WRITES = 30.0
"""Seconds."""
RUN_AGAIN = {"edge-re-run": "runs", "tie-membership": "shadows"}
"""Attacks that run the method many times, and the option that says how often."""
LONGEST = 30.0
"""Seconds of CPU time: such an attack is not run where it says that it takes longer.

`--longest` sets another bound, and tries again what is left out by its stored reason."""
SURELY_LONG = 3.0
"""Seconds of CPU time: a run of the method that took as long is not timed again."""

TOOK: dict[Path, float] = {}
"""Seconds of CPU time of the run of the method that made a release, by its folder."""

Parameters = dict[str, Any]


class Played(NamedTuple):
    """An attack, its options, under how many seeds it is run, and on which methods."""

    attack: str
    options: Parameters
    seeds: int = len(SEEDS)
    methods: tuple[str, ...] = ()


class Method(NamedTuple):
    """A method on a data set: its parameters at each strength, and how often it is run."""

    name: str
    strengths: tuple[Parameters, ...]
    seeds: int = len(SEEDS)


def by(name: str, parameter: str, values: tuple[float, ...], **common: Any) -> Method:
    return Method(name, tuple({parameter: value, **common} for value in values))


FEW_RUNS = {"trials": 30, "releases": 3, "people": 300}
ON_FEATURES = (
    Played("linkage", {"known": "2,4,8", "wrong": "0"}),
    Played("membership", {}),
    Played("item-membership", {}),
    Played("class-truth", {}),
    Played("homogeneity", {}),
    Played("singling-out", {}),
    Played("insider", {}),
    Played("minimality", {}),
    Played("refinement", {}),
    Played("intersection", {}),
    Played("re-run", FEW_RUNS),
)
CHEAP = (
    Played("candidate-set", {}),
    Played("fake-edge", {}),
    Played("edge-gain", {"draws": 1}),
    Played("edge-membership", {}),
    Played("seed-propagation", {"overlap": 1.0, "known": 20, "draws": 1}),
)
ONE_DRAW = {"draws": 1}
"""Of who is known: every release has one of its own."""
MATCHED = tuple(Played("seeded-matching", {"known": known}) for known in (0, 20))
BY_TIES = Played("tie-membership", {})
QUICK = ("rename", "randomized-response", "asymmetric-response", "top-m-filter")
AT_LENGTH = ("k-degree", "structural", "degree-prior-response", "mixing-prior-response", "dp-1k")
DRAWN_ANEW = ("hrg-mcmc", "density-explore-reconstruct", "degree-triangle-model")
BY_AN_EDGE = (
    Played("edge-re-run", {"runs": 400}, methods=QUICK),
    Played("edge-re-run", {"runs": 100}, methods=AT_LENGTH),
    Played("edge-re-run", {"runs": 100}, seeds=1, methods=DRAWN_ANEW),
)
"""Quick methods are run more often: 400 runs can show an epsilon of 3.7, 100 one of 2.2."""
ALIGNED = Played("alignment", {"overlap": 1.0, "draws": 1})
ATTACKS = {
    ADULT: (*ON_FEATURES, Played("entry-membership", {})),
    PLAY: (*ON_FEATURES, Played("entry-membership", {})),
    HEART: (*ON_FEATURES, Played("matching", {})),
    SCHOOL: (*CHEAP, *MATCHED, ALIGNED, BY_TIES, *BY_AN_EDGE),
    ARENAS: (*CHEAP, *(p._replace(seeds=1) for p in (MATCHED[0], BY_TIES))),
    BLOGS: (CHEAP[0], MATCHED[0], BY_TIES, *BY_AN_EDGE),
    HEPPH: (*(p._replace(seeds=1) if p.attack == "edge-gain" else p for p in CHEAP), *BY_AN_EDGE),
}
"""Attacks that take minutes on a network are run there under one seed; what `seeded-matching` does
on larger ones is in ``large_alignment.py``."""
DEAR = {BLOGS: ("seeded-matching",), ARENAS: ("seeded-matching",), HEPPH: ("edge-gain",)}


def on_network(name: str, *, every_strength: bool = True) -> tuple[Method, ...]:
    """Return the methods on a network: epsilon up to the logarithm of how many people it has."""
    low, k = every_strength, (2, 5, 20) if every_strength else (20,)
    top = round(math.log(PEOPLE_IN[name]), 2)
    noisy = (2.0, 4.0, top) if low else (top,)
    return (
        Method("rename", ({},)),
        *(by("k-degree", "k", k, edits=edits) for edits in ("add", "any")),
        by("structural", "k", k, measure="count"),
        Method("structural", ({"k": 5, "phi": 10.0, "goal": "budget:0.05", "edits": "any"},)),
        *(by(response, "epsilon", noisy) for response in RESPONSES),
        *(by(model, "epsilon", noisy) for model in MODELS),
        *(by("super-nodes", "k", k, certain=certain) for certain in ("avoid", "allow")),
        by("degree-triangle-model", "epsilon", (1.0, 2.0, 4.0) if low else (4.0,)),
    )


RESPONSES = (
    "randomized-response",
    "asymmetric-response",
    "degree-prior-response",
    "mixing-prior-response",
    "top-m-filter",
)
MODELS = ("dp-1k", "hrg-mcmc", "density-explore-reconstruct")
SLOW_ON_MANY = ("hrg-mcmc", "density-explore-reconstruct")
CLASSES = tuple(by(name, "k", (2, 8, 16)) for name in ("smooth-k", "suppress-k", "mondrian"))
NOISY_ENTRIES = tuple(
    by(name, "epsilon", (2.0, 4.0, 8.0)) for name in ("randomized-response", "asymmetric-response")
)
METHODS = {
    ADULT: (Method("rename", ({},)), *CLASSES, *NOISY_ENTRIES),
    PLAY: (Method("rename", ({},)), *CLASSES, *NOISY_ENTRIES),
    HEART: (
        Method("rename", ({},)),
        by("cluster-k", "k", (2, 5, 20)),
        by("adaptive", "levels", (2, 5, 20), compatibility="bipartite"),
        by("suppress-k", "k", (2, 5, 20)),
        by("mondrian", "k", (2, 5, 20)),
    ),
    SCHOOL: on_network(SCHOOL),
    ARENAS: on_network(ARENAS),
    BLOGS: on_network(BLOGS, every_strength=False),
    HEPPH: tuple(
        method
        for method in on_network(HEPPH, every_strength=False)
        if method.name not in SLOW_ON_MANY
    ),
}


class Subject(NamedTuple):
    """Data, and a column that is published beside its release."""

    data: gv.Graph | gv.Bipartite | gv.Table
    attached: Attached | None = None


@cache
def read(name: str, folder: Path) -> Subject:
    """Return a data set of `METHODS`."""
    if name in FILES:
        path = folder / FILES[name]
        return Subject(gv.read_graph(path, directed="symmetrize", ignore_weights=True))
    if name == HEART:
        codes = tables.codes_of(folder, "heart")
        names = tuple(f"c{number}" for number in range(codes.shape[1]))
        return Subject(gv.Table(codes, names, (["no", "yes"],) * len(names)))
    if name == PLAY:
        apps = sets.playstore(folder)
        chosen = np.sort(np.random.default_rng(0).choice(apps.n_users, PEOPLE, replace=False))
        return Subject(apps.permuted(chosen).without_unused())
    adult = sets.adult(folder)
    labels = np.array(sets.adult_columns(folder / "adult" / "adult.data.gz")[1])
    chosen = np.sort(np.random.default_rng(0).choice(adult.n_users, PEOPLE, replace=False))
    people = adult.permuted(chosen).without_unused()
    return Subject(people, Attached("income", labels[chosen]))


def key_of(row: Parameters) -> tuple[str, ...]:
    """Return what tells the runs of attacks from each other."""
    return tuple(json.dumps(row[field], sort_keys=True) for field in (*CELL, "seed"))


def cell_of(row: Parameters) -> tuple[str, ...]:
    """Return what the draws of a cell have in common: where one takes long, no other is run."""
    return tuple(json.dumps(row[field], sort_keys=True) for field in CELL)


def is_long(row: Parameters) -> bool:
    """Return whether an attack was left out because it takes long."""
    return row.get("not_measured", "").endswith("it runs where it is asked for")


def without_stale(rows: list[Parameters]) -> list[Parameters]:
    """Return rows without reasons of what was run, or said to take long once more, later on."""
    last = {key_of(row): place for place, row in enumerate(rows)}
    return [row for place, row in enumerate(rows) if not is_long(row) or last[key_of(row)] == place]


def points(given: argparse.Namespace) -> Iterator[Parameters]:
    """Yield every run of an attack: all of one seed, those that take long last; then the next."""
    for seed in SEEDS[: given.seeds]:
        runs = [
            {
                "data": name,
                "method": method.name,
                "parameters": parameters,
                "seed": seed,
                "attack": played.attack,
                "options": played.options,
            }
            for name, methods in METHODS.items()
            for method in methods
            for parameters in method.strengths
            for played in ATTACKS[name]
            if seed <= min(played.seeds, method.seeds)
            and (not played.methods or method.name in played.methods)
            and (not given.sets or name in given.sets)
            and (not given.methods or method.name in given.methods)
            and (not given.attacks or played.attack in given.attacks)
        ]
        yield from sorted(runs, key=lambda run: run["attack"] in DEAR.get(run["data"], ()))


def data_of(name: str, method: str, folder: Path) -> gv.Graph | gv.Bipartite | gv.Table:
    """Return what a method is run on: one entry is what epsilon is of, not an answer of several."""
    data = read(name, folder).data
    of_entries = isinstance(data, gv.Bipartite) and method in RESPONSES
    return data.with_items(items="things") if of_entries else data


@cache
def released(name: str, method: str, parameters: str, seed: int, given: Place) -> Path:
    """Return the folder of a release; that of a second seed is its second release."""
    made = gv.METHODS[method].from_parameters(json.loads(parameters))
    data, start = data_of(name, method, given.data), time.process_time()
    release = made.anonymize(data, seed=seed)
    place = given.releases / str(len(list(given.releases.iterdir())))
    TOOK[place] = time.process_time() - start
    release.write(place)
    return place


class Place(NamedTuple):
    """Where data is read from, and where releases lie while they are attacked."""

    data: Path
    releases: Path
    longest: float = LONGEST


def measured(point: Parameters, place: Place) -> list[Parameters]:
    """Return the rows of an attack, with its CPU time; why there are none where it was refused."""
    start = time.process_time()
    try:
        released(*point_of(point), point["seed"], place)
        start = time.process_time()
        rows = list(attacked(point, place))
    except gv.GraphveilError as error:
        rows = [{"part": "", "not_measured": str(error)}]
    seconds = round(time.process_time() - start, 3)
    return [{**point, **row, "cpu_seconds": seconds} for row in rows]


def seconds_of(point: Parameters, folder: Path, original: gv.Graph) -> float:
    """Return how long an attack says that it takes, before it is run."""
    attack, release = ATTACKERS[point["attack"]], gv.read_release(folder)
    pair = comparison_of(release, original, Randomness(seed=point["seed"]), wanted_by="attack")
    situation = AttackInput(comparison=pair, release=release, rerun=rerun_of(release))
    options = attack.options.of(attack.name, point["options"])
    runs = getattr(options, RUN_AGAIN[attack.name]) * (2 if attack.name == "edge-re-run" else 1)
    if TOOK[folder] > SURELY_LONG:
        return float(runs * TOOK[folder])
    return attack.seconds(situation, options)


def point_of(point: Parameters) -> tuple[str, str, str]:
    """Return data, method and strength."""
    return point["data"], point["method"], json.dumps(point["parameters"])


def attacked(point: Parameters, place: Place) -> Iterator[Parameters]:
    """Yield the figures of an attack, and what the people who are worst off have to fear."""
    subject = read(point["data"], place.data)
    named, attack = point_of(point), point["attack"]
    folder = released(*named, point["seed"], place)
    if attack in RUN_AGAIN and (needed := seconds_of(point, folder, subject.data)) > place.longest:
        yield {"part": "", "not_measured": not_run(needed)}
        return
    second = released(*named, point["seed"] + 1_000, place) if attack == "intersection" else None
    rows = gv.attack_release(
        folder,
        original=data_of(point["data"], point["method"], place.data),
        attacks=[attack],
        seed=point["seed"],
        options={attack: {**(ONE_DRAW if attack == "seeded-matching" else {}), **point["options"]}},
        second=second,
        attached=subject.attached if attack == "homogeneity" else None,
    )
    renamed = {"baseline": "guess", "ci_low": "low", "ci_high": "high"}
    fields = ("part", "value", "baseline", "unit", "sample_size", "ci_low", "ci_high")
    for row in rows:
        found = {field: getattr(row, renamed.get(field, field)) for field in fields}
        yield {field: value for field, value in found.items() if value is not None}
    for row in rows.missing:
        yield {"part": row.part or "", "not_measured": row.reason}
    path = private_folder(folder) / ATTACKED / f"{attack}.parquet"
    if path.exists():
        risks = parquet.read_table(path)["risk"].to_numpy()
        known = np.sort(risks[~np.isnan(risks)])[::-1]
        if known.size >= FEWEST_FOR_A_HUNDREDTH:
            worst = float(known[: math.ceil(known.size / 100)].mean())
            yield {"part": WORST, "value": worst, "unit": "risk", "sample_size": known.size}
        path.unlink()


def arguments() -> argparse.Namespace:
    """Return what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", choices=METHODS)
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--attacks", nargs="*")
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--longest", type=float, default=LONGEST)
    return parser.parse_args()


def main() -> None:
    """Run what was not run yet."""
    given = arguments()
    warnings.simplefilter("ignore", gv.GraphveilWarning)
    stored = read_rows(RESULTS)
    if given.longest > LONGEST:
        stored = [row for row in stored if not is_long(row)]
    known, long = {key_of(row) for row in stored}, set(map(cell_of, filter(is_long, stored)))
    todo = [point for point in points(given) if key_of(point) not in known]
    began = written = time.monotonic()
    waiting: list[Parameters] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Place(given.data, Path(folder), given.longest)
        for number, point in enumerate(todo, 1):
            if cell_of(point) in long:
                continue
            rows = measured(point, place)
            waiting += rows
            long.update(map(cell_of, filter(is_long, rows)))
            shown = (point[name] for name in ("data", "method", "parameters", "seed", "attack"))
            print(f"{number}/{len(todo)}", *shown, rows[0]["cpu_seconds"], flush=True)
            if time.monotonic() - began > 60 * given.minutes:
                break
            if time.monotonic() - written > BETWEEN_WRITES:
                append_rows(RESULTS, *waiting)
                waiting, written = [], time.monotonic()
    append_rows(RESULTS, *waiting)
    write_rows(RESULTS, without_stale(read_rows(RESULTS)))


if __name__ == "__main__":
    main()
