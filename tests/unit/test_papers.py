"""Pages on the papers: each figure of ours is that of the stored rows, each erratum is one."""

from __future__ import annotations

import re
import sys
from itertools import permutations, product
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

import graphveil as gv
from graphveil.methods.k_degree.paper import (
    construct_graph,
    dp_graph_anonymization,
    greedy_rec_algorithm,
)
from graphveil.verbs.reproduce.rows import (
    FIGURE_2,
    PEOPLE,
    chance_of_violation,
    largest_own_chance,
)

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import page_figures  # noqa: E402  a script beside the package
import paper_figures  # noqa: E402

PAGES = {path.stem: path.read_text(encoding="utf-8") for path in paper_figures.PAGES.glob("*.md")}
NUMBERED = {
    "smooth-anonymity": {
        "Table": "1 2 3",
        "Figure": "1 2 3 4 5 6 7",
        "Algorithm": "1",
        "Definition": "3.1 3.2 3.3 3.4 3.5 3.6",
        "Theorem": "4.1 4.3 4.4 5.1 5.4 5.5 B.1 B.2 B.3",
        "Corollary": "4.2",
        "Lemma": "5.2 5.3 A.1 C.1 C.2",
    },
    "adaptive-anonymity": {
        "Figure": "1 2 3",
        "Algorithm": "1 2",
        "Definition": "2.1 2.2 4.1",
        "Theorem": "1 2 4.1 4.2",
        "Corollary": "4.1 4.2 4.3",
        "Lemma": "4.1 4.2 4.3 4.4 4.5",
    },
    "top-m-filter": {
        "Table": "I",
        "Figure": "1 2 3",
        "Algorithm": "1",
        "Definition": "2.1",
        "Theorem": "2.1 2.2 3.1 3.2 3.3",
        "Equation": "1 2 3 4 5 6",
    },
    "anonymization-problem": {
        "Table": "1 2 3",
        "Figure": "1 2 3 4 5 6 7 8 9 10 11 12 13",
        "Algorithm": "1 2",
        "Definition": "1",
        "Equation": "1 2 3 4 5 6 7 8 9",
    },
    "k-degree": {"Figure": "1", "Algorithm": "1", "Equation": "2 3"},
}
"""What the papers number; each stands on the page of its paper."""

COMPARED = {
    "smooth-anonymity": 127,
    "adaptive-anonymity": 78,
    "top-m-filter": 123,
    "anonymization-problem": 142,
    "k-degree": 36,
}
"""How many figures in the tables of a page are those of stored rows."""


def mentioned(page: str, kind: str) -> set[str]:
    """Return the numbers that follow a word on a page; "5 to 9" stands for all between."""
    number = r"[A-Z]?\.?\d+(?:\.\d+)?(?:\([a-d]\))?|I\b"
    lists = re.findall(rf"{kind}s? ((?:{number})(?:(?:, | and | to )(?:{number}))*)", page)
    found = set()
    for text in lists:
        found |= {one.partition("(")[0] for one in re.findall(number, text)}
        for first, last in re.findall(r"([\d.]+) to ([\d.]+)", text):
            start, dot, low = first.rpartition(".")
            span = range(int(low), int(last.rpartition(".")[2]) + 1)
            found |= {f"{start}{dot}{value}" for value in span}
    return found


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_of_a_page_is_that_of_the_stored_rows(name):
    assert paper_figures.filled(PAGES[name]) == PAGES[name], "run tools/paper_figures.py --write"


def test_a_figure_that_differs_from_the_rows_is_found_and_written():
    right = "(441<!-- noisy: polbooks/edges -->)"
    assert right == paper_figures.filled("(442<!-- noisy: polbooks/edges -->)")
    table = "<!-- 1 size: {0} -->\n| data | ours |\n|---|---|\n"
    right, none = "| stochastic | 1,024, 1,024, 61,942 |\n", "| nowhere | not run |\n"
    for cell in ("1,024, 1,024, 61,942", "1,024, 1,024, 61,943", "1", "not run", ""):
        assert table + right + none == paper_figures.filled(
            f"{table}| stochastic | {cell} |\n{none}"
        )
    for wrong in ("| nowhere | 1 |\n", "| stochastic |\n"):
        with pytest.raises(LookupError):
            paper_figures.filled(table + wrong)


@pytest.mark.parametrize("name", PAGES)
def test_each_figure_of_a_table_that_changes_is_noticed(name):
    page, compared = PAGES[name], 0
    listed = page_figures.figures(page)
    shown = re.sub(r"<!--.*?-->|`.*?`", lambda mark: " " * len(mark[0]), page)
    for found in re.finditer(r"^\| .*", shown, flags=re.MULTILINE):
        for figure in page_figures.FIGURE.finditer(shown, *found.span()):
            changed = re.sub(r"\d", lambda digit: str(9 - int(digit[0])), figure[0])
            made = page[: figure.start()] + changed + page[figure.end() :]
            if page_figures.figures(made) == listed:
                compared += 1
                assert paper_figures.filled(made) != made, (figure[0], found[0])
    assert compared == COMPARED.get(name, 0)


