"""What attackers learn where people share directed ties and what is around them.

    python benchmarks/profiles/surroundings_attacks.py --data FOLDER

Releases of `structural` with the measure ``directed-count``, everybody protected, attacked by who
knows a little of one person (`candidate-set`: by the release's own measure, by ties out and in, and
by what the measure does not see), and by who has a copy with directions, whole or of 60 % of the
people with three ties in ten wrong. FOLDER holds ``polblogs/polblogs.gml.gz``, on which the search
of the method was tuned; ``wiki-Vote/wiki-Vote.txt.gz``, on which the search of large copies was
(`benchmarks/attacks/large_alignment.py`); and ``standin-web-NotreDame``, of which the first 10,000
pages are taken. On these, and on the network of 3,000 people that is generated, nothing was tuned.
Every release is written and verified, and attacked from its folder. Raw rows go to
``results/surroundings_attacks.parquet``; what stands there is not run again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from directed import generated, polblogs, wiki_vote
from surroundings import MEASURE, pages

from raw_rows import append_rows, read_rows

ROWS = Path(__file__).parent / "results" / "surroundings_attacks.parquet"
RELEASES = ((2, "delete"), (5, "delete"), (20, "delete"), (5, "any"), (20, "any"))
DRAWS, DRAWS_OF_MANY, MANY = 5, 3, 2_000
"""Draws of known people, and in networks of more than so many people."""

TUNED = {"polblogs": "method", "wiki-Vote": "copies"}
PART = {"overlap": 0.7, "people": 0.6}
"""A copy of 60 % of the people, three in ten ties wrong."""

Asked = tuple[str, dict[str, Any]]


def attacks(people: int) -> Iterator[Asked]:
    """Yield the attacks on a network of so many people; all pairs are searched in small ones."""
    yield "candidate-set", {"targets": people}
    yield "seeded-matching", {"known": 0, "draws": 1}
    few = people <= MANY
    yield "seeded-matching", {"known": 20, "draws": DRAWS if few else DRAWS_OF_MANY}
    if few:
        yield "seeded-matching", {"known": 0, "draws": 1, "copy": "ties"}
        yield "seeded-matching", {"known": 20, "draws": DRAWS, **PART}
        yield "alignment", {"overlap": 1.0, "draws": 1}


def attacked(folder: Path, network: gv.Network, asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield what an attack learns from a release folder."""
    name, options = asked
    start = time.process_time()
    made = gv.attack_release(
        folder, network, attacks=[name], seed=1, options={name: options}, rerun=None
    )
    seconds = round(time.process_time() - start, 2)
    for row in made:
        if row.value is not None:
            figures = {"value": row.value, "unit": row.unit, "guess": row.guess}
            spread = {"low": row.low, "high": row.high, "sample": row.sample_size}
            yield {"attack": name, "options": options, "part": row.part, "seconds": seconds} | {
                key: value for key, value in (figures | spread).items() if value is not None
            }


def main() -> None:
    """Attack what is not there yet, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--network", help="the one to run")
    parser.add_argument("--k", type=int, help="the k to run")
    parser.add_argument("--edits", help="the edits to run")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    networks: dict[str, Callable[[], gv.Network]] = {
        "polblogs": lambda: polblogs(asked.data).without("party"),
        "generated 3,000": lambda: generated(3_000, 30_000),
        "wiki-Vote": lambda: wiki_vote(asked.data),
        "NotreDame 10,000": lambda: pages(asked.data),
    }
    for name, make in networks.items():
        if asked.network not in {None, name}:
            continue
        network = make()
        for k, edits in RELEASES:
            if asked.k not in {None, k} or asked.edits not in {None, edits}:
                continue
            release = {"network": name, "tuned": TUNED.get(name, ""), "k": k, "edits": edits}
            there = [
                (row["attack"], row["options"])
                for row in read_rows(ROWS)
                if release.items() <= row.items()
            ]
            missing = [one for one in attacks(network.size) if one not in there]
            if missing:
                run(network, release, missing)


def run(network: gv.Network, of_release: dict[str, Any], missing: list[Asked]) -> None:
    """Make one release, attack it, and add the rows."""
    k, edits = of_release["k"], of_release["edits"]
    start = time.process_time()
    made = gv.StructuralAnonymity(measure=MEASURE, k=k, edits=edits).anonymize(network, seed=1)
    seconds = round(time.process_time() - start, 1)
    with tempfile.TemporaryDirectory() as place:
        folder = made.write(Path(place) / "out")
        if not gv.verify_release(folder, network).ok:
            raise AssertionError(f"{of_release}: the promise does not hold")
        share = made.guarantee.share
        kept = round(1 - made.private.cost["edges_deleted"] / network.n_ties, 4)
        sizes = {"people": network.size, "ties": network.n_ties, "share": share, "kept": kept}
        for one in missing:
            rows = [of_release | sizes | row for row in attacked(folder, network, one)]
            append_rows(ROWS, *rows)
            for row in rows:
                if row["part"].endswith((": right", "right guess", "nearest, fewest")):
                    part, value = row["part"], round(row["value"], 4)
                    print(*of_release.values(), one[0], part, value, row["seconds"], flush=True)
    print(*of_release.values(), "made in", seconds, "kept", kept, flush=True)


if __name__ == "__main__":
    main()
