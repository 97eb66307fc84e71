"""Every guarantee that a release can carry: values that say it in words and can be verified.

A guarantee is a frozen value with a few exact fields. Everything that people read is derived from
these: the sentence, the attacker that it answers, what that attacker knows. A manifest stores the
fields and the sentences; `verify` compares the stored sentences with those of the type and
recomputes the guarantee from the released data.

A check answers *recomputed* (from the files), *by construction* (of differential privacy, which
no single output can show) or *not claimed*.

Sources: k-anonymity (Sweeney, 2002), smooth k-anonymity (the package's reading of it is in
`methods.smooth_k`), adaptive anonymity (Choromanski, Jebara and Tang, 2013), structural measures
(Hay et al., Resisting structural re-identification in anonymized social networks, 2008), groups
of nodes (Hay et al., 2008) and differential privacy (Dwork, 2006; for graphs Hay et al., 2009).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar, Literal, Self

import msgspec

from graphveil.claims import conditions
from graphveil.claims import knowledge as words
from graphveil.claims.knowledge import REASONS, List, MeasureName, Person, Reason
from graphveil.core.errors import ParameterError
from graphveil.core.parameters import check_class_size, check_names, share_in
from graphveil.core.text import capital

CheckWord = Literal["recomputed", "by construction", "not claimed"]


class Guarantee(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """A guarantee about published data, stated exactly: it knows neither who keeps it nor how."""

    check_word: ClassVar[CheckWord] = "recomputed"

    def of_rows(self, person: Person | None) -> Self:
        """Return the same guarantee of the rows of a table, of which the owner said `person`.

        None is not a table, and changes nothing; nor does it where nothing is claimed, or of nodes.

        >>> KAnonymity(k=5).of_rows("row").sentence.partition("; ")[2]
        'nothing was added. Each row is a different person, as the owner states.'
        """
        if person is None or "person" not in self.__struct_fields__:
            return self
        return msgspec.structs.replace(self, person=person)

    @property
    def implied(self) -> tuple[conditions.AnyCondition, ...]:
        """The conditions that the sentence states itself."""
        return ()

    def covers(self, claim: Guarantee) -> bool:
        """Whether who guarantees this may claim that: the same, or less.

        >>> KAnonymity(k=5).covers(KAnonymity(k=5)), KAnonymity(k=5).covers(KAnonymity(k=6))
        (True, False)
        """
        return isinstance(claim, NotClaimed) or claim == self.of_rows(
            getattr(claim, "person", None) or None
        )

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The guarantee in one sentence."""

    @property
    def core(self) -> str:
        """The sentence without the implied conditions, which only the original shows."""
        return self.sentence

    @property
    @abstractmethod
    def threat_model(self) -> str:
        """The attacker that the guarantee answers."""

    @property
    def knowledge(self) -> str:
        """What that attacker knows, in a few words."""
        return ""

    @property
    def adversary(self) -> str:
        """Who that is: what they know, and that they use nothing else."""
        return "nobody"

    @property
    def why(self) -> str | None:
        """Why nothing is claimed; None where something is."""
        return None

    @property
    def empty(self) -> str | None:
        """Why the guarantee is true of any data and protects nobody; None where it is not."""
        return None