@pytest.mark.parametrize("name", NUMBERED)
def test_everything_that_a_paper_numbers_is_on_its_page(name):
    for kind, numbers in NUMBERED[name].items():
        assert set() == set(numbers.split()) - mentioned(PAGES[name], kind), kind


def test_every_page_of_a_paper_is_in_the_menu():
    assert PAGES.keys() - {"index"} == {
        line for line in PAGES["index"].splitlines() if line in NUMBERED
    }


# ---- errata: smooth anonymity


def test_the_bound_of_theorem_4_1_fails_more_often_than_it_says():
    assert chance_of_violation(10**6, 10**4, 5, 0.05) == pytest.approx(0.18, abs=0.005)
    assert chance_of_violation(10**10, 10**6, 10, 0.05) > 0.46


def test_the_step_of_its_proof_is_wrong_where_the_lemma_that_it_uses_is_right():
    a, b, x = 0.1, 0.2, 0.04
    assert x < (b - a) / 2
    assert (a - x) / (b - x) < a / b + 2 * x
    assert (a + x) / (b - x) == pytest.approx(0.875)
    assert (a + x) / (b - x) > a / b + 2 * x == pytest.approx(0.58)


def test_an_epsilon_below_10_gives_a_jaccard_of_one_half_at_density_1_in_10_000():
    density, epsilon = 1e-4, log(1e4)
    flip = 1 / (1 + exp(epsilon))
    jaccard = (1 - flip) / (1 + flip * (1 - density) / density)
    assert jaccard == pytest.approx(0.5, abs=1e-3)
    assert epsilon == pytest.approx(9.21, abs=0.005)


def test_a_class_agrees_in_the_output_so_that_definition_3_5_as_printed_always_holds():
    entered, released = [set(), set()], [{"tea"}, {"tea"}]
    for data, enough in ((released, True), (entered, False)):
        holders = sum("tea" in row for row in data)
        assert enough == (2 * holders >= len(released))


def test_lemma_5_3_fails_for_two_entries_of_which_one_is_suppressed():
    before, after = {(0, "ale"), (0, "tea")}, {(0, "tea")}
    phi = len(before ^ after) / len(before)
    jaccard = len(before & after) / len(before | after)
    assert (0.5, 0.5) == (phi, jaccard)
    assert jaccard < 1 - phi / 2
    assert jaccard >= 1 - phi


# ---- errata: adaptive anonymity


def chances(allowed: list[list[bool]]) -> tuple[int, np.ndarray]:
    """Return how many full assignments there are, and which share of them has each pair."""
    n = len(allowed)
    full = [p for p in permutations(range(n)) if all(allowed[i][p[i]] for i in range(n))]
    share = np.zeros((n, n))
    for assignment in full:
        share[np.arange(n), assignment] += 1 / len(full)
    return len(full), share


def test_in_figure_2_two_people_own_their_records_with_probability_two_thirds():
    fit = [
        [all(y in ("*", x) for x, y in zip(person, record, strict=True)) for record in FIGURE_2]
        for person in PEOPLE
    ]
    assert min(np.sum(fit, axis=0).min(), np.sum(fit, axis=1).min()) == 2
    count, share = chances(fit)
    assert count == 9
    assert np.diag(share) == pytest.approx([1 / 3] * 4 + [2 / 3] * 2)
    assert largest_own_chance(PEOPLE, FIGURE_2) == pytest.approx(2 / 3)


def test_in_a_3_regular_graph_of_five_a_pair_is_likelier_than_one_in_three():
    regular = [[(j - i) % 5 in (0, 1, 2) for j in range(5)] for i in range(5)]
    count, share = chances(regular)
    assert count == 13
    assert share[0, 1] == pytest.approx(5 / 13)
    assert share[0, 1] > 1 / 3


def test_the_bound_of_theorem_4_2_says_nothing_up_to_a_level_of_90():
    thetas = np.linspace(0.0005, 0.9995, 2000)

    def says_something(delta: int) -> bool:
        in_range = thetas[delta * (1 - thetas - thetas**2) >= 1]  # of one known pair, c = 1
        return bool(np.any(34 / (in_range**2 * delta) < 1))

    assert [False, True] == [says_something(90), says_something(91)]
    assert not any(map(says_something, range(1, 91)))


def test_the_levels_of_the_formula_rise_with_friends():
    levels = [10 - (5 - int(log(friends))) for friends in (1, 3, 10, 148)]
    assert [5, 6, 7, 9] == levels


# ---- errata: the Top-m Filter


