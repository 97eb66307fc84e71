"""What is published of people in a network: known attributes in classes of k, attached ones.

The adversary of a promise knows some attributes (`known`). People who have the same of them are of
one color; no color has fewer than k people, and the method makes people of a color look alike.
Attributes that are attached are published as they are, outside the promise.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.anonymizer import Anonymizer
from graphveil.claims.conditions import AnyCondition, AttachedColumns, OwnAttributes
from graphveil.data import Data, Graph, Layer, Network, Table
from graphveil.data.ids import Ids
from graphveil.data.naming import FEW, naming_columns
from graphveil.errors import (
    DataError,
    ParameterError,
    did_you_mean,
    mapping,
    option,
)
from graphveil.methods.colors import Colors
from graphveil.owner_warnings import attached_to_network
from graphveil.parameters import parameter
from graphveil.parameters.columns import Columns


def known_parameter() -> Any:
    """Return the parameter of attributes that an adversary knows."""
    return parameter(
        default=None,
        text="attributes that an attacker may know, with commas between: part of the promise",
        unset="none",
    )


def attach_parameter() -> Any:
    """Return the parameter of attributes that are published beside the promise."""
    return parameter(
        default=None,
        text="attributes that are published as they are, outside the promise",
        unset="none",
    )


def merge_parameter() -> Any:
    """Return the parameter that says what becomes of rare attributes."""
    return parameter(
        default="suppress",
        text="people whose known attributes fewer than k have: suppress all of theirs; put them in "
        "groups (mondrian, smooth) that show what they share; or refuse (none)",
    )


def suppress_parameter() -> Any:
    """Return the parameter of people who are suppressed besides."""
    return parameter(
        default=0.0,
        text="most people, as a share, whose attributes are suppressed where that saves edits",
        minimum=0.0,
        maximum=0.5,
    )


class Roles(NamedTuple):
    """Which attributes an adversary is said to know, and which are published beside the promise.

    Attributes
    ----------
    known, attach
        Their names.
    """

    known: tuple[str, ...]
    attach: tuple[str, ...]

    @classmethod
    def of(cls, known: Columns | None, attach: Columns | None) -> Roles:
        """Return the roles that two parameters say.

        Raises
        ------
        ParameterError
            Where a column has both.

        Examples
        --------
        >>> Roles.of(Columns.parse("sex"), None)
        Roles(known=('sex',), attach=())
        """
        both = [name for name in known or () if name in (attach or ())]
        if both:
            raise ParameterError(
                f"the column {both[0]!r} is known and attached. Say one of both: what is known is "
                "published, too."
            )
        return cls(tuple(known or ()), tuple(attach or ()))

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What is stated of published attributes."""
        own = (OwnAttributes(),) if self.known else ()
        return (*own, AttachedColumns(attach=self.attach)) if self.attach else own

    def check_needed(self, suppress: float) -> None:
        """Refuse a share of people to suppress where nothing of them is known.

        Raises
        ------
        ParameterError
            Where there is one.
        """
        if suppress and not self.known:
            raise ParameterError(
                f"suppress={suppress} suppresses known attributes, and none are. Name them with "
                f"{option('known', 'COLUMN')}, or leave it out."
            )

    def check(self, network: Network, k: int) -> None:
        """Refuse attributes without a role, and known or attached ones that name people.

        Raises
        ------
        DataError
            Where there is such an attribute, or no such column; the message lists what there is.
        """
        for name in (*self.known, *self.attach):
            if name not in network.attributes:
                raise DataError(
                    f"no attribute {name!r}. {did_you_mean(name, network.attributes)}There are "
                    f"{', '.join(network.attributes) or 'none'}."
                )
        roles = (*self.known, *self.attach)
        without = [name for name in network.attributes if name not in roles]
        if without:
            raise DataError(_without_role(network, without))
        people = network.people
        if people is None:
            return
        naming = naming_columns(people)
        for column, name in enumerate(people.columns):
            used = int(np.count_nonzero(np.bincount(people.codes[:, column] + 1)))
            most = max(network.n_nodes // max(k, 1), FEW)
            if name in naming or (name in self.known and used > most):
                role = "attached" if name in self.attach else "known"
                raise DataError(
                    f"{name} has {used} values for {network.n_nodes} people, so it is nearly a "
                    f"name, and cannot be {role}. Say {option('drop', name)}, or group its values "
                    f"first (numbers: {mapping('bins', name, 'quantiles:4')})."
                )

    def published(self, people: Table | None, known: Table | None) -> Table | None:
        """Return the rows as published: these known attributes, and the attached ones as they are.

        Columns stand in the order of their names.
        """
        columns: dict[str, tuple[NDArray[np.int32], Ids]] = {}
        for table, names in ((known, self.known), (people, self.attach)):
            for name in names:
                if table is not None:
                    at = table.columns.index(name)
                    columns[name] = table.codes[:, at], table.categories[at]
        if not columns:
            return None
        ordered = sorted(columns)
        codes = np.column_stack([columns[name][0] for name in ordered])
        return Table(codes, tuple(ordered), tuple(columns[name][1] for name in ordered))


def _without_role(network: Network, names: list[str]) -> str:
    """Return what is said of attributes of which nobody said what they are."""
    described = []
    for name in names:
        values, sizes = np.unique(network.codes_of(name), return_counts=True)
        alone = int(np.count_nonzero(sizes == 1))
        who = "nobody is" if not alone else f"{alone} {'person is' if alone == 1 else 'people are'}"
        described.append(f"{name} ({values.size} values; {who} alone with one)")
    first = names[0]
    return (
        f"nobody said what {', '.join(described)} are to be. Say {option('known', first)} if an "
        f"attacker may know it: it is part of the promise; {option('attach', first)} to publish it "
        f"outside the promise; or {option('drop', first)}."
    )


def as_network(data: Data) -> Network:
    """Return a graph as the network that it is, and a network as it is."""
    return data if isinstance(data, Network) else Network((Layer.of(as_graph(data)),))


def as_graph(data: Data) -> Graph:
    """Return the graph of a network of one kind of ties without directions, and a graph as it is.

    Raises
    ------
    DataError
        Where a network has directions or several kinds of ties.
    """
    if isinstance(data, Network):
        return data.graph()
    if not isinstance(data, Graph):
        raise TypeError(f"a {type(data).__name__} is no network")
    return data


def attached_advice(network: Network, roles: Roles) -> tuple[str, ...]:
    """Return what the owner should know of attached attributes: whom they leave alone.

    Parameters
    ----------
    network
        What is published.
    roles
        Which attributes are attached.
    """
    if not roles.attach or network.people is None:
        return ()
    rows = np.column_stack([network.people.codes, network.degrees()])
    _, sizes = np.unique(rows, axis=0, return_counts=True)
    return attached_to_network(roles.attach, int(np.count_nonzero(sizes == 1)), network.n_nodes)


OF_ATTRIBUTES = ("known", "attach", "merge", "suppress")
"""The parameters that say something of attributes alone."""


class AttributedMethod(Anonymizer[Graph]):
    """A method for graphs that also takes attributes: of a network of one kind of ties.

    A class that derives from it has the fields `k`, `known`, `attach` and `merge`, made by the
    functions of this module.
    """

    k: int
    known: Columns | None
    attach: Columns | None

    @property
    def _roles(self) -> Roles:
        return Roles.of(self.known, self.attach)

    def published_parameters(self) -> dict[str, Any]:
        """Return the parameters that the manifest states; of attributes, where there are roles."""
        published = super().published_parameters()
        if self.known is not None or self.attach is not None:
            return published
        unused = {item.name: item.default for item in fields(self) if item.name in OF_ATTRIBUTES}
        return {n: v for n, v in published.items() if n not in unused or v != unused[n]}

    def check(self, data: Data) -> None:
        """Refuse data that cannot be anonymized so, and attributes of which nobody said anything.

        Raises
        ------
        DataError
            Where an attribute has no role, or one that it cannot have, or ties are directed or of
            several kinds.
        """
        super().check(data)
        network = as_network(data)
        self._roles.check(network, self.k)
        self._check_ties(network)

    def _check_ties(self, network: Network) -> None:
        """Refuse ties with directions, or of several kinds."""
        network.only_layer()

    def prepared(self, data: Any) -> Any:
        """Return data that was handed in as what is anonymized; a network without more is a graph.

        Raises
        ------
        UsageError
            Where it is of another kind, or can be read in more than one way.
        DataError, InfeasibleError
            As `check`.
        """
        prepared: Graph | Network = super().prepared(data)
        return as_graph(prepared) if as_network(prepared).is_bare else prepared

    def _beside(self, network: Network, ties: Graph, colors: Colors) -> Network:
        """Return edited ties with what is published of people, in place of those of a network."""
        people = self._roles.published(network.people, colors.table)
        layer = Layer.of(ties, name=network.only_layer().name)
        return Network((layer,), people, network.ids)