class NotClaimed(Guarantee, frozen=True, kw_only=True, tag="not-claimed"):
    """Nothing is guaranteed of this release.

    Parameters
    ----------
    reasons
        At least one of ``repeatable`` (the noise came from a seeded generator), ``fixed-size``,
        ``finite-chain``, ``unproved`` (the mechanism has no proof), ``trial`` (one of several,
        chosen by looking) and ``renamed`` (new ids alone); each once, in this order.

    Examples
    --------
    >>> NotClaimed(reasons=("repeatable",)).sentence
    'This release carries no guarantee.'
    """

    check_word: ClassVar[CheckWord] = "not claimed"

    reasons: tuple[Reason, ...]

    def __post_init__(self) -> None:
        """Check that there is a reason, each once and in order."""
        # Each reason once and in one order, so that a claim has one spelling.
        ordered = tuple(reason for reason in REASONS if reason in self.reasons)
        if not self.reasons or self.reasons != ordered:
            raise ParameterError(
                f"reasons={self.reasons} must be one or more of {', '.join(REASONS)}, each once "
                "and in this order."
            )

    @property
    def sentence(self) -> str:
        """What is guaranteed: nothing."""
        return "This release carries no guarantee."

    @property
    def threat_model(self) -> str:
        """The attacker that is answered: none."""
        return "None: this release claims no protection against any attacker."

    @property
    def why(self) -> str | None:
        """Why nothing is claimed."""
        return " ".join(REASONS[reason] for reason in self.reasons)

    def covers(self, claim: Guarantee) -> bool:
        """Whether who guarantees nothing may claim that: nothing, for these reasons or more.

        Parameters
        ----------
        claim
            What a run claims.

        Returns
        -------
        bool
            Whether it claims nothing, for these reasons or more.

        Examples
        --------
        >>> nothing = NotClaimed(reasons=("repeatable",))
        >>> nothing.covers(NotClaimed(reasons=("repeatable", "trial")))
        True
        >>> nothing.covers(KAnonymity(k=2))
        False
        """
        return isinstance(claim, NotClaimed) and set(self.reasons) <= set(claim.reasons)


def unclaimed(guarantee: Guarantee, reason: Reason) -> NotClaimed:
    """Return what remains of a guarantee once there is a reason to claim nothing."""
    before = guarantee.reasons if isinstance(guarantee, NotClaimed) else ()
    return NotClaimed(reasons=tuple(r for r in REASONS if r == reason or r in before))


# Rows: k-anonymity, smooth k-anonymity, adaptive anonymity.
class _OfRows(Guarantee, frozen=True, kw_only=True):
    """A guarantee that counts rows: of a table, it says whether these are people."""

    person: Person | msgspec.UnsetType = msgspec.UNSET

    @property
    def _about(self) -> str:
        if self.person is msgspec.UNSET:
            return ""
        return words.ABOUT_PEOPLE[self.person].format(k=getattr(self, "k", None))

    @property
    def _each(self) -> str:
        """What is protected: a person only where rows are people."""
        return "row" if self.person in words.ROWS_AS_ROWS else "person"


class _EqualRows(_OfRows, frozen=True, kw_only=True):
    """Every row equals at least k-1 others."""

    k: int

    def __post_init__(self) -> None:
        check_class_size(self.k)

    @property
    def empty(self) -> str | None:
        return None if self.k > 1 else f"a class may be a single row (k={self.k})"

    @property
    def core(self) -> str:
        # Whose a row is shows only in the original, as implied conditions do.
        return f"{_equal_rows(self)}.{'' if self._different else self._about}"

    @property
    def threat_model(self) -> str:
        return (
            f"{capital(self.adversary)}, is left with at least {self.k} equal rows that may be "
            f"that person's.{words.SEVERAL_ROWS if self.person == 'assumed' else ''}"
            f"{self._about if self.person in ('people', 'households') else ''}"
        )

    @property
    def _different(self) -> tuple[conditions.AnyCondition, ...]:
        """That the rows of a class are of different people or households, if the owner said so."""
        if self.person not in ("people", "households"):
            return ()
        return (conditions.DifferentPeople(k=self.k, of=self.person),)

    @property
    def knowledge(self) -> str:
        known = getattr(self, "known", ()) or ()
        return f"a person's {', '.join(known)}" if known else "any of a person's features"

    @property
    def adversary(self) -> str:
        return f"an attacker who knows {self.knowledge}, and uses nothing but the released rows"


