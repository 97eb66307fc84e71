"""What `verify` recounts of noisy numbers: whether noise is believable, and where parts begin."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from graphveil.methods.noise.ladder import rate_of
from graphveil.methods.noisy_cells.degree_estimation import expected_degrees
from graphveil.methods.random_graphs.placement import cut
from graphveil.verify.recount.noise.expected_degrees import degrees_from_noisy, wrong_parts
from graphveil.verify.recount.noise.noise_tails import is_strange, is_strange_on_ladder

FLAWS = [
    {
        "name": "a part that ends one noisy degree later",
        "means": "Groups pass that are not those which follow from noisy degrees.",
        "file": "src/graphveil/verify/recount/noise/expected_degrees.py",
        "old": "must = _ends_between(middle[:-1] + SLACK, middle[1:] - SLACK, most)",
        "new": "must = _ends_between(middle[:-1] + SLACK, middle[1:] - 1, most)",
        "verify": ["tests/unit/test_verify_noisy_numbers.py", "-k", "computed_again_are_those"],
    },
]


def test_noise_that_is_none_too_much_or_one_sided_is_strange_and_honest_noise_is_not():
    rng = np.random.default_rng(4)
    for epsilon in (0.05, 0.3, 2.0, 20.0):
        q = np.exp(-epsilon)
        for size in (1, 36, 2000):
            noise = rng.geometric(1 - q, size) - rng.geometric(1 - q, size)
            assert not is_strange(noise.tolist(), epsilon)
    assert is_strange([0] * 36, 0.3)
    assert is_strange([200], 0.12)
    assert is_strange([7] * 400, 0.3)
    assert not is_strange([0] * 36, 20.0)
    assert is_strange_on_ladder(0, 4, 40, 500, 0.2)
    assert not is_strange_on_ladder(0, 1, 1, 5, 12.0)
    assert is_strange_on_ladder(10_000, 1, 1, 5, 2.0)


def test_what_passes_for_noise_is_as_the_page_says():
    """Numbers without any noise, and noise of too large an epsilon, in few counts."""
    assert not is_strange([0], 0.001)
    for epsilon in (0.5, 1.0, 2.0):
        assert not is_strange([0] * 6, 0.12 * epsilon)
        assert is_strange([0] * 10, 0.12 * epsilon)
        for counts, common in ((1, 2000), (2, 1000)):
            rate = float(rate_of(Fraction(31, 100) * Fraction(epsilon), counts, 1))
            assert not is_strange_on_ladder(0, counts, common, 5000, rate)
    rate = float(rate_of(Fraction(31, 100), 3, 1))
    assert not is_strange_on_ladder(0, 3, 50, 5000, rate)
    assert is_strange_on_ladder(0, 3, 75, 5000, rate)
    rate = float(rate_of(Fraction(31, 100), 4, 1))
    assert is_strange_on_ladder(0, 4, 1, 5000, rate)
    rng = np.random.default_rng(0)
    for n, larger, least, most in ((150, 1.5, 8, 10), (1133, 1.2, 2, 9), (1133, 1.5, 0, 0)):
        q = np.exp(-0.275 * larger)
        noises = [rng.geometric(1 - q, n) - rng.geometric(1 - q, n) for _ in range(10)]
        passed = sum(not is_strange(noise.tolist(), 0.275) for noise in noises)
        assert least <= passed <= most


@pytest.mark.parametrize("epsilon", [0.02, 0.3, 6.0])
def test_cuts_that_are_computed_again_are_those_of_the_method_and_no_others(epsilon):
    rng = np.random.default_rng(7)
    for n in (3, 40, 150):
        noisy = (rng.pareto(1.2, n) * 5).astype(np.int64) + rng.integers(-4, 5, n)
        ours = expected_degrees(noisy, Fraction(epsilon), n)
        again = degrees_from_noisy(noisy.tolist(), epsilon, n)
        assert ours == pytest.approx(again, rel=1e-10)
        for most in (2, 4, 8):
            cuts = cut(noisy, ours, most).least.tolist()
            assert [] == wrong_parts(noisy.tolist(), again, cuts, most)
            for value in sorted({*noisy.tolist()})[1:]:
                other = sorted({*cuts} ^ {value})
                assert [value] == wrong_parts(noisy.tolist(), again, other, most)
