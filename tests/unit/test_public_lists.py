"""Lists of people and items are data unless their owner says that they are public."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

import graphveil as gv
from forged.kit import reseal
from graphveil.claims.guarantees import EdgeDP
from graphveil.cli.app import call
from graphveil.core.errors import DataError, GraphveilWarning, InputError, UsageError
from graphveil.io import read_bipartite, read_graph

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "likes.csv"
    path.write_text("user,item\nann,tea\nbob,tea\ncyd,rye\nbob,rye\nann,hivtest\n")
    return path


def listed(tmp_path: Path, name: str, ids: list[str]) -> Path:
    path = tmp_path / name
    path.write_text("\n".join(["id", *ids, ""]))
    return path


class TestPublicLists:
    def test_the_claim_names_lists_that_were_collected(self, pairs):
        release = gv.RandomizedResponse(epsilon=1.0).anonymize(read_bipartite(pairs))
        assert ("people", "items") == release.guarantee.collected
        assert release.guarantee.sentence.startswith(
            "Assuming that the lists of people and items, which here were "
            "collected from the data, are public: "
        )

    def test_a_list_of_items_from_a_file_is_public_and_has_items_that_nobody_has(
        self, pairs, tmp_path
    ):
        items = listed(tmp_path, "items.csv", ["hivtest", "rum", "rye", "tea"])
        data = read_bipartite(pairs, item_list=items)
        assert ["hivtest", "rum", "rye", "tea"] == data.feature_labels().tolist()
        release = gv.AsymmetricResponse(epsilon=1.0).anonymize(data)
        assert ("people",) == release.guarantee.collected
        assert "items_with_one_entry" not in release.private.cost
        assert "users_with_one_entry" in release.private.cost

    def test_one_entry_more_leaves_all_that_is_public_as_it_is(self, pairs, tmp_path):
        # the case: with the list given, "ann,hivtest" changes neither cells nor names
        items = listed(tmp_path, "items.csv", ["hivtest", "rum", "rye", "tea"])
        users = listed(tmp_path, "users.csv", ["ann", "bob", "cyd", "dan"])
        fewer = tmp_path / "fewer.csv"
        fewer.write_text("user,item\nann,tea\nbob,tea\ncyd,rye\nbob,rye\n")
        stated = [
            gv.RandomizedResponse(epsilon=1.0)
            .anonymize(read_bipartite(path, users=users, item_list=items))
            .conditions
            for path in (pairs, fewer)
        ]
        assert stated[0] == stated[1]

    def test_both_lists_given_leave_nothing_to_warn_of(self, pairs, tmp_path):
        items = listed(tmp_path, "items.csv", ["hivtest", "rum", "rye", "tea"])
        users = listed(tmp_path, "users.csv", ["ann", "bob", "cyd", "dan"])
        data = read_bipartite(pairs, users=users, item_list=items)
        release = gv.RandomizedResponse(epsilon=1.0).anonymize(data)
        assert () == release.guarantee.collected
        assert release.guarantee.sentence.startswith("Given the lists of people and items, which")
        assert not [text for text in release.private.warnings if "as public" in text]

    def test_an_item_that_is_not_listed_is_refused_by_name(self, pairs, tmp_path):
        items = listed(tmp_path, "items.csv", ["rye", "tea", "rum"])
        with pytest.raises(InputError, match=r"items.csv is incomplete.*hivtest"):
            read_bipartite(pairs, item_list=items)

    def test_nodes_from_a_file_are_public(self, tmp_path):
        edges = tmp_path / "friends.csv"
        edges.write_text("source,target\nann,bob\nbob,cyd\n")
        nodes = listed(tmp_path, "nodes.csv", ["ann", "bob", "cyd", "dan"])
        release = gv.RandomizedResponse(epsilon=1.0).anonymize(read_graph(edges, nodes=nodes))
        assert () == release.guarantee.collected
        plain = gv.RandomizedResponse(epsilon=1.0).anonymize(read_graph(edges))
        assert ("people",) == plain.guarantee.collected

    def test_python_says_it_of_objects(self):
        graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3]).with_public_lists("people")
        release = gv.AsymmetricResponse(epsilon=1.0).anonymize(graph)
        assert () == release.guarantee.collected
        with pytest.raises(DataError, match="a graph has no list 'items'"):
            graph.with_public_lists("items")

    def test_people_who_came_as_items_alone_are_on_no_public_list(self):
        follows = gv.Bipartite.from_pairs(["ann", "bob"], ["bob", "cyd"])
        some = follows.with_public_lists("people").with_items("people")
        every = follows.with_public_lists("items", "people").with_items("people")
        assert ((), ("people", "items")) == (some.public_lists, every.public_lists)

    def test_verify_says_the_condition_with_its_word(self, pairs, tmp_path):
        release = gv.RandomizedResponse(epsilon=1.0).anonymize(read_bipartite(pairs))
        release.write(tmp_path / "out")
        verdict = gv.verify_release(tmp_path / "out")
        assert "Assuming that the lists of people and items, " in str(verdict).splitlines()[0]

    def test_a_graph_that_names_a_list_of_items_is_found_out(self, tmp_path):
        release = gv.RandomizedResponse(epsilon=1.0).anonymize(gv.datasets.load("copenhagen-calls"))
        release.write(tmp_path / "out")
        manifest = json.loads((tmp_path / "out/release.json").read_text())
        manifest["claim"]["guarantee"]["collected"] = ["people", "items"]
        manifest["claim"]["sentence"] = EdgeDP(epsilon=1.0).sentence
        reseal(tmp_path / "out", manifest)
        failing = [check.name for check in gv.verify_release(tmp_path / "out").failures()]
        assert "unit of epsilon" in failing


class TestValues:
    def test_epsilon_is_that_of_a_value_and_an_entry_has_half(self):
        table = gv.Table.from_columns({"sex": ["f", "m"] * 10, "town": ["x", "y", "z", "x"] * 5})
        release = gv.RandomizedResponse(epsilon=1.0).anonymize(table.one_hot())
        assert "value" == release.guarantee.of
        assert 1.0 == release.guarantee.epsilon
        [flips] = release.conditions
        assert "1/2" == flips.epsilon_cells

    def test_replacing_one_value_changes_no_release_by_more_than_e_to_the_epsilon(self):
        # exact: two cells of one person change, each by the worst ratio of its two chances
        table = gv.Table.from_columns({"sex": ["f", "m"] * 10, "town": ["x", "y", "z", "x"] * 5})
        for method in (gv.RandomizedResponse(epsilon=1.0), gv.AsymmetricResponse(epsilon=1.0)):
            flips = method.anonymize(table.one_hot()).conditions[0]
            zero, one = Fraction(int(flips.T0), 2**64), Fraction(int(flips.T1), 2**64)
            cell = max(one / zero, (1 - zero) / (1 - one))
            assert 1.0 < float(cell**2) < 2.71828183

    def test_the_parts_of_counts_are_halved_with_the_cells(self, tmp_path):
        table = gv.Table.from_columns({"sex": ["f", "m"] * 10, "town": ["x", "y", "z", "x"] * 5})
        release = gv.AsymmetricResponse(epsilon=1.0, epsilon_count=0.1).anonymize(table.one_hot())
        assert str(Fraction(9, 20)) == release.conditions[0].epsilon_cells
        release.write(tmp_path / "out")
        verdict = gv.verify_release(tmp_path / "out", original=table.one_hot())
        assert [] == [f"{c.name}: {c.detail}" for c in verdict.failures()]

    def test_whoever_claims_a_value_and_spends_all_on_an_entry_is_found_out(self, tmp_path):
        table = gv.Table.from_columns({"sex": ["f", "m"] * 10, "town": ["x", "y", "z", "x"] * 5})
        features = table.one_hot().with_items("things")
        gv.RandomizedResponse(epsilon=1.0).anonymize(features).write(tmp_path / "out")
        manifest = json.loads((tmp_path / "out/release.json").read_text())
        manifest["claim"]["guarantee"]["of"] = "value"
        manifest["claim"]["sentence"] = EdgeDP(epsilon=1.0, of="value").sentence
        manifest["claim"]["threat_model"] = EdgeDP(epsilon=1.0, of="value").threat_model
        reseal(tmp_path / "out", manifest)
        failing = [check.name for check in gv.verify_release(tmp_path / "out").failures()]
        assert "thresholds" in failing

    def test_a_graph_has_no_values(self, tmp_path):
        gv.RandomizedResponse(epsilon=1.0).anonymize(gv.datasets.load("copenhagen-calls")).write(
            tmp_path / "out"
        )
        manifest = json.loads((tmp_path / "out/release.json").read_text())
        manifest["claim"]["guarantee"]["of"] = "value"
        claim = EdgeDP(epsilon=1.0, collected=("people",), of="value")
        manifest["claim"] |= {"sentence": claim.sentence, "threat_model": claim.threat_model}
        reseal(tmp_path / "out", manifest)
        failing = [check.name for check in gv.verify_release(tmp_path / "out").failures()]
        assert "unit of epsilon" in failing

    @pytest.mark.parametrize("method", ["randomized-response", "asymmetric-response"])
    def test_a_connection_that_both_list_is_two_items_and_never_one_edge(self, tmp_path, method):
        friends = gv.datasets.load("copenhagen-calls")
        listed = gv.Bipartite.from_graph(friends)
        of_edges = gv.METHODS[method](epsilon=2.0).anonymize(friends).guarantee
        assert "any one edge" in of_edges.sentence
        release = gv.METHODS[method](epsilon=2.0).anonymize(listed)
        said = release.guarantee.sentence
        assert "any one edge" not in said
        assert "Two people who are each other's items are two items: e^4." in said
        release.write(tmp_path / "out")
        assert gv.verify_release(tmp_path / "out", original=listed).ok
        manifest = json.loads((tmp_path / "out/release.json").read_text())
        manifest["claim"]["guarantee"]["of"] = "entry"
        claim = EdgeDP(epsilon=2.0, of="entry")
        manifest["claim"] |= {"sentence": claim.sentence, "threat_model": claim.threat_model}
        reseal(tmp_path / "out", manifest)
        failing = [check.name for check in gv.verify_release(tmp_path / "out").failures()]
        assert "unit of epsilon" in failing

    def test_items_named_as_values_are_asked_about_where_it_matters(self):
        data = gv.Bipartite.from_pairs(["ann", "bob"], ["sex=f", "sex=m"])
        with pytest.raises(DataError, match='items="values"'):
            gv.RandomizedResponse(epsilon=1.0).anonymize(data)
        with pytest.raises(DataError, match='items="values"'):
            gv.AsymmetricResponse(epsilon=1.0).anonymize(data)
        gv.RandomizedResponse(epsilon=1.0, unit="node").anonymize(data)
        things = gv.RandomizedResponse(epsilon=1.0).anonymize(data.with_items("things"))
        assert "entry" == things.guarantee.of
        values = gv.RandomizedResponse(epsilon=1.0).anonymize(data.with_items("values"))
        assert "value" == values.guarantee.of

    def test_whether_it_is_asked_depends_on_names_alone(self):
        # both people have both values: no person's entries decide
        pairs = (["ann", "ann", "bob", "bob"], ["sex=f", "sex=m", "sex=f", "sex=m"])
        with pytest.raises(DataError, match="two entries"):
            gv.RandomizedResponse(epsilon=1.0).anonymize(gv.Bipartite.from_pairs(*pairs))

    def test_columns_that_are_values_already_are_refused(self):
        table = gv.Table.from_columns({"sex": ["f", "m"], "town": ["x", "y"]}, one_hot=["sex"])
        with pytest.raises(DataError, match="one_hot"):
            gv.RandomizedResponse(epsilon=1.0).anonymize(table.one_hot())

    def test_values_need_names_of_columns(self):
        data = gv.Bipartite.from_pairs(["ann"], ["tea"])
        with pytest.raises(DataError, match=r"'tea' is not named column=value"):
            data.with_items("values")

    def test_the_owner_reads_that_epsilon_is_of_a_value(self):
        table = gv.Table.from_columns({"sex": ["f", "m"] * 10})
        with pytest.warns(GraphveilWarning, match="epsilon applies to one value"):
            gv.RandomizedResponse(epsilon=1.0).anonymize(table.one_hot())


class TestLedgerOfValues:
    def test_a_value_is_two_entries_and_a_person_many(self, tmp_path):
        table = gv.Table.from_columns({"sex": ["f", "m"] * 10, "town": ["x", "y", "z", "x"] * 5})
        ledger = gv.Ledger(tmp_path / "people.ledger")
        gv.RandomizedResponse(epsilon=1.0).anonymize(table.one_hot(), ledger=ledger)
        gv.RandomizedResponse(epsilon=0.5).anonymize(
            table.one_hot().with_items("things"), ledger=ledger
        )
        # 5 features: of a person 1.0 * 5 / 2 + 0.5 * 5
        assert (Fraction(1), Fraction(2), Fraction(5)) == tuple(
            ledger.total(unit) for unit in ("edge", "value", "node")
        )

    def test_verify_adds_the_total_up_again(self, tmp_path):
        table = gv.Table.from_columns({"sex": ["f", "m"] * 10, "town": ["x", "y", "z", "x"] * 5})
        ledger = gv.Ledger(tmp_path / "people.ledger")
        gv.RandomizedResponse(epsilon=0.5).anonymize(
            table.one_hot().with_items("things"), ledger=ledger
        )
        release = gv.RandomizedResponse(epsilon=1.0).anonymize(table.one_hot(), ledger=ledger)
        release.write(tmp_path / "out")
        verdict = gv.verify_release(tmp_path / "out")
        [check] = [check for check in verdict.checks if check.name == "ledger"]
        assert ("holds", "2 entries of the ledger sum to 2") == (check.outcome, check.detail)


def test_the_command_takes_a_list_of_items(pairs, tmp_path, capsys):
    listed(tmp_path, "items.csv", ["hivtest", "rum", "rye", "tea"])
    words = ["randomized-response", str(pairs), "--kind", "bipartite", "--epsilon", "1"]
    words += ["--item-list", str(tmp_path / "items.csv"), "--out", str(tmp_path / "out")]
    assert 0 == call(["anonymize", *words])
    said = capsys.readouterr()
    promise = "the list of people, which here was collected from the data, is public"
    assert promise in said.out + said.err


def test_a_run_on_disk_refuses_a_list_of_items(pairs, tmp_path):
    listed(tmp_path, "items.csv", ["hivtest", "rum", "rye", "tea"])
    words = ["smooth-k", str(pairs), "--k", "2", "--on-disk", "--out", str(tmp_path / "out")]
    with pytest.raises(UsageError, match="for methods with noise"):
        call(["anonymize", *words, "--item-list", str(tmp_path / "items.csv")])