class KAnonymity(_EqualRows, frozen=True, kw_only=True, tag="k-anonymity"):
    """Every row equals at least k-1 others, and nothing stands in it that is not in the original.

    Rows are users by features, or rows of a table. In a table a suppressed cell `*` equals only
    another `*`, and every published cell is the original's, or one that includes it.

    Parameters
    ----------
    k
        The smallest class of equal rows, at least 1.
    known
        Of a table with roles: the columns in which rows are equal, none or unset for all of them.
    person
        For a table: ``row`` or ``column`` if the owner said that rows are people; ``people`` or
        ``households`` if these may have several rows, and classes count them; ``assumed`` if the
        owner said nothing; unset for other data.

    Examples
    --------
    >>> KAnonymity(k=5).sentence
    'Every row of the release equals at least 4 others in all published features; nothing was \
added.'
    """

    known: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence."""
        if self.known is msgspec.UNSET:
            return f"{_equal_rows(self)}; nothing was added.{self._about}"
        true = "each published value there is the row's own or includes it"
        return f"{_equal_rows(self)}; {true}.{self._about}"

    @property
    def implied(self) -> tuple[conditions.AnyCondition, ...]:
        """That nothing was added; of a generalized table, that every cell is true of its row."""
        if self.known is msgspec.UNSET:
            return (conditions.NothingAdded(), *self._different)
        return (conditions.Generalized(columns=self.known), *self._different)


class SmoothKAnonymity(_EqualRows, frozen=True, kw_only=True, tag="smooth-k-anonymity"):
    """Every row equals at least k-1 others; every entry is true of a share theta of its class.

    Parameters
    ----------
    k
        The smallest class of equal rows, at least 1.
    theta
        The share, a fraction in [1/2, 1] in lowest terms such as ``1/2``, kept exact as text.
    known
        As of `KAnonymity`.
    person
        For a table: ``row`` or ``column`` if the owner said that rows are people; ``people`` or
        ``households`` if these may have several rows, and classes count them; ``assumed`` if the
        owner said nothing; unset for other data.

    Examples
    --------
    >>> SmoothKAnonymity(k=5).sentence
    'Every row of the release equals at least 4 others in all published features; each published \
entry is true of at least half of the rows in its class.'
    """

    theta: str = "1/2"
    known: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        share_in(self.theta)

    @property
    def share(self) -> Fraction:
        """Theta as a number."""
        return Fraction(self.theta)

    @property
    def implied(self) -> tuple[conditions.AnyCondition, ...]:
        """That every entry is true of a large enough share of its class."""
        return (conditions.TrueOfShare(theta=self.theta, columns=self.known), *self._different)

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence."""
        share = {"1/2": "at least half", "1": "all"}.get(self.theta, f"at least {self.theta}")
        entry = "published value there" if self.known else "published entry"
        return (
            f"{_equal_rows(self)}; each {entry} is true of {share} of the rows in its "
            f"class.{self._about}"
        )