def passing(n: int, m: int, epsilon: float, theta: float) -> float:
    """Return how many cells pass a threshold on average: equation 2, and that for 0-cells."""
    cells, near = n * (n - 1) / 2, exp(-epsilon * abs(1 - theta)) / 2
    return m * (1 - near if theta < 1 else near) + (cells - m) * exp(-epsilon * theta) / 2


def test_the_printed_branches_of_algorithm_1_give_a_threshold_that_lets_too_many_pass():
    n, m, epsilon = 10, 5, 1.0
    x = log(n * (n - 1) / 2 / m - 1)
    assert epsilon < x
    printed = x / (2 * epsilon)
    corrected = log(n * (n - 1) / 4 / m + (exp(epsilon) - 1) / 2) / epsilon
    assert [1.04, 1.68] == pytest.approx([printed, corrected], abs=0.005)
    assert passing(n, m, epsilon, printed) == pytest.approx(9.5, abs=0.05)
    assert passing(n, m, epsilon, corrected) == pytest.approx(m)
    above = 3.0
    assert above > x
    assert passing(n, m, above, x / (2 * above) + 0.5) == pytest.approx(m)


def test_with_a_fixed_size_a_second_edge_shows_that_both_are_true():
    def largest(edges: int, size: int) -> set[int]:
        """Return the sizes of what algorithm 1 may publish, whichever edges pass."""
        return {max(sum(passed), size) for passed in product((0, 1), repeat=edges)}

    assert {1} == largest(1, size=1)
    assert {1, 2} == largest(2, size=1)


def test_what_the_equations_keep_at_ln_n_is_not_65_to_90_percent():
    kept = [float(share) for share in re.findall(r"(\S+)<!-- equations", PAGES["top-m-filter"])]
    assert len(kept) == 8
    assert [0.746, 0.910] == [min(kept), max(kept)]


def test_polblogs_has_1_224_nodes_in_the_stored_rows():
    assert paper_figures.noisy("polblogs", "nodes") == "1,224"


# ---- errata: the anonymization problem

PRINTED_LCC = {
    "Radoslaw emails": 1.0,
    "Primary school": 1.0,
    "Moreno innov.": 0.49,
    "Gene fusion": 0.08,
    "Copnet calls": 0.65,
    "Copnet sms": 0.80,
    "Arenas email": 1.0,
    "Euroroads": 0.03,
    "Air traffic control": 1.0,
    "Network science": 0.0,
    "DNC emails": 0.98,
    "Moreno health": 1.0,
    "US power grid": 1.0,
    "GRQC collab.": 0.79,
}
"""The share of nodes in the largest component, as table 2 of the paper prints it."""


def test_three_shares_of_the_largest_component_are_misprinted():
    found = {
        name: float(paper_figures.original(name, "largest-component: original"))
        for name in PRINTED_LCC
    }
    wrong = {name for name, printed in PRINTED_LCC.items() if abs(found[name] - printed) > 0.01}
    assert {"Gene fusion", "Euroroads", "Network science"} == wrong


def test_the_power_grid_has_the_sizes_that_the_paper_gives_to_bitcoin_alpha():
    size = [paper_figures.original("US power grid", what) for what in ("nodes", "edges")]
    assert ["4,941", "6,594"] == size
    assert paper_figures.unique("US power grid") == "0.008"


def test_a_class_of_three_is_2_anonymous_and_a_budget_counts_edges():
    triangle = gv.Graph.from_edges([0, 1, 2], [1, 2, 0], n=3)
    risk = gv.measure(triangle, measure="degree", k=2)
    assert [3] == risk.sizes.tolist()
    assert 0 == len(risk.unprotected())
    few, twice = (float(paper_figures.arcs("ua", f"budget:{share}")) for share in ("0.05", "0.1"))
    assert few < twice
    path = gv.Graph.from_edges(np.arange(20), np.arange(1, 21), n=21)
    edges, arcs = path.n_edges, path.indices.size
    assert (1, 2) == (edges // 20, arcs // 20)


# ---- the slides on k-degree anonymity


def test_what_the_slides_leave_open_is_as_the_page_says():
    cases = {((3, 2, 1), 2): (3, 3), ((3, 2, 2, 2, 1, 1), 3): (4, 7)}
    for (degrees, k), costs in cases.items():
        found = [
            int((sequence(degrees, k) - degrees).sum())
            for sequence in (dp_graph_anonymization, greedy_rec_algorithm)
        ]
        assert list(costs) == found
    odd = dp_graph_anonymization([1, 1, 1, 1, 0], 5)
    assert [1, 1, 1, 1, 1] == odd.tolist()
    assert construct_graph(odd) is None


def test_the_vector_of_the_slides_is_2_anonymous_and_not_3_anonymous():
    _, nodes = np.unique([5, 5, 3, 3, 2, 2, 2], return_counts=True)
    assert nodes.min() == 2
