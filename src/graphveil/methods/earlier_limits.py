"""What methods said before of what they do not protect against: releases of then say it still.

A sentence that came with better figures makes no release wrong that was made under the one before,
and a text that no version wrote could hide something. So sentences that were replaced are known by
their digests.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

EARLIER: Mapping[str, frozenset[str]] = {
    "k-degree": frozenset(
        (
            "70dd5b0fff07247884b1bf52e6537b67b39c01aca1ae1d79e2f9ac52d2fb5536",
            "18b98607e72a7acc558d60dd30b94429ce83efcbd4bb349ca1630b42a5504ebc",
        )
    ),
    "structural": frozenset(("82f7ccb028257925d4328256d7e6ae27d55eb56e40f062842080f0af54cd41c2",)),
    "smooth-k": frozenset(
        (
            "b5b35f1ded7c7dd93987efecb58ee749a52ef36bc73274c467cafd2e76fcb5e6",
            "6300a1d3db0444aca417601594df12c04de2165f65ea338a919e8a0b66049838",
        )
    ),
    "suppress-k": frozenset(
        (
            "cd6fd8c286be43eb8c2bf30e97f6a0aa6f6628658f924a9a37db3ae34999df5f",
            "e2ac6d6dc0680e7a27eca5798fe5cfd94efd8c61e00b4cc2d0bdb0ec0ec298f1",
        )
    ),
    "mondrian": frozenset(("942897266fe1ec631d0ef651d787fa2f2252d85591ec08a3f7187f6b6332fd5b",)),
    "asymmetric-response": frozenset(
        ("c7d6080b216f5245f04eb7029fb6938d99c75e2718c098af8e8941f49e28cac8",)
    ),
    "degree-prior-response": frozenset(
        ("d3ba58bbc211a888b13acc289ebef751663a382b4143ee9f65d1bddcbc1f55cf",)
    ),
    "mixing-prior-response": frozenset(
        ("d3ba58bbc211a888b13acc289ebef751663a382b4143ee9f65d1bddcbc1f55cf",)
    ),
    "randomized-response": frozenset(
        ("6201aea46f2264ee51bfe85bf7dd18e7ae486b5b311c162d2ba4bbb8fce1f61f",)
    ),
    "top-m-filter": frozenset(
        ("dde7e35c6c70399b981df2270ba62f19013e61c2b8e448c1e43649ea93bf22c9",)
    ),
    "dp-1k": frozenset(("1bd3d56d20df7134b87cdaf2070e55000bb343d533cc97f394c4b91f8b306b21",)),
    "hrg-mcmc": frozenset(("b74f0e67d44bc142ebbcf3fc821f0dd518ff757f1b07ca65a77b8eee9af8012b",)),
    "density-explore-reconstruct": frozenset(
        ("b74f0e67d44bc142ebbcf3fc821f0dd518ff757f1b07ca65a77b8eee9af8012b",)
    ),
    "adaptive": frozenset(
        (
            "03270c503bef0dd73f420b72555bf0a5adf6e24b76a6db23172dad27c00c89d4",
            "8feb38c7b5f16854d57806d18ee0d79890c78de2761c4deb36bbd3a7f2cfecfe",
            "97b0a3f513f1dd5c4f2782c4f9b1f957c8c25629ba4a6460f5380ba8fad89c99",
            "8e025a41c9f0165db978db41654bfd6912d97c32a96e22a0d30f589b3ab16b36",
            "7bacc777f2a08170cfe74817611e4423a0468b9eebb4b5e10e8ef8c125c81f05",
            "1c8b141f195aba9b8f36191403b40e03ca06f677885ca7f573ea79a880baac56",
        )
    ),
    "cluster-k": frozenset(
        (
            "b3310aef22dbd1c6101305a45496fce1d057b0ffe90eba175dae6947c05cfc20",
            "102ca9e8ff638a6c57524eca2dfda41206b220bd6b088e6925bdb078c5e115ac",
        )
    ),
    "rename": frozenset(("b53109b49cea7954f7959f1287f8d94cd4c4865742a2c27d3c6925d35e1840d3",)),
}
"""By method the SHA-256 of every sentence on limits that was replaced by a better one."""


def said_earlier(method: str, sentence: str) -> bool:
    """Return whether this was once what the method said of its limits.

    Examples
    --------
    >>> said_earlier("rename", "It hides everything.")
    False
    """
    return sha256(sentence.encode()).hexdigest() in EARLIER.get(method, frozenset())