class AdaptiveAnonymity(_OfRows, frozen=True, kw_only=True, tag="adaptive-anonymity"):
    """Everybody could own as many records as the level they asked for, and records as many people.

    A record fits a person where each of its cells is that person's or `*`. A pair counts only where
    it is part of a full assignment: one that gives every person a record that fits. The level of a
    record is that of its owner.

    Parameters
    ----------
    level
        What all asked for, at least 1; where not all asked for the same, a level that the owner
        set and no data decides, which nobody's is below.
    common
        Whether all asked for the same. Who asked for how much is published nowhere.
    known
        As of `KAnonymity`: those by which records fit.
    person
        For a table: ``row`` or ``column`` if the owner said that rows are people; ``people`` or
        ``households`` if these may have several rows, and classes count them; ``assumed`` if the
        owner said nothing; unset for other data.

    Examples
    --------
    >>> print(AdaptiveAnonymity(level=5).sentence)
    Each person could own at least as many of these records as the level they requested (5); each \
record could belong to at least as many people; each of these pairs is part of a complete \
assignment consistent with the data.
    """

    level: int
    common: bool = True
    known: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Check the level."""
        if self.level < 1:
            raise ParameterError(f"level={self.level} is below 1. Give a number of records.")

    @property
    def empty(self) -> str | None:
        """As of every guarantee; where not all asked for the same, some may ask for more."""
        alone = self.common and self.level < 2
        return f"everybody has a single record (level {self.level})" if alone else None

    @property
    def implied(self) -> tuple[conditions.AnyCondition, ...]:
        """That nothing was added: the record of a person shows nothing but that person's cells."""
        if self.known:
            return (conditions.Generalized(columns=self.known),)
        return (conditions.NothingAdded(),)

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence."""
        least = f" (at least {self.level})" if self.level > 1 else ""
        level = f" ({self.level})" if self.common else least
        whose, asked, many = "Each person", "the level they requested", "people"
        if self.person == "assumed":
            whose, asked, many = "Each original row", "its level", "rows"
        if self.known:
            whose = f"By {', '.join(self.known)} alone, {whose[0].lower()}{whose[1:]}"
        return (
            f"{whose} could own at least as many of these records as {asked}{level}; each record "
            f"could belong to at least as many {many}; each of these pairs is part of a complete "
            f"assignment consistent with the data.{self._about}"
        )

    @property
    def threat_model(self) -> str:
        """The attacker that the guarantee answers."""
        ruled_out = (
            "" if self.common else ("An attacker who knows the levels can rule out candidates. ")
        )
        return (
            f"{capital(self.adversary)}. {ruled_out}This counts candidates; it does not make them "
            f"equally likely.{words.SEVERAL_ORIGINALS if self.person == 'assumed' else ''}"
        )

    @property
    def knowledge(self) -> str:
        """What that attacker knows, in a few words."""
        levels = "" if self.common else ", but not which person requested which level"
        table = f"{', '.join(self.known)} of everyone in the" if self.known else "the whole"
        return f"{table} original table and the release{levels}"

    @property
    def adversary(self) -> str:
        """Who that is: what they hold, and that they use nothing else."""
        return f"an attacker who holds {self.knowledge}, and uses nothing else"


def _equal_rows(promise: _EqualRows) -> str:
    others = "1 other" if promise.k == 2 else f"{promise.k - 1} others"
    known = ", ".join(getattr(promise, "known", ()) or ())
    where = f"what it publishes of {known}" if known else "all published features"
    return f"Every row of the release equals at least {others} in {where}"


# Nodes: structural classes, and groups of nodes.
class StructuralKAnonymity(Guarantee, frozen=True, kw_only=True, tag="structural-k-anonymity"):
    """Each node of the stated share looks like at least k-1 others under the measure.

    Parameters
    ----------
    k
        The smallest class, at least 1.
    measure
        What an attacker knows of a node.
    distance
        How far around the node that knowledge reaches, in hops; 1 for the degree, and where edges
        have directions.
    share
        The share of nodes for which it holds, in (0, 1]: at most
        ``floor((1 - share) * n + 1e-9)`` nodes stand in a class smaller than k.
    known
        The attributes that the attacker also knows: nodes look the same if these are equal, too.
    layers
        The kinds of edges over which the profile is counted, where there are several; empty for the
        only one.
    phi
        Percent, from 0 to below 100: above 0, nodes need not be equal. A node is then protected if
        at least k nodes, itself included, have a degree and a number of triangles each within phi
        percent of its own: what is kept at phi is kept at every larger one, and at no smaller one.
        Of the measure count at distance 1 alone. The decimal number is meant as it is written, with
        four decimals at most.
    listed
        Whether the owner has a list of people for whom it holds, whatever the share is; of the
        degree alone. Unset where there is none.

    Examples
    --------
    >>> StructuralKAnonymity(k=5).sentence
    'Every node of the release has the same degree as at least 4 others.'
    >>> StructuralKAnonymity(k=2, measure="count", share=0.95).sentence
    'At least 95% of the nodes of the release have the same numbers of nodes and edges within \
distance 1 as at least 1 other.'
    >>> StructuralKAnonymity(k=5, known=("gender", "year")).sentence
    'Every node of the release has the same gender and year, and the same degree, as at least 4 \
others.'
    >>> StructuralKAnonymity(k=5, known=("sex",), share=0.9).sentence
    'At least 90% of the nodes of the release have the same sex, and the same degree, as at least \
4 others. Every node has the same sex as at least 4 others.'
    >>> StructuralKAnonymity(k=2, measure="profile", layers=("calls", "family")).sentence
    'Every node of the release has the same degree in each layer (calls, family), counted by \
direction in directed layers, as at least 1 other.'
    >>> StructuralKAnonymity(k=2, measure="count", phi=10.0).sentence
    'Every node of the release has at least 1 other whose degree and triangle count are each \
within 10% of its own.'
    """

    k: int
    measure: MeasureName = "degree"
    distance: int = 1
    share: float = 1.0
    known: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    phi: float = 0.0
    listed: Literal[True] | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_class_size(self.k)
        check_names("known", self.known, "column")
        check_names("layers", self.layers, "layer")
        # Options of one measure do not combine with another measure.
        if self.layers and (self.measure != "profile" or len(self.layers) < 2):
            raise ParameterError(
                f"layers={self.layers} requires the measure profile and at least two layers. "
                "Remove layers."
            )
        if self.distance < 1:
            raise ParameterError(f"distance={self.distance} is below 1. Give a number of hops.")
        if self.measure in {"degree", *words.OF_DIRECTED_TIES} and self.distance != 1:
            raise ParameterError(
                f"distance={self.distance} does not apply to the measure {self.measure}. Use 1."
            )
        if not 0 < self.share <= 1:
            raise ParameterError(f"share={self.share} is outside (0, 1]. Give a fraction of nodes.")
        if not 0 <= self.phi < 100 or math.copysign(1, self.phi) < 0:
            raise ParameterError(
                f"phi={self.phi} is outside [0, 100). Give a percentage below 100."
            )
        if round(self.phi, 4) != self.phi:
            raise ParameterError(
                f"phi={self.phi} has more than 4 decimal places. Give {self.phi:.4f}."
            )
        if self.phi and ((self.measure, self.distance) != ("count", 1) or self.known):
            raise ParameterError(
                f"phi={self.phi} requires the measure count at distance 1 and no known "
                "attributes. Use these, or phi=0."
            )
        if self.listed and (self.measure != "degree" or self.known):
            raise ParameterError(
                "a list of people requires the measure degree and no known attributes. Use these."
            )

    def covers(self, claim: Guarantee) -> bool:
        """Whether who guarantees this may claim that: the same of as many nodes, or of fewer.

        Parameters
        ----------
        claim
            What a run claims.

        Returns
        -------
        bool
            Whether it claims no more than this.

        Examples
        --------
        >>> StructuralKAnonymity(k=5).covers(StructuralKAnonymity(k=5, share=0.9))
        True
        """
        if isinstance(claim, StructuralKAnonymity) and claim.share <= self.share:
            # Layers are names in the data, so that a method states its guarantee without them.
            layers = self.layers or claim.layers  # a method does not know them before the data
            # The same claim for the own share is the own guarantee: all else must agree.
            whole = msgspec.structs.replace(self, layers=layers)
            return msgspec.structs.replace(claim, share=self.share) == whole
        return super().covers(claim)

    @property
    def empty(self) -> str | None:
        """As of every guarantee."""
        return None if self.k > 1 else f"a class may be a single node (k={self.k})"

    @property
    def implied(self) -> tuple[conditions.AnyCondition, ...]:
        """That it holds for the people on the owner's list, where it does not for every node."""
        return (conditions.ProtectedPeople(k=self.k),) if self.listed and self.share < 1 else ()

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence, and one more on the owner's list where there is one."""
        return " ".join((self.core, *(condition.sentence for condition in self.implied)))

    @property
    def core(self) -> str:
        """What anybody can count in the release."""
        # Rounded down to four decimals, so that the sentence never states more than the share.
        percent = math.floor(self.share * 1e6 + 1e-6) / 1e4
        who = "Every node" if self.share == 1 else f"At least {percent:g}% of the nodes"
        verb = "has" if self.share == 1 else "have"
        others = "other" if self.k == 2 else "others"
        # Similar nodes (phi) are worded as boxes; equal ones by what they share under the measure.
        if self.phi:
            similar = words.SIMILAR.format(number=self.k - 1, others=others, phi=self.phi)
            own = "its own" if self.share == 1 else "their own"
            return f"{who} of the release {verb} {similar}{own}."
        alike = words.ALIKE[self.measure].format(distance=self.distance)
        if self.layers:
            alike = words.ALIKE_IN_LAYERS.format(layers=", ".join(self.layers))
        if self.known:
            alike = f"the same {words.listed(self.known)}, and {alike.removesuffix(',')},"
        as_others = f"as at least {self.k - 1} {others}"
        claim = f"{who} of the release {verb} {alike} {as_others}."
        # Attributes alone are guaranteed for every node, whatever the share.
        if self.known and self.share < 1:
            claim += f" Every node has the same {words.listed(self.known)} {as_others}."
        return claim

    @property
    def threat_model(self) -> str:
        """The attacker that the guarantee answers."""
        whom, original = "a person for whom the guarantee holds", words.NOTHING_PROMISED
        if self.phi:
            return f"{capital(self.adversary)}, {words.LEFT_OF_BOXES.format(k=self.k)}"
        if self.share == 1:
            whom = "that person"
            original = (
                f"an attacker who knows the original value finds either at least {self.k} nodes "
                "with that value in the release, or none; there is no guarantee that the person "
                "is among them"
            )
        return (
            f"{capital(self.adversary)}, is left with at least {self.k} nodes that may be {whom}. "
            "Knowledge of the original network is different, since edges were changed: "
            f"{original}."
        )

    @property
    def knowledge(self) -> str:
        """What that attacker knows in the released network, in a few words."""
        if self.phi:
            return f"the degree and number of triangles of a person, within {self.phi:g}%"
        knows = words.KNOWLEDGE[self.measure].format(distance=self.distance)
        if self.layers:
            knows = words.KNOWLEDGE_OF_LAYERS.format(layers=", ".join(self.layers))
        return f"the {words.listed(self.known)} of a person and {knows}" if self.known else knows

    @property
    def adversary(self) -> str:
        """Who that is: what they know, and that they use nothing else."""
        nothing_else = "in the released network, and uses nothing else of it"
        if self.phi:
            person = "a person" if self.share == 1 else "a person for whom the guarantee holds"
            return f"{words.IN_BOXES.format(phi=self.phi, person=person)} {nothing_else}"
        return f"an attacker who knows {self.knowledge} {nothing_else}"


