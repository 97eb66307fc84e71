from __future__ import annotations

import json
import re
import shlex

from graphveil.verbs.advise import trials


def commands_of(text):
    return [line.strip() for line in text.splitlines() if line.startswith("  graphveil anonymize")]


def test_it_says_risk_and_promises_and_its_commands_can_be_pasted_whatever_the_name_of_the_file(
    graphveil_here, cwd, monkeypatch, listing
):
    monkeypatch.setitem(trials.TRIED, "k", (2, 2, 2))
    names = ["caller,called,weight"]
    names += [f"p{u},p{(u + step) % 12},1" for u in range(12) for step in (1, 2)]
    (cwd / "my friends' $HOME.csv").write_text("\n".join(names) + "\n")
    reading = ("--source-column", "caller", "--target-column", "called", "--ignore-weights")
    reading += ("--directed", "symmetrize")
    before = listing()
    done = graphveil_here("advise", "my friends' $HOME.csv", "--all", *reading)
    assert before == listing()
    assert "my friends' $HOME.csv: a network, 12 people, 24 edges" in done.out
    for words in ("number of a person's neighbors", "guarantee:", "not covered:", "costs:"):
        assert words in done.out
    assert "A guarantee covers only the background knowledge it names." in done.out
    listed = commands_of(done.out)
    named = [shlex.split(line)[2] for line in listed]
    assert {"k-degree", "structural", "asymmetric-response", "rename"} <= set(named)
    for line in listed:
        words = shlex.split(line)
        assert "my friends' $HOME.csv" == words[3]
        assert 0 == graphveil_here(*words[1:]).code
        assert (cwd / words[-1] / "release.json").is_file()


def test_json_holds_the_figures_and_the_commands(graphveil_here, cwd):
    (cwd / "people.csv").write_text("name,sex,age\n" + "ann,f,30\nbob,m,40\ncyd,f,30\n" * 4)
    done = graphveil_here(
        "advise", "people.csv", "--kind", "table", "--bins", "age=median", "--json"
    )
    advice = json.loads(done.out)
    assert {"rows": 12, "columns": 3} == advice["sizes"]
    assert [0] == [risk["unique"] for risk in advice["risks"]]
    smooth = next(c for c in advice["choices"] if c["method"] == "smooth-k")
    assert "--kind table --bins age=median" in smooth["command"]
    assert {"k": 2} == smooth["trials"][0]["parameters"]
    assert "" == "".join(line for line in done.err.splitlines() if "warning" in line)


def test_advice_begins_with_a_recommendation_and_fits_on_two_screens(graphveil_here, cwd):
    (cwd / "people.csv").write_text("name,sex,age\n" + "ann,f,30\nbob,m,40\ncyd,f,30\n" * 4)
    (cwd / "likes.csv").write_text("user,item\n" + "".join(f"u{i},i{i % 3}\n" for i in range(30)))
    table = ("people.csv", "--kind", "table", "--bins", "age=median")
    for said in (("friends.csv",), ("likes.csv", "--kind", "bipartite"), table):
        done = graphveil_here("advise", *said)
        lines = done.out.splitlines()
        assert lines[0].startswith("Against an attacker who ")
        assert len(lines) <= 60
        assert lines[-1].startswith("next: graphveil anonymize ")
        assert not [line for line in lines[:-1] if len(line) > 104]
        for word in ("vrq", "NS08", "half L1", "arenas", "named"):
            assert word not in done.out


def test_advice_under_bounds_says_what_meets_them_and_exits_with_1_where_nothing_does(
    graphveil_here,
):
    done = graphveil_here("advise", "friends.csv", "--until", "largest class risk <= 0.5")
    assert 0 == done.code
    assert "meets largest class risk <= 0.5" in " ".join(done.out.split())
    assert done.out.splitlines()[-1].startswith("next: graphveil anonymize ")
    done = graphveil_here("advise", "friends.csv", "--until", "largest class risk <= 0.01")
    assert (1, True) == (
        done.code,
        done.out.startswith("No method meets all bounds: largest class risk"),
    )
    done = graphveil_here("advise", "friends.csv", "--until", "kept > 0.9")
    assert 2 == done.code
    assert "cannot read the bound" in done.err
    assert "Write WHAT <= NUMBER" in done.err


def test_advice_under_bounds_as_json_holds_the_command(graphveil_here):
    done = graphveil_here("advise", "friends.csv", "--until", "kept >= 0.1", "--json")
    advice = json.loads(done.out)
    assert ["kept >= 0.1"] == advice["bounds"]
    assert all("graphveil anonymize" in one["command"] for one in advice["reached"])


def test_of_a_release_it_says_what_is_published_and_what_is_claimed(graphveil_here):
    made = graphveil_here("anonymize", "k-degree", "friends.csv", "--k", 2, "--out", "out")
    assert 0 == made.code, made.err
    done = graphveil_here("advise", "out")
    assert 0 == done.code, done.err
    assert done.out.startswith("This is a release. As published: ")
    assert "Its guarantee, which verify can check: Every node" in " ".join(done.out.split())
    assert "out: a network, " in done.out
    assert "next: graphveil verify out" == done.out.splitlines()[-1]
    summary = json.loads(graphveil_here("advise", "out", "--json").out)
    assert "same degree" in summary["claimed"]
    assert all(" INPUT " in choice["command"] for choice in summary["choices"])
    refused = graphveil_here("advise", "out", "--kind", "graph")
    assert 2 == refused.code
    assert "is a release and records this itself" in refused.err


def test_of_a_release_of_rows_it_speaks_of_rows_and_so_do_figures_of_attacks(graphveil_here, cwd):
    (cwd / "rows.csv").write_text("sex,town\n" + "f,Oslo\nm,Rome\nf,Rome\n" * 4)
    made = graphveil_here(
        *("anonymize", "suppress-k", "rows.csv", "--kind", "table", "--k", 3, "--out", "out")
    )
    assert 0 == made.code, made.err
    assert "0% of the rows are unique" in graphveil_here("advise", "out").out
    asked = ("attack", "out", "--original", "rows.csv", "--attacks", "linkage,singling-out")
    table = graphveil_here(*asked, "--all").out
    assert "true of one row" in table
    assert not re.search(r"\b(people|person)\b", table)
    units = {row["unit"] for row in json.loads(graphveil_here(*asked, "--json").out)["rows"]}
    assert not any("people" in unit for unit in units), units
    made = graphveil_here("report", "out", "--public", "--out", "page.html")
    assert 0 == made.code, made.err
    page = (cwd / "page.html").read_text()
    assert "Share of rows with at most this many" in page
    assert "Share of rows in the release, by what an attacker knows about each row" in page
