"""A table in which a person may have several rows is asked about."""

from __future__ import annotations

import json

import numpy as np


def test_a_table_of_purchases_is_asked_about_and_each_way_out_is_one(graphveil_here, cwd):
    rng = np.random.default_rng(4)
    lines = [
        f"p{rng.integers(60)}@example.org,{rng.choice(['tea', 'rye'])},{rng.choice(['n', 's'])}"
        for _ in range(600)
    ]
    (cwd / "bought.csv").write_text("\n".join(["email,product,shop", *lines]) + "\n")
    start = ("anonymize", "suppress-k", "bought.csv", "--kind", "table", "--k", 5, "--out", "out")
    done = graphveil_here(*start)
    assert 2 == done.code
    assert "column email may identify people with several rows" in done.err
    for way in ("--person email", "--person row"):
        assert way in done.err
    assert not (cwd / "out").exists()
    done = graphveil_here(*start, "--person", "email")
    assert 0 == done.code, done.err
    assert "at least 5 different people" in " ".join(done.out.split())
    for role in ("--drop", "--attach"):  # neither makes rows different people
        more = () if role == "--drop" else ("--known", "product,shop")
        refused = graphveil_here(*start, "--force", role, "email", *more)
        assert (2, True) == (refused.code, "--person email" in refused.err)
    checked = graphveil_here("verify", "out", "--original", "bought.csv", "--json")
    assert (0, "holds") == (checked.code, json.loads(checked.out)["answer"])
    assert "@" not in (cwd / "out" / "data.csv").read_text()
