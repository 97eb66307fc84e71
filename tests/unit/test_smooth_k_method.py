from __future__ import annotations

import numpy as np
import pytest

from graphveil.core.errors import ParameterError
from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rule import Profiles, Rule, Theta, collapse
from graphveil.methods.smooth_k import Chunks, Facility, Greedy, LocalSearch, SmoothK, SuppressK
from graphveil.methods.smooth_k.clusters import Clustering
from graphveil.methods.smooth_k.smooth_k import noisy


def rng(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


def test_the_default_grows_clusters_and_refines_them():
    method = SmoothK(k=3)
    assert Greedy(seed_order="auto", refine=LocalSearch()) == method.algorithm
    search = LocalSearch(passes=6, candidates=4, list_cap=None, anneal=None)
    assert search == method.clustering().algorithm.refine


def test_the_published_algorithm_has_its_published_parameters_and_no_local_search():
    method = SmoothK(k=3, algorithm=Facility())
    published = Facility(
        beta=2.0, cost_factor=None, runs=10, assign="nearest", cut=False, refine=None
    )
    assert published == method.clustering().algorithm


def test_the_published_suppressing_variant_cuts_its_clusters():
    assert SuppressK(k=3, algorithm=Facility()).algorithm.cut
    assert not SuppressK(k=3, algorithm=Facility(cut=False)).algorithm.cut
    assert not SmoothK(k=3, algorithm=Facility()).algorithm.cut


def test_the_name_of_an_algorithm_stands_for_it_where_parameters_are_flat_and_nowhere_else():
    flat = SmoothK.from_parameters({"k": 3, "algorithm": "facility"})
    assert SmoothK(k=3, algorithm=Facility()) == flat
    with pytest.raises(
        ParameterError, match=r"is not a valid set of options. Give Greedy\(\) or Facility\(\)"
    ):
        SmoothK(k=3, algorithm="facility")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"beta": 3}, "beta=3.0 belongs to algorithm=facility, not to greedy"),
        ({"runs": 3}, "runs=3"),
        ({"cut": True}, "cut=True"),
        ({"algorithm": "facility", "seed_order": "degree"}, "seed_order=degree"),
        ({"algorithm": "facility", "passes": 3}, "passes=3 belongs to local search"),
        ({"refine": False, "anneal": 0.3}, "anneal=0.3 belongs to local search"),
        ({"order": "none"}, "order=none belongs to chunks"),
        ({"rounds": 2}, "rounds=2 belongs to chunks"),
        ({"chunk_rows": 5}, "chunk_rows=5 is below 2k=6"),
        ({"algorithm": "facility", "beta": 1}, "Set cost_factor"),
        ({"ties": "drop", "theta": "2/3"}, "theta is 2/3"),
        ({"theta": "1/3"}, "theta='1/3'"),
        ({"theta": "one half"}, "theta='one half' is not a fraction"),
        ({"theta": "50001/100000"}, "denominator"),
        ({"k": 1}, "k=1 is out of range"),
    ],
)
def test_parameters_that_exclude_each_other_are_refused_by_name(parameters, words):
    with pytest.raises(ParameterError) as refused:
        SmoothK.from_parameters({"k": 3, **parameters})
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("algorithm", "chunks", "words"),
    [
        (Greedy(refine=None), Chunks(rows=9, rounds=2), "rounds=2 needs the local search"),
        (Greedy(), Chunks(rows=5), "chunk_rows=5 is below 2k=6"),
    ],
)
def test_options_that_do_not_fit_each_other_are_refused(algorithm, chunks, words):
    with pytest.raises(ParameterError, match=words):
        SmoothK(k=3, algorithm=algorithm, chunks=chunks)


def test_parameters_read_back_give_the_same_method():
    for method in (
        SmoothK(k=4, theta=0.6, threshold_noise=1),
        SmoothK(k=4, chunks=Chunks(rows=100, order="none", rounds=1)),
        SmoothK(k=4, algorithm=Facility(refine=LocalSearch(anneal=0.1), cut=True)),
        SuppressK(k=4, algorithm=Greedy(seed_order="cost", refine=None)),
    ):
        assert method == type(method).from_parameters(method.parameters())


def test_theta_is_kept_exactly():
    assert "3/5" == SmoothK(k=2, theta=0.6).guarantee.theta
    assert "1" == SmoothK(k=2, theta=1).guarantee.theta
    assert 2 == int(Rule(Theta.parse("2/3")).least(np.array([3]))[0])
    assert 6 == int(Rule(Theta.parse(0.6)).least(np.array([10]))[0])


def one_pair(count, size, repeats):
    return Profiles(
        np.zeros(repeats, dtype=np.int32),
        np.arange(repeats, dtype=np.int32),
        np.full(repeats, count),
        np.array([size]),
    )


@pytest.mark.parametrize("above", [0, 1, 3])
def test_noise_keeps_a_feature_with_the_chance_that_its_law_gives(above):
    rate, repeats = 0.7, 20_000
    profiles = one_pair(4 + above, 8, repeats)
    expected = 1 - np.exp(-rate * (above + 1))
    share = noisy(profiles, Rule(), rate, rng()).mean()
    assert abs(expected - share) < 5 * np.sqrt(expected * (1 - expected) / repeats)


def test_noise_never_keeps_what_the_rule_drops():
    assert not noisy(one_pair(3, 8, 1000), Rule(), 0.1, rng()).any()


def test_local_search_starts_from_pieces_that_keep_equal_rows_together():
    lists = [["a", "b"], ["a", "c"]] * 8
    rows = collapse(Bipartite.from_lists(lists))
    apart, together = (
        next(Clustering(k=6, rule=Rule(), algorithm=facility).starts(rows, rng()))
        for search in (None, LocalSearch())
        for facility in [Facility(cost_factor=1e6, runs=1, cut=True, refine=search)]
    )
    assert [1, 1] == [len(set(rows.kinds[together == one].tolist())) for one in range(2)]
    assert [2, 2] == [len(set(rows.kinds[apart == one].tolist())) for one in range(2)]
