"""What a run claims: the one place where a guarantee is attached to a release.

A method says what it guarantees of any data. Here the claim is fitted to the run: the unit of
epsilon and the lists it covers follow from the data, a partial run may claim less, and a seeded run
claims nothing that depends on its noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import msgspec

from graphveil.claims.conditions import AnyCondition, ItemsAreUsers
from graphveil.claims.guarantees import (
    AnyGuarantee,
    EdgeDP,
    NodeDP,
    StructuralKAnonymity,
    unclaimed,
)
from graphveil.claims.ledger import Ledger, LedgerReceipt
from graphveil.claims.neighbors import check_outside
from graphveil.core.hints import Message
from graphveil.core.randomness import Randomness
from graphveil.core.stated_parameters import Restated, published_parameters, withheld_parameters
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import SEED
from graphveil.data import Data
from graphveil.data.kinds import Container, kind_of
from graphveil.data.origin import left_out_words
from graphveil.release.draft import Draft
from graphveil.release.files import Private, Provenance


class Card(Protocol):
    """What a release needs of a method's card; `graphveil.methods.card.MethodCard` has it."""

    @property
    def source(self) -> str:
        """The paper, or that it is graphveil's own."""

    @property
    def claims_nothing(self) -> bool:
        """Whether no run of the method claims anything."""


