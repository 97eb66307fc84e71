# ruff: noqa: INP001  read by a script that is run by hand, not a package
"""The commands whose releases are digested: every method, goal, algorithm and choice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

NOISY = "--epsilon 0.5|2|8"
SOLO = "--jobs 1"
SPARK = "--engine spark --working @spark --format parquet"


class Runs(NamedTuple):
    """Commands that run on the inputs that have all of some tags.

    Attributes
    ----------
    tags
        The tags, with spaces between.
    commands
        One line per command, with the method first. A word such as ``add|any`` stands for one
        command for each choice, and ``@roles`` for the roles of the input's attributes.
    most
        How many inputs are used, spread evenly; 0 for all of them. Set for expensive commands.
    """

    tags: str
    commands: str
    most: int = 0

    def expanded(self) -> Iterator[str]:
        """Yield every command, one for each combination of choices."""
        for line in filter(None, map(str.strip, self.commands.splitlines())):
            for words in itertools.product(*(word.split("|") for word in line.split())):
                yield " ".join(words)


RUNS = (
    Runs(
        "graph",
        f"""
        k-degree --k 2|5|12 --prove never
        k-degree --k 3 --edits add --target exact|greedy --prove never
        k-degree --k 3 --edits any --prove never
        k-degree --k 4 --near --restarts 3 --edits add|any --prove never
        structural --k 2|3 --goal full --iterations 2000
        structural --goal partial:0.95|partial:0.6|budget:0.05|budget:3edges --iterations 2000
        structural --edits add|rewire|any --iterations 2000
        structural --edits delete|add|any --goal budget:0.1 --iterations 2000
        structural --measure degree|edge-count|degree-distribution|dk|vrq|hybrid --iterations 2000
        structural --measure count|vrq --distance 2 --goal partial:0.9 --iterations 2000
        structural --heuristic es|degree|affected|unique|ua|ua-only --goal partial:0.9
        structural --heuristic ua --recompute-gap-edges 1 --edits add|rewire|any --goal budget:0.1
        structural --heuristic search|strip|cut|mirror --iterations 2000
        structural --heuristic target --edits any --iterations 5000
        structural --preserve-triangles --k 4 --effort 0.01
        structural --phi 10 --goal full|budget:0.1 --edits delete|any --iterations 2000
        asymmetric-response {NOISY}
        asymmetric-response --epsilon 2 --epsilon-count 0.5 --exact-size
        randomized-response --epsilon 4 --unit edge|node
        randomized-response --epsilon 1
        degree-prior-response {NOISY}
        degree-prior-response --epsilon 3 --epsilon-count 0.4 --epsilon-degrees 1
        mixing-prior-response {NOISY}
        mixing-prior-response --epsilon 3 --epsilon-mixing 0.7
        degree-triangle-model {NOISY}
        top-m-filter --epsilon 1|4 --variant independent|published
        top-m-filter --epsilon 3 --epsilon-count 1
        dp-1k {NOISY}
        dp-1k --epsilon 2 --share-count 0.3
        hrg-mcmc --epsilon 2|8
        hrg-mcmc --epsilon 4 --epsilon-tree 1
        density-explore-reconstruct --epsilon 2|8
        density-explore-reconstruct --epsilon 6 --epsilon-counts 1 --epsilon-cuts 2
        super-nodes --k 2|5
        rename
        rename --key @key
        """,
    ),
    Runs(
        "graph",
        """
        structural --measure count|degree|edge-count
        structural --k 3 --edits any|add --effort 0.5
        structural --phi 5 --k 3
        k-degree --k 5 --prove auto|always
        k-degree --k 4 --near --edits add|any
        k-degree --k 3 --edits any --restarts 20
        """,
        most=6,
    ),
    Runs(
        "graph",
        """
        asymmetric-response --epsilon 1|4 --on-disk --format csv|parquet
        asymmetric-response --epsilon 3 --exact-size --on-disk
        randomized-response --epsilon 3 --unit edge|node --on-disk --format csv|parquet
        k-degree --k 2|6 --on-disk --format csv|parquet --prove never
        k-degree --k 3 --edits any --on-disk --prove never
        k-degree --k 3 --edits any --target greedy
        rename --format gml|graphml|tsv|text|parquet
        """,
        most=6,
    ),
    Runs(
        "features graph-as-rows",
        "smooth-k|suppress-k|mondrian --k 3 --kind graph",
    ),
    Runs(
        "network undirected",
        """
        k-degree --k 2|4 @roles --prove never
        k-degree --k 3 --edits add --target greedy @roles
        structural --measure count|degree|edge-count @roles --iterations 2000
        structural --measure vrq --goal partial:0.8 @roles
        structural --goal budget:0.1 --edits delete|add|any @roles --iterations 2000
        structural --heuristic es|degree|affected|unique|ua|ua-only --goal partial:0.8 @roles
        rename
        rename --key @key
        """,
    ),
    Runs(
        "network undirected attributes",
        """
        k-degree --k 3 --known sex,zip --drop town --merge smooth|mondrian|none --prove never
        k-degree --k 3 --known sex --attach town --drop zip --suppress 0.1 --prove never
        structural --heuristic search|mirror|strip|cut --known sex --drop zip,town --effort 0.01
        structural --known sex,zip --attach town --merge smooth|mondrian|none --iterations 2000
        """,
    ),
    Runs(
        "network directed",
        """
        profile --k 2|4 @roles --effort 0.05
        profile --k 3 --edits add|any|delete --goal full @roles --effort 0.05
        profile --k 3 --edits add|any|delete --goal partial:0.8|budget:0.1 @roles --effort 0.05
        structural --measure directed-count --directed keep @roles --iterations 2000
        structural --measure directed-count --directed keep --edits add|any @roles --effort 0.01
        structural --measure directed-count --directed keep --goal budget:0.1 @roles --effort 0.01
        k-degree --k 3 --directed symmetrize @roles
        rename --directed keep
        """,
    ),
    Runs(
        "network kinds",
        """
        profile --k 2|4 @roles --effort 0.05
        profile --k 3 --edits add|any|delete --goal full @roles --effort 0.05
        profile --k 3 --edits any|delete --goal partial:0.8|budget:0.1 @roles --effort 0.05
        rename
        """,
    ),
    Runs(
        "network profile attributes",
        """
        profile --k 3 --known sex,zip --attach town --merge smooth|mondrian|none --effort 0.05
        profile --k 3 --known sex --drop zip,town --suppress 0.1 --effort 0.05
        """,
    ),
    Runs("network directed", "profile --k 3 --edits add|any|delete @roles", most=4),
    Runs(
        "rows",
        f"""
        smooth-k --k 2|5 {SOLO}
        smooth-k --k 3 --theta 2/3|1 {SOLO}
        smooth-k --k 4 --ties keep|drop --theta 1/2 --seed-order degree|cost {SOLO}
        smooth-k --k 3 --threshold-noise 1.0 {SOLO}
        smooth-k --k 3 --no-refine {SOLO}
        smooth-k --k 3 --passes 2 --candidates 2 --list-cap 3 {SOLO}
        smooth-k --k 3 --anneal 0.3 {SOLO}
        smooth-k --k 3 --algorithm facility --assign nearest|arrival {SOLO}
        smooth-k --k 3 --algorithm facility --refine|--no-refine --cut {SOLO}
        smooth-k --k 3 --algorithm facility --beta 3 --cost-factor 0.5 --runs 2 --no-cut {SOLO}
        smooth-k --k 3 --chunk-rows 16 --order minhash|label-propagation|none --rounds 0|1 {SOLO}
        suppress-k --k 2|5 {SOLO}
        suppress-k --k 3 --seed-order degree|cost --no-refine {SOLO}
        suppress-k --k 3 --algorithm facility --assign nearest|arrival {SOLO}
        suppress-k --k 3 --algorithm facility --refine --no-cut {SOLO}
        suppress-k --k 3 --chunk-rows 12 --order minhash|label-propagation|none {SOLO}
        mondrian --k 2|6
        mondrian --k 3 --split first|balanced --column-order sorted|given
        mondrian --k 3 --release majority
        rename
        """,
    ),
    Runs(
        "rows features",
        f"""
        asymmetric-response {NOISY}
        asymmetric-response --epsilon 2 --exact-size
        randomized-response --epsilon 4 --unit edge|node
        rename --key @key
        """,
    ),
    Runs("rows table ids", "rename --key @key"),
    Runs(
        "rows features",
        f"""
        smooth-k --k 3 --chunk-rows 16 --on-disk --format csv|parquet {SOLO}
        smooth-k --k 2 --theta 2/3 --chunk-rows 20 --on-disk --order minhash|none {SOLO}
        smooth-k --k 4 --algorithm facility --on-disk --parts {SOLO} --format parquet
        suppress-k --k 3 --chunk-rows 16 --on-disk --format csv|parquet {SOLO}
        suppress-k --k 2 --chunk-rows 40 --algorithm greedy|facility --on-disk {SOLO}
        """,
        most=7,
    ),
    Runs(
        "rows table",
        f"""
        cluster-k --k 2|5 --search plain|agglomerative|local|forest {SOLO}
        cluster-k --k 2 --block-rows 16 {SOLO}
        adaptive --levels 2|4 --compatibility bipartite|symmetric {SOLO}
        adaptive --levels 3 --refine none|prune|regular-search {SOLO}
        adaptive --levels 3 --compatibility symmetric --refine prune --least-level 2 {SOLO}
        adaptive --levels 2 --block-rows 16 --schedule 3 --max-iterations 2 {SOLO}
        """,
    ),
    Runs(
        "wishes",
        f"""
        adaptive --levels want --compatibility bipartite|symmetric {SOLO}
        adaptive --levels want --least-level 2 --refine prune --weights sex=2,zip=.5 {SOLO}
        """,
    ),
    Runs("spark", f"smooth-k|suppress-k --k 3 --chunk-rows 40 {SPARK}"),
)