class SuperNodeAnonymity(Guarantee, frozen=True, kw_only=True, tag="super-node-anonymity"):
    """The release is drawn from the sizes of groups of at least k nodes and their numbers of edges.

    Of n nodes there are ``n // k`` groups: node i is in group ``i % (n // k)``. The published edges
    follow from the numbers of edges inside and between groups, by a rule that everybody can repeat.

    Parameters
    ----------
    k
        The smallest group, at least 1.

    Examples
    --------
    >>> print(SuperNodeAnonymity(k=5).sentence)
    The release was drawn only from the sizes of groups of at least 5 nodes and the numbers of \
edges inside and between groups; nothing in it shows which node of a group is which person.
    """

    k: int

    def __post_init__(self) -> None:
        """Check the parameter."""
        check_class_size(self.k)

    @property
    def empty(self) -> str | None:
        """As of every guarantee."""
        return None if self.k > 1 else f"a group may be a single node, because k={self.k}"

    @property
    def implied(self) -> tuple[conditions.AnyCondition, ...]:
        """That the numbers of edges are those of the original, which only the original shows."""
        return (conditions.SameGroupCounts(),)

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence."""
        return (
            f"The release was drawn only from the sizes of groups of at least {self.k} nodes and "
            "the numbers of edges inside and between groups; nothing in it shows which node of a "
            "group is which person."
        )

    @property
    def core(self) -> str:
        """What anybody can compute from the release: not how ids were assigned."""
        return (
            f"The edges of the release follow from the sizes of groups of at least {self.k} nodes "
            "and the numbers of edges inside and between groups."
        )

    @property
    def threat_model(self) -> str:
        """The attacker that the guarantee answers."""
        return (
            f"{capital(self.adversary)}, is left with at least {self.k} nodes that may be that "
            "person. The release does not make one of them more likely than another. This is "
            "about identity, not about edges: a group, or a pair of groups, with all possible "
            "edges or with none reveals every edge or its absence there. An attacker who knows "
            "all other edges learns the last one. People of a group who are identified otherwise "
            "leave fewer candidates for the others."
        )

    @property
    def knowledge(self) -> str:
        """What that attacker knows, in a few words."""
        return "the original network, or any part of its structure"

    @property
    def adversary(self) -> str:
        """Who that is: what they know, and that they use nothing else."""
        return (
            f"an attacker who knows {self.knowledge}, but not which released node is any person, "
            "and uses nothing else but the release"
        )


# Noise: differential privacy for edges, entries, values, and people.
ONE_OF = {"entry": "edge or item", "listing": "item", "value": "value"}
"""What one epsilon is of."""

ENTRIES_OF_A_VALUE = 2
"""To change one value of a column is to change two entries: one ends, another begins."""


class _DifferentialPrivacy(_OfRows, frozen=True, kw_only=True):
    """No change of one kind changes any release's probability by a factor above e^epsilon."""

    check_word: ClassVar[CheckWord] = "by construction"

    epsilon: float
    collected: tuple[List, ...] = words.LISTS

    def __post_init__(self) -> None:
        if not 0 < self.epsilon <= conditions.LARGEST_EPSILON:
            raise ParameterError(
                f"epsilon={self.epsilon} is outside (0, {conditions.LARGEST_EPSILON}]. Choose "
                "one in this range, such as 1."
            )
        if self.collected != tuple(one for one in words.LISTS if one in self.collected):
            raise ParameterError(
                f"collected={self.collected} may contain only {', '.join(words.LISTS)}, each "
                "at most once and in this order."
            )

    def covers(self, claim: Guarantee) -> bool:
        if isinstance(claim, NotClaimed):
            return True
        return isinstance(claim, type(self)) and claim.epsilon == self.epsilon

    @property
    def threat_model(self) -> str:
        return f"{capital(self.adversary)}. {words.PUBLIC}"

    @property
    def adversary(self) -> str:
        return f"an attacker who knows {self.knowledge}, and has only this one release of this data"

    @property
    def _given(self) -> str:
        """The condition: which lists are public, and which of them no owner gave as such."""
        if not self.collected:
            return "Given the lists of people and items, which the owner declares public"
        are, were = ("is", "was") if len(self.collected) == 1 else ("are", "were")
        lists = f"the list{'s' * (are == 'are')} of {' and '.join(self.collected)}"
        return f"Assuming that {lists}, which here {were} collected from the data, {are} public"

    @property
    def _at_most_by(self) -> str:
        # Epsilon is said as the decimal number that was given; the factor is rounded for reading.
        exact = repr(self.epsilon).removesuffix(".0")
        return (
            "the probability of every possible release by a factor of at most "
            f"e^{exact} (about {math.exp(self.epsilon):.3g})"
        )


