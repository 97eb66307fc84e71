from __future__ import annotations

import json

import pytest

from graphveil.measures import MEASURES, isomorphism


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_a_choice(graphveil_here, name):
    done = graphveil_here("measure", "friends.csv", "--measure", name, "--json")
    assert 0 == done.code
    summary = json.loads(done.out)
    assert (name, 1, 5) == (summary["measure"], summary["distance"], summary["nodes"])


def test_a_measure_reaches_as_far_as_asked(graphveil_here):
    near, far = (
        json.loads(
            graphveil_here("measure", "friends.csv", "--measure", "count", *more, "--json").out
        )
        for more in ([], ["--distance", 2])
    )
    assert (2, 3) == (near["twin_unique_nodes"] - near["unique_nodes"], near["unique_nodes"])
    assert (0, 5) == (far["unique_nodes"], far["smallest_class"])


def test_values_of_unprotected_people_stand_in_columns_of_their_own(graphveil_here, cwd):
    graphveil_here("measure", "friends.csv", "--measure", "count", "--at-risk", "risk.csv")
    rows = [row.replace('"', "") for row in (cwd / "risk.csv").read_text().splitlines()]
    assert ["node,nodes,edges,class_size", "ann,5,6,1", "cyd,4,5,1", "eve,2,1,1"] == rows

    graphveil_here("measure", "friends.csv", "--measure", "vrq", "--at-risk", "risk.csv", "--force")
    assert '"node","class","class_size"' == (cwd / "risk.csv").read_text().splitlines()[0]


def test_twins_are_shown_as_unique_with_twins_aside(graphveil_here):
    out = graphveil_here("measure", "friends.csv", "--all").out
    assert "unique                                3  60.00%" in out
    assert "unique, not counting twins            5  100.00%" in out


def test_phi_shows_who_is_safe_from_knowledge_that_is_off(graphveil_here):
    done = graphveil_here("measure", "friends.csv", "--measure", "count", "--phi", 50, "--all")
    assert "if that knowledge is off by up to 50%:" in done.out
    done = graphveil_here("measure", "friends.csv", "--measure", "count", "--phi", 50, "--json")
    # (degree, triangles): ann (4, 2), cyd (3, 2), bob and dan (2, 1), eve (1, 0)
    assert {
        "phi": 50.0,
        "unique_nodes": 1,
        "uniqueness": 0.2,
        "unprotected_nodes": 1,
        "share_unprotected": 0.2,
        "noisy_share_unprotected": pytest.approx(0.308),
    } == json.loads(done.out)["fuzzy"]


def test_a_cascade_shows_who_is_identified_step_by_step(graphveil_here, cwd):
    # a star of three, one of whose ends begins a path: one is unique by degree, then one by one
    (cwd / "comet.csv").write_text("source,target\na,b\na,c\na,d\nd,e\ne,f\n")
    done = graphveil_here("measure", "comet.csv", "--cascade", "degree", "--all")
    assert "identified through a neighbor; neighbors distinguished by degree" in done.out
    steps = [line.split() for line in done.out.splitlines() if "after step" in line]
    assert [["after", "step", str(i), str(i + 1)] for i in (1, 2, 3)] == [w[:4] for w in steps]

    done = graphveil_here("measure", "comet.csv", "--cascade", "count", "--json")
    assert {
        "measure": "count",
        "distance": 1,
        "identified_nodes": 4,
        "share_identified": 4 / 6,
        "nodes_per_level": [1, 1, 1, 1],
    } == json.loads(done.out)["cascade"]


def test_a_cascade_that_cannot_begin_says_so(graphveil_here, cwd):
    (cwd / "pair.csv").write_text("source,target\na,b\n")
    done = graphveil_here("measure", "pair.csv", "--cascade", "degree", "--all")
    assert "at the start                          0  0.00%" in done.out