class Method(Protocol):
    """What a release needs of a method; `graphveil.methods.base.Anonymizer` has it."""

    @property
    def name(self) -> str:
        """What the command line and manifests call it."""

    @property
    def accepts(self) -> tuple[Container, ...]:
        """Every kind of data that it takes."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Where its data may be."""

    @property
    def card(self) -> Card:
        """What is true of it whatever its parameters."""

    @property
    def guarantee(self) -> AnyGuarantee:
        """What it guarantees of any data."""

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What else holds of every release, by construction."""

    @property
    def restated(self) -> Mapping[str, Restated]:
        """The parameters that a manifest does not state by their values."""

    @property
    def reads_exactly(self) -> bool:
        """Whether a table is read with its fractions as they are written."""

    def parameters(self) -> dict[str, Any]:
        """Return every parameter by name."""

    def check_drafted(self, data: Data, drafted: Data) -> None:
        """Refuse what is about to be published of this data, where it shows what it is to hide."""

    def limits(self, kind: str | None = None, claimed: AnyGuarantee | None = None) -> str:
        """Return what a release that claims this does not protect against."""

    def check(self, data: Data) -> None:
        """Refuse data that it cannot anonymize."""

    def check_size(self, n: int, *, noun: str = "rows") -> None:
        """Refuse too few rows or nodes."""

    def drafted(self, data: Any, draw: Any, randomness: Randomness) -> Draft[Any]:
        """Return the draft that `draw` makes of the data, in the kind that is released."""

    def anonymize(self, data: Any, *, seed: int | None = None) -> Any:
        """Return a release of data in memory."""


class Claimed(NamedTuple):
    """The fields that a release in memory and a publication of files share."""

    guarantee: AnyGuarantee
    conditions: tuple[AnyCondition, ...]
    provenance: Provenance
    private: Private


def promised(method: Method, data: Data) -> AnyGuarantee:
    """Return what a method guarantees of this data.

    With noise, it names the unit of epsilon and the lists; for profiles, the edge types. It reads
    names and what the owner says, nothing that the guarantee covers.
    """
    guarantee: AnyGuarantee = method.guarantee.of_rows(data.person)
    if isinstance(guarantee, StructuralKAnonymity) and guarantee.measure == "profile":
        return with_edge_types(guarantee, data)
    if not isinstance(guarantee, EdgeDP | NodeDP):
        return guarantee
    # A list of people or items that comes from the data is not covered by epsilon.
    collected = tuple(each for each in kind_of(data).lists if each not in data.public_lists)
    if isinstance(guarantee, EdgeDP):
        # What one unit of epsilon hides: an edge, an item of a person, a value of a table.
        of = {"people": "listing", "values": "value"}.get(data.items or "", "entry")
        guarantee = msgspec.structs.replace(guarantee, of=of)
    return msgspec.structs.replace(guarantee, collected=collected)


def with_edge_types(guarantee: StructuralKAnonymity, data: Data) -> StructuralKAnonymity:
    """Return a guarantee of profiles for this data: it names the edge types, if there are several.

    >>> from graphveil.data import Graph
    >>> profiles = StructuralKAnonymity(k=2, measure="profile")
    >>> with_edge_types(profiles, Graph.from_edges([0], [1])) == profiles
    True
    """
    names = tuple(layer.name for layer in getattr(data, "layers", ()))
    return msgspec.structs.replace(guarantee, layers=names if len(names) > 1 else ())


def claimed(method: Method, guarantee: AnyGuarantee | None, randomness: Randomness) -> AnyGuarantee:
    """Return what a run claims: what the method guarantees, or less.

    Parameters
    ----------
    method
        The method with its parameters.
    guarantee
        What the run guarantees; None for what the method guarantees.
    randomness
        That of the run. Anyone who knows a seed can repeat the draw, so a seeded run claims nothing
        that `verify` cannot recompute from the files.

    Raises
    ------
    TypeError
        If the run claims more than the method guarantees: an error of the method.
    """
    claim = method.guarantee if guarantee is None else guarantee
    if not method.guarantee.covers(claim):
        raise TypeError(f"{method.name} guarantees {method.guarantee}, but a run claims {claim}")
    if method.card.claims_nothing:
        return method.guarantee
    if randomness.seeded and claim.check_word != "recomputed":
        return unclaimed(claim, "repeatable")
    return claim


def provenance_of(
    method: Method, kind: str | None = None, claimed: AnyGuarantee | None = None
) -> Provenance:
    """Return where a release of this method comes from, as far as the public may know.

    Parameters
    ----------
    method
        The method with its parameters.
    kind, claimed
        The kind of the released data, and what the run claims, for the limits.
    """
    return Provenance(
        method=method.name,
        source=method.card.source,
        limits=method.limits(kind, claimed),
        parameters=published_parameters(method),
    )


def entered(
    method: Method, data: Data, ledger: Ledger | None, seed: int | None
) -> LedgerReceipt | None:
    """Enter what a run will claim in a ledger, before it draws anything; None without a ledger."""
    if ledger is None:
        return None
    check_outside(ledger.path)
    claim = claimed(method, promised(method, data), Randomness(seed=seed))
    cells = kind_of(data).cells_of_one(data)
    return ledger.spend(claim, method=method.name, person_cells=cells)


def claim(
    method: Method,
    randomness: Randomness,
    *,
    guarantee: AnyGuarantee | None = None,
    conditions: tuple[AnyCondition, ...] = (),
    people: bool = False,
    kind: str | None = None,
    left_out: tuple[str, ...] = (),
    **private: Any,
) -> Claimed:
    """Return what is stated of a run, and warn the owner.

    Parameters
    ----------
    method, randomness, guarantee
        As `claimed` takes them.
    conditions
        Those of this run, in addition to the conditions of the method.
    people
        Whether items are people of the same list.
    kind
        The kind of the released data, for the limits.
    left_out
        What the reader dropped from the input.
    **private
        Fields of `Private`: what the owner's record says of the run. Its warnings are also given to
        the owner now.
    """
    warnings = (*private.pop("warnings", ()), *((SEED,) if randomness.seeded else ()))
    for text in warnings:
        warn(text)
    warned = (str(Message(text)) for text in warnings)
    notes = private | {"seed": randomness.seed, "withheld": withheld_parameters(method)}
    # The id follows from the run: the same seed, parameters and input give the same id.
    run = [notes.get(name, ()) for name in ("input_sha256", "withheld", "nested_in")]
    purpose = f"release id of {method.name} {published_parameters(method)} {run}"
    notes["release_id"] = randomness.secret(purpose).hex()
    stated = claimed(method, guarantee, randomness)
    return Claimed(
        guarantee=stated,
        conditions=(*method.conditions, *conditions, *((ItemsAreUsers(),) if people else ())),
        provenance=provenance_of(method, kind, stated),
        private=Private(warnings=(*warned, *left_out_words(left_out)), **notes),
    )