class EdgeDP(_DifferentialPrivacy, frozen=True, kw_only=True, tag="edge-differential-privacy"):
    """No single edge, entry or value changes a release's probability by a factor above e^epsilon.

    Parameters
    ----------
    epsilon
        Above 0, at most 40.
    collected
        Which lists were collected from the data: ``people``, ``items``, both or none. They count
        as public all the same, so that the guarantee holds under that condition only.
    of
        Whether `epsilon` is that of one edge or item (``entry``); of one item where items are
        people, who may list each other (``listing``); or of one ``value`` of one column of one
        person, where items are values of columns: two entries.
    person
        As of `KAnonymity`.

    Examples
    --------
    >>> print(EdgeDP(epsilon=1.0, collected=("people",)).sentence)
    Assuming that the list of people, which here was collected from the data, is public: adding or \
removing any one edge, or any one item of any one person, changes the probability of every \
possible release by a factor of at most e^1 (about 2.72). A whole person is protected less: ten \
edges or items by a factor of at most e^10, a hundred by e^100.
    >>> EdgeDP(epsilon=1.0, of="value").entries
    2
    """

    of: Literal["entry", "listing", "value"] = "entry"

    @property
    def entries(self) -> int:
        """How many entries `epsilon` is about."""
        return ENTRIES_OF_A_VALUE if self.of == "value" else 1

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence."""
        # The unit of epsilon decides what is changed, and how a person's many units add up.
        change = f"adding or removing any one edge, or any one item of any one {self._each},"
        several, each_other = "edges or items", ""
        if self.of == "listing":
            change, several = f"adding or removing any one item of any one {self._each}", "items"
            two = words.times(2, self.epsilon)
            each_other = f" Two people who are each other's items are two items: e^{two}."
        if self.of == "value":
            change = (
                f"replacing any one value of any one column of any one {self._each} by any other "
                "value, or by none,"
            )
            several = "values"
        ten, hundred = (words.times(number, self.epsilon) for number in (10, 100))
        no_person = (
            f"A whole {self._each} is protected less: ten {several} by a factor of at most "
            f"e^{ten}, a hundred by e^{hundred}."
        )
        changes = f"{change} changes {self._at_most_by}.{each_other}"
        return f"{self._given}: {changes} {no_person}{self._about}"

    @property
    def knowledge(self) -> str:
        """What that attacker knows, in a few words."""
        return f"every other {ONE_OF[self.of]}"


class NodeDP(_DifferentialPrivacy, frozen=True, kw_only=True, tag="node-differential-privacy"):
    """No person's whole row of edges or entries changes any probability by more than e^epsilon.

    Parameters
    ----------
    epsilon
        Above 0, at most 40.
    collected
        Which lists were collected from the data, as in `EdgeDP`.
    person
        For a table: ``row`` or ``column`` if the owner said that rows are people; ``people`` or
        ``households`` if these may have several rows, and classes count them; ``assumed`` if the
        owner said nothing; unset for other data.

    Examples
    --------
    >>> print(NodeDP(epsilon=0.5, collected=()).sentence)
    Given the lists of people and items, which the owner declares public: replacing all edges or \
items of any one person by any others changes the probability of every possible release by a \
factor of at most e^0.5 (about 1.65).
    """

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence."""
        what = f"replacing all edges or items of any one {self._each} by any others"
        return f"{self._given}: {what} changes {self._at_most_by}.{self._about}"

    @property
    def knowledge(self) -> str:
        """What that attacker knows, in a few words."""
        return "all edges or items in which a person has no part"


# The union that msgspec decodes a guarantee into, by its tag.
AnyGuarantee = (
    StructuralKAnonymity
    | SuperNodeAnonymity
    | KAnonymity
    | SmoothKAnonymity
    | AdaptiveAnonymity
    | EdgeDP
    | NodeDP
    | NotClaimed
)
"""Every guarantee that a manifest can hold."""