def test_comparisons_that_were_given_up_are_said(graphveil_here, cwd, monkeypatch):
    monkeypatch.setattr(isomorphism, "MOST_STEPS", 0)
    hexagons = [
        f"hub{i},{i}-{a}\n{i}-{a},{i}-{(a + step) % 6}\n"
        for i, step in ((1, 1), (2, 5))
        for a in range(6)
    ]
    prism = "hub3,p0\nhub3,p1\nhub3,p2\nhub3,p3\nhub3,p4\nhub3,p5\np0,p2\np2,p4\np4,p1\n"
    text = "source,target\n" + "".join(hexagons) + prism + "p1,p3\np3,p5\np5,p0\n"
    (cwd / "hubs.csv").write_text(text)
    done = graphveil_here("measure", "hubs.csv", "--measure", "dk", "--json")
    assert 0 == done.code
    assert json.loads(done.out)["undecided_comparisons"] > 0
    assert "comparisons of neighborhoods were given up and counted as different" in " ".join(
        done.err.split()
    )
    assert "may be overstated" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--distance", 2], ["distance=2", "degree"]),
        (["--measure", "dk", "--distance", 0], ["distance=0"]),
        (["--measure", "vrq", "--phi", 5], ["phi=5", "count at distance 1"]),
        (["--measure", "count", "--phi", -1], ["phi=-1"]),
        (["--cascade", "degree", "--cascade-distance", 2], ["distance=2", "degree"]),
        (["--cascade", "fame"], ["fame"]),
        (["--distance", 1.5, "--measure", "count"], ["1.5"]),
    ],
)
def test_what_a_measure_cannot_use_is_refused_in_one_line(graphveil_here, arguments, words):
    done = graphveil_here("measure", "friends.csv", *arguments)
    assert (2, "") == (done.code, done.out)
    assert all(word in done.err for word in words)


@pytest.mark.parametrize("name", ["risk.csv", "friends.csv", "link.csv", "folder/../friends.csv"])
@pytest.mark.parametrize("force", [[], ["--force"]], ids=["without force", "with force"])
def test_no_file_is_overwritten_unless_told_and_the_input_never(
    graphveil_here, cwd, assert_one_line, name, force
):
    (cwd / "risk.csv").write_text("years of work")
    (cwd / "link.csv").symlink_to(cwd / "friends.csv")
    (cwd / "folder").mkdir()
    before = {path: (cwd / path).read_text() for path in ("friends.csv", "risk.csv")}
    done = graphveil_here("measure", "friends.csv", "--at-risk", name, *force)
    if name == "risk.csv" and force:
        assert 0 == done.code
        assert (cwd / name).read_text().startswith('"node"')
        return
    assert 2 == done.code
    assert_one_line(done, name, "already exists" if name == "risk.csv" else "is the input")
    assert "--force" not in done.err
    assert before == {path: (cwd / path).read_text() for path in before}


def test_who_is_at_risk_is_for_the_owner_alone(graphveil_here, cwd):
    assert 0 == graphveil_here("measure", "friends.csv", "--at-risk", "risk.csv").code
    assert 0o600 == (cwd / "risk.csv").stat().st_mode & 0o777


def test_it_says_what_somebody_finds_who_knows_more(graphveil_here, cwd):
    lines = ["source,target", "a,b", "b,c", "d,e", "e,f", "f,g"]
    (cwd / "paths.csv").write_text("\n".join(lines) + "\n")
    shown = graphveil_here("measure", "paths.csv", "--all").out
    _, _, more = shown.partition("an attacker who also knows the degrees of a person's neighbors")
    assert ["unique", "1", "14.29%"] == more.splitlines()[1].split()
    done = graphveil_here("measure", "paths.csv", "--json")
    finer = json.loads(done.out)["finer"]
    assert (0, 1) == (json.loads(done.out)["unique_nodes"], finer["unique"])
    assert "also knows" not in graphveil_here("measure", "paths.csv", "--measure", "vrq").out


def test_of_a_table_it_says_what_the_whole_row_gives_away(graphveil_here, cwd):
    (cwd / "people.csv").write_text("sex,town\nf,x\nf,y\nm,x\nm,x\n")
    done = graphveil_here("measure", "people.csv", "--kind", "table", "--columns", "sex", "--all")
    assert "an attacker who also knows the complete row of a person:" in done.out
    whole = graphveil_here("measure", "people.csv", "--kind", "table")
    assert "also knows" not in whole.out


def test_many_sizes_of_classes_end_in_one_row(graphveil_here, cwd):
    stars = [f"{hub},{hub}-{leaf}" for hub in range(2, 40) for leaf in range(hub)]
    (cwd / "stars.csv").write_text("\n".join(["source,target", *stars]))
    lines = graphveil_here("measure", "stars.csv", "--measure", "vrq", "--all").out.splitlines()
    table = [line.split() for line in lines if line and not line.strip("0123456789, to")]
    assert ["1", "38", "38"] == table[0]
    assert ["25", "to", "39", "15", "480"] == table[24]
    assert 25 == len(table)
