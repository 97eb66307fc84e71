from __future__ import annotations

import secrets

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.errors import ParameterError
from graphveil.core.randomness import Randomness


def draws(randomness, purpose, count=8):
    return randomness.stream(purpose).integers(0, 2**63, size=count).tolist()


def test_the_same_seed_and_purpose_give_the_same_stream():
    assert draws(Randomness(seed=3), "edges") == draws(Randomness(seed=3), "edges")


def test_asking_for_a_stream_twice_starts_it_anew():
    randomness = Randomness()
    assert draws(randomness, "edges") == draws(randomness, "edges")


def test_purposes_and_seeds_do_not_share_a_stream():
    seen = [
        tuple(draws(Randomness(seed=seed), purpose))
        for seed in (0, 1, 2**70)
        for purpose in ("edges", "roles", "release ids")
    ]
    assert len(seen) == len(set(seen))


def test_streams_without_a_seed_differ_from_run_to_run():
    assert draws(Randomness(), "edges") != draws(Randomness(), "edges")


def test_streams_without_a_seed_come_from_the_operating_system(monkeypatch):
    monkeypatch.setattr(secrets, "randbits", lambda *_: 12345)
    assert draws(Randomness(), "edges") == draws(Randomness(), "edges")


def test_streams_without_a_seed_have_at_least_128_bits_of_entropy(monkeypatch):
    asked = []

    def counted(function, bits_each):
        def ask(size):
            asked.append(size * bits_each)
            return function(size)

        return ask

    monkeypatch.setattr(secrets, "randbits", counted(secrets.randbits, 1))
    monkeypatch.setattr(secrets, "token_bytes", counted(secrets.token_bytes, 8))
    Randomness().stream("edges")
    assert 128 <= sum(asked)


def test_no_entropy_is_lost_between_the_operating_system_and_a_stream():
    """Of 5000 streams no two start alike, by chance once in 10^12: with 16 bits hundreds would."""
    streams = [Randomness().stream("edges") for _ in range(5000)]
    assert 5000 == len({int(stream.integers(0, 2**64, dtype=np.uint64)) for stream in streams})
    words = np.array([stream.bit_generator.seed_seq.entropy for stream in streams[:200]])
    varied = [np.unique(column).size > 190 for column in words.T]
    assert 128 <= 32 * sum(varied)


def test_a_negative_seed_is_refused_with_the_way_out():
    with pytest.raises(ParameterError, match=r"seed=-1 .*>= 0"):
        Randomness(seed=-1)


def test_only_a_given_seed_counts_as_seeded():
    assert [False, True, True] == [Randomness(seed=seed).seeded for seed in (None, 0, 5)]


def test_the_entropy_is_not_shown_in_the_representation(monkeypatch):
    monkeypatch.setattr(secrets, "randbits", lambda *_: 918273645)
    assert "918273645" not in repr(Randomness())


@settings(deadline=None, max_examples=60)
@given(n=st.integers(0, 200), seed=st.one_of(st.none(), st.integers(0, 2**80)))
def test_a_permutation_holds_every_position_once(n, seed):
    assert list(range(n)) == sorted(Randomness(seed=seed).permutation(n).tolist())


def test_a_permutation_repeats_with_its_seed_and_only_then():
    assert (
        Randomness(seed=7).permutation(50).tolist() == Randomness(seed=7).permutation(50).tolist()
    )
    assert Randomness().permutation(50).tolist() != Randomness().permutation(50).tolist()


def test_equal_keys_are_drawn_again_so_that_ties_favor_nobody(monkeypatch):
    tied, clear = np.array([5, 5, 1], dtype=np.uint64), np.array([9, 3, 6], dtype=np.uint64)
    given_out = [tied.tobytes(), clear.tobytes()]
    monkeypatch.setattr(secrets, "token_bytes", lambda _: given_out.pop(0))
    assert [1, 2, 0] == Randomness().permutation(3).tolist()
    assert [] == given_out
