"""What earlier states of the program wrote of a method in manifests, where that differs from now.

A release stays as it was written, so what its manifest says is compared with these as a whole too:
which of the texts and parameters are the former ones would be a message. A text that no state wrote
could hide something, so those that were replaced are known by their digests. Who changes the texts
of a method, or gives it another parameter, adds what was before.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple


class Earlier(NamedTuple):
    """One earlier state of a method, or several of the same parameters.

    Parameters
    ----------
    lacks
        The parameters that it did not have: a run was as with their defaults of now.
    limits
        The SHA-256 of its text on limits, of several states that of each; empty where that is the
        one of now.
    """

    lacks: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()

    def said(self, text: str, now: str) -> bool:
        """Return whether it said this text on limits, given that of now.

        Examples
        --------
        >>> NOW.said("It hides ids.", "It hides ids."), NOW.said("It hides all.", "It hides ids.")
        (True, False)
        """
        if not self.limits:
            return text == now
        return sha256(text.encode()).hexdigest() in self.limits


NOW = Earlier()
"""Nothing differs."""

EARLIER: dict[str, tuple[Earlier, ...]] = {
    "k-degree": (
        Earlier(
            limits=(
                "7c118ae69d44ef520ad97adef11abc63893b9a42505b247dcbcc66db9c68a645",
                "18b98607e72a7acc558d60dd30b94429ce83efcbd4bb349ca1630b42a5504ebc",
                "70dd5b0fff07247884b1bf52e6537b67b39c01aca1ae1d79e2f9ac52d2fb5536",
            )
        ),
    ),
    "structural": (
        Earlier(
            lacks=("effort",),
            limits=("82f7ccb028257925d4328256d7e6ae27d55eb56e40f062842080f0af54cd41c2",),
        ),
    ),
    "smooth-k": (
        Earlier(
            limits=(
                "8a22e354b454c9131f7619d6bfc70921423452d1b228dd021e632498e197ac19",
                "6300a1d3db0444aca417601594df12c04de2165f65ea338a919e8a0b66049838",
                "b5b35f1ded7c7dd93987efecb58ee749a52ef36bc73274c467cafd2e76fcb5e6",
            )
        ),
    ),
    "suppress-k": (
        Earlier(
            limits=(
                "cd6fd8c286be43eb8c2bf30e97f6a0aa6f6628658f924a9a37db3ae34999df5f",
                "e2ac6d6dc0680e7a27eca5798fe5cfd94efd8c61e00b4cc2d0bdb0ec0ec298f1",
            )
        ),
    ),
    "mondrian": (
        Earlier(limits=("942897266fe1ec631d0ef651d787fa2f2252d85591ec08a3f7187f6b6332fd5b",)),
    ),
    "asymmetric-response": (
        Earlier(limits=("c7d6080b216f5245f04eb7029fb6938d99c75e2718c098af8e8941f49e28cac8",)),
    ),
    "degree-prior-response": (
        Earlier(limits=("d3ba58bbc211a888b13acc289ebef751663a382b4143ee9f65d1bddcbc1f55cf",)),
    ),
    "mixing-prior-response": (
        Earlier(limits=("d3ba58bbc211a888b13acc289ebef751663a382b4143ee9f65d1bddcbc1f55cf",)),
    ),
    "randomized-response": (
        Earlier(limits=("6201aea46f2264ee51bfe85bf7dd18e7ae486b5b311c162d2ba4bbb8fce1f61f",)),
    ),
    "top-m-filter": (
        Earlier(limits=("dde7e35c6c70399b981df2270ba62f19013e61c2b8e448c1e43649ea93bf22c9",)),
    ),
    "dp-1k": (
        Earlier(limits=("1bd3d56d20df7134b87cdaf2070e55000bb343d533cc97f394c4b91f8b306b21",)),
    ),
    "hrg-mcmc": (
        Earlier(limits=("b74f0e67d44bc142ebbcf3fc821f0dd518ff757f1b07ca65a77b8eee9af8012b",)),
    ),
    "density-explore-reconstruct": (
        Earlier(limits=("b74f0e67d44bc142ebbcf3fc821f0dd518ff757f1b07ca65a77b8eee9af8012b",)),
    ),
    "adaptive": (
        Earlier(
            limits=(
                "03270c503bef0dd73f420b72555bf0a5adf6e24b76a6db23172dad27c00c89d4",
                "1c8b141f195aba9b8f36191403b40e03ca06f677885ca7f573ea79a880baac56",
                "7bacc777f2a08170cfe74817611e4423a0468b9eebb4b5e10e8ef8c125c81f05",
                "8d2d9b42fce44fb7a9209e1cdc9309d5f5d75dee3eaa917e85cffdf820892ef4",
                "8e025a41c9f0165db978db41654bfd6912d97c32a96e22a0d30f589b3ab16b36",
                "8feb38c7b5f16854d57806d18ee0d79890c78de2761c4deb36bbd3a7f2cfecfe",
                "97b0a3f513f1dd5c4f2782c4f9b1f957c8c25629ba4a6460f5380ba8fad89c99",
            )
        ),
    ),
    "cluster-k": (
        Earlier(
            limits=(
                "102ca9e8ff638a6c57524eca2dfda41206b220bd6b088e6925bdb078c5e115ac",
                "b3310aef22dbd1c6101305a45496fce1d057b0ffe90eba175dae6947c05cfc20",
            )
        ),
    ),
    "rename": (
        Earlier(limits=("b53109b49cea7954f7959f1287f8d94cd4c4865742a2c27d3c6925d35e1840d3",)),
    ),
}
"""The earlier states of every method that has some."""
