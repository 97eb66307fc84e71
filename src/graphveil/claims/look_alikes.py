"""Nodes that look like others: the promise about networks."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from graphveil.claims.guarantee import Guarantee, check_class_size
from graphveil.errors import ParameterError

TieMeasure = Literal["degree", "count", "edge-count", "degree-distribution", "dk", "vrq", "hybrid"]
"""What can be known of ties without directions."""

OneKindMeasure = Literal[TieMeasure, "directed-count"]
"""What can be known of ties of one kind; ``directed-count`` where they have directions."""

MeasureName = Literal[OneKindMeasure, "profile"]
"""What can be known of ties; ``profile`` of several kinds, and where they have directions."""

OF_DIRECTED_TIES: tuple[MeasureName, ...] = ("profile", "directed-count")
"""What is said of directed ties; ``profile`` of others where there are several kinds."""

_ALIKE: dict[str, str] = {
    "degree": "the same degree",
    "count": "the same numbers of nodes and of edges within distance {distance}",
    "edge-count": "the same number of edges within distance {distance}",
    "degree-distribution": "the same list of degrees inside the subgraph of distance {distance}",
    "dk": "a subgraph of distance {distance} of the same shape",
    "vrq": "the same list of degrees of the nodes within distance {distance}",
    "hybrid": "a subgraph of distance {distance} of the same shape, and the same list of degrees "
    "of the nodes in it,",
    "profile": "the same numbers of ties out and ties in",
    "directed-count": "the same numbers of ties out, of ties in, of neighbors in either direction, "
    "and of ties among these and the node itself,",
}
"""What look-alikes share, by measure."""

_KNOWLEDGE: dict[str, str] = {
    "degree": "how many neighbors a person has",
    "count": "how many people are within distance {distance} of a person, and how many ties they "
    "have among them,",
    "edge-count": "how many ties there are among the people within distance {distance} of a person",
    "degree-distribution": "the list of how many ties each of the people within distance "
    "{distance} of a person has among them, but not whose is which,",
    "dk": "who is tied to whom within distance {distance} of a person",
    "vrq": "the list of how many neighbors each of the people within distance {distance} of a "
    "person has, but not whose is which,",
    "hybrid": "who is tied to whom within distance {distance} of a person, and the list of how "
    "many neighbors each of them has, but not whose is which,",
    "profile": "how many ties lead away from a person, and how many to that person,",
    "directed-count": "how many ties lead away from a person and how many to that person, how many "
    "people these lead to or come from, and how many ties there are among all of them, that person "
    "included,",
}
"""What the adversary knows of a person, by measure."""


_ALIKE_IN_LAYERS = (
    "the same numbers of ties of each kind ({layers}), out and in where they have directions,"
)
_KNOWLEDGE_OF_LAYERS = (
    "how many ties of each kind ({layers}) a person has, out and in where they have directions,"
)
"""The same of profiles over several layers."""


_SIMILAR = (
    "at least {number} {others} whose degree and number of triangles are each within {phi:g} % of "
)
"""What is promised against knowledge that is off by some percent."""

_KNOWLEDGE_OF_BOXES = (
    "Someone who keeps as candidates all nodes whose degree and number of triangles are each at "
    "most {phi:g} % away from those of {person} in the released network, and uses nothing else of "
    "it, is left with at least {k} nodes that may be that person. Who knows these numbers more "
    "closely, or hears numbers that are off and looks around these, can be left with fewer. What "
    "is known of the original network is another thing, since edges were changed: of it nothing "
    "is promised."
)


class StructuralKAnonymity(Guarantee, frozen=True, kw_only=True, tag="structural-k-anonymity"):
    """Each node of the stated share looks like at least k-1 others under the measure.

    Parameters
    ----------
    k
        The smallest class, at least 1.
    measure
        What an adversary knows of a node.
    distance
        How far around the node that knowledge reaches, in hops; 1 for the degree, and where ties
        have directions.
    share
        The share of nodes for which it holds, in (0, 1]: at most
        ``floor((1 - share) * n + 1e-9)`` nodes stand in a class smaller than k.
    known
        The attributes that the adversary knows besides: nodes are alike that have the same of them.
    layers
        The kinds of ties over which the profile is counted, where there are several; empty for the
        only one.
    phi
        Percent, from 0 to below 100: above 0, nodes need not be equal. A node is then protected if
        at least k nodes, itself included, have a degree and a number of triangles each within phi
        percent of its own: what is kept at phi is kept at every larger one, and at no smaller one.
        Of the measure count at distance 1 alone. The decimal number is meant as it is written, with
        four decimals at most.

    Examples
    --------
    >>> StructuralKAnonymity(k=5).sentence
    'Every node of the release has the same degree as at least 4 others.'
    >>> StructuralKAnonymity(k=2, measure="count", share=0.95).sentence
    'At least 95 % of the nodes of the release have the same numbers of nodes and of edges within \
distance 1 as at least 1 other.'
    >>> StructuralKAnonymity(k=5, known=("gender", "year")).sentence
    'Every node of the release has the same gender and year, and the same degree, as at least 4 \
others.'
    >>> StructuralKAnonymity(k=5, known=("sex",), share=0.9).sentence
    'At least 90 % of the nodes of the release have the same sex, and the same degree, as at least \
4 others. Every node has the same sex as at least 4 others.'
    >>> StructuralKAnonymity(k=2, measure="profile", layers=("calls", "family")).sentence
    'Every node of the release has the same numbers of ties of each kind (calls, family), out and \
in where they have directions, as at least 1 other.'
    >>> StructuralKAnonymity(k=2, measure="count", phi=10.0).sentence
    'Every node of the release has at least 1 other whose degree and number of triangles are each \
within 10 % of its own.'
    """

    k: int
    measure: MeasureName = "degree"
    distance: int = 1
    share: float = 1.0
    known: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    phi: float = 0.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_class_size(self.k)
        if len(set(self.known)) < len(self.known) or not all(self.known):
            raise ParameterError(f"known={self.known} names a column twice, or none. Name it once.")
        if len(set(self.layers)) < len(self.layers) or not all(self.layers):
            raise ParameterError(f"layers={self.layers} names a kind of ties twice, or none.")
        if self.layers and (self.measure != "profile" or len(self.layers) < 2):
            raise ParameterError(
                f"layers={self.layers} are those of a profile over several. Leave them out."
            )
        if self.distance < 1:
            raise ParameterError(f"distance={self.distance} is below 1. Give a number of hops.")
        if self.measure in {"degree", *OF_DIRECTED_TIES} and self.distance != 1:
            raise ParameterError(
                f"distance={self.distance} has no meaning for the {self.measure}. Leave it at 1."
            )
        if not 0 < self.share <= 1:
            raise ParameterError(f"share={self.share} is outside (0, 1]. Give a fraction of nodes.")
        if not 0 <= self.phi < 100 or math.copysign(1, self.phi) < 0:
            raise ParameterError(
                f"phi={self.phi} is outside [0, 100). Give a percentage below 100."
            )
        if round(self.phi, 4) != self.phi:
            raise ParameterError(f"phi={self.phi} has more than 4 decimals. Give {self.phi:.4f}.")
        if self.phi and ((self.measure, self.distance) != ("count", 1) or self.known):
            raise ParameterError(
                f"phi={self.phi} goes with the measure count at distance 1, and with no known "
                "attributes. Leave it at 0, or use these."
            )

    def covers(self, claim: Guarantee) -> bool:
        """Whether who promises this may claim that: the same of as many nodes, or of fewer.

        Examples
        --------
        >>> StructuralKAnonymity(k=5).covers(StructuralKAnonymity(k=5, share=0.9))
        True
        """
        if isinstance(claim, StructuralKAnonymity) and claim.share <= self.share:
            layers = self.layers or claim.layers  # a method does not know them before the data
            whole = msgspec.structs.replace(self, layers=layers)
            return msgspec.structs.replace(claim, share=self.share) == whole
        return super().covers(claim)

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        percent = math.floor(self.share * 1e6 + 1e-6) / 1e4
        who = "Every node" if self.share == 1 else f"At least {percent:g} % of the nodes"
        verb = "has" if self.share == 1 else "have"
        others = "other" if self.k == 2 else "others"
        if self.phi:
            similar = _SIMILAR.format(number=self.k - 1, others=others, phi=self.phi)
            own = "its own" if self.share == 1 else "their own"
            return f"{who} of the release {verb} {similar}{own}."
        alike = _ALIKE[self.measure].format(distance=self.distance)
        if self.layers:
            alike = _ALIKE_IN_LAYERS.format(layers=", ".join(self.layers))
        if self.known:
            alike = f"the same {_listed(self.known)}, and {alike.removesuffix(',')},"
        as_others = f"as at least {self.k - 1} {others}"
        said = f"{who} of the release {verb} {alike} {as_others}."
        if self.known and self.share < 1:
            said += f" Every node has the same {_listed(self.known)} {as_others}."
        return said

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        whom, original = "a person for whom the promise holds", "of it nothing is promised"
        if self.phi:
            person = "a person" if self.share == 1 else whom
            return _KNOWLEDGE_OF_BOXES.format(phi=self.phi, k=self.k, person=person)
        if self.share == 1:
            whom = "that person"
            original = (
                f"who knows the same of it finds at least {self.k} nodes that have it in the "
                "release, or none, and that the person is among them is not promised"
            )
        knows = _KNOWLEDGE[self.measure].format(distance=self.distance)
        if self.layers:
            knows = _KNOWLEDGE_OF_LAYERS.format(layers=", ".join(self.layers))
        if self.known:
            knows = f"the {_listed(self.known)} of a person and {knows}"
        return (
            f"Someone who knows {knows} in the released network, and uses nothing else of it, "
            f"is left with at least {self.k} nodes that may be {whom}. What is known of the "
            f"original network is another thing, since edges were changed: {original}."
        )


def _listed(names: tuple[str, ...]) -> str:
    """Return names with commas, and an *and* before the last."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
