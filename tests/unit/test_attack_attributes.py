"""candidate-set where attributes are known, too: against a slow count, and on a renamed network."""

import numpy as np
import pytest

import graphveil as gv

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def network(n=80):
    rng = np.random.default_rng(6)
    u, v = np.triu_indices(n, 1)
    chosen = rng.random(u.size) < 0.08
    said = {
        "sex": [["f", "m", "*"][code] for code in rng.integers(0, 3, n)],
        "year": (2000 + rng.integers(0, 3, n)).tolist(),
    }
    graph = gv.Graph.from_edges(u[chosen], v[chosen], n=n)
    return gv.Network({"ties": graph}, gv.Table.from_columns(said), [f"p{i}" for i in range(n)])


def right_guess(release, original, part="degree with attributes, right guess"):
    rows = gv.attack_release(release, original, attacks=["candidate-set"], seed=1)
    return next(row.value for row in rows if row.part == part)


def slow(release, original):
    """Count by hand who has the nearest number of ties among those whose attributes fit."""
    linkage = release.private.linkage
    own = dict(zip(linkage.original.tolist(), linkage.released.tolist(), strict=True))
    before, after = (data.people_to_arrow().to_pylist() for data in (original, release.data))
    degrees = [data.graph().degrees().tolist() for data in (original, release.data)]
    rights = []
    for place, person in enumerate(before):
        fitting = {
            node: abs(degrees[1][node] - degrees[0][place])
            for node, shown in enumerate(after)
            if all(
                shown[name] is None or person[name] in (None, shown[name])
                for name in shown
                if name != "node"
            )
        }
        nearest = [node for node, far in fitting.items() if far == min(fitting.values())]
        rights.append((own[person["node"]] in nearest) / len(nearest))
    return np.mean(rights)


@pytest.mark.parametrize(
    "method",
    [
        gv.Rename(),
        gv.KDegree(k=4, known="sex,year"),
        gv.KDegree(k=4, known="year", attach="sex", suppress=0.1),
    ],
)
def test_the_share_of_right_guesses_is_that_of_a_slow_count(method):
    original = network()
    release = method.anonymize(original, seed=2)
    assert right_guess(release, original) == pytest.approx(slow(release, original))
    without = right_guess(release, original, "degree, right guess")
    if isinstance(method, gv.Rename):
        assert right_guess(release, original) > without


def test_it_is_measured_of_networks_with_attributes_alone():
    bare = gv.Network({"ties": network().graph()})
    rows = gv.attack_release(gv.Rename().anonymize(bare), bare, attacks=["candidate-set"])
    assert not [row for row in rows if "attributes" in row.part]
