"""From a method and data in memory to a release: draw, claim, new ids in a new order.

Rows and edges on the disk go the same way in `graphveil.scale`: they claim by the same functions of
`graphveil.release.claiming` and are published by the same pipeline.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from graphveil.claims.facts import changes_between, cost_of, digest_of, digests_of_origins
from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.claims.ledger import Ledger
from graphveil.claims.manifest import Generalization
from graphveil.core.progress import worked
from graphveil.core.randomness import Randomness
from graphveil.core.warnings import PEOPLE_AS_ITEMS, ids_as_things
from graphveil.data import Bipartite, Data
from graphveil.data.kinds import kind_of
from graphveil.data.origin import ColumnType, ObjectOrigin, shared_ids
from graphveil.release.claiming import Method, claim, entered, promised
from graphveil.release.draft import Draft, NewIds
from graphveil.release.files import Linkage, OwnersLevels, Witness
from graphveil.release.release import Release

Draw = Callable[[Any, Randomness], Draft[Any]]
"""Makes a draft of data; position i of the draft stands for position i of the data."""


def make_release(
    method: Method,
    data: Data,
    draw: Draw,
    *,
    seed: int | None = None,
    ledger: Ledger | None = None,
    nested_in: tuple[str, ...] = (),
) -> Release[Any]:
    """Return the release of what `draw` makes of the data, under new ids in a new order.

    Parameters
    ----------
    method
        The method: it says what may be claimed and published.
    data
        Data that the method checked.
    draw
        Makes the draft; as a rule `method.draft`.
    seed
        None draws from entropy.
    ledger
        Where epsilon is entered before anything is drawn.
    nested_in
        The identities of the releases that this one is nested in.

    Returns
    -------
    Release
        With what only the owner may see.

    Raises
    ------
    UsageError
        If the ledger's limit would be passed.
    DataError
        If an attached column shows what a known one hides.
    """
    randomness = Randomness(seed=seed)
    # 1. Epsilon is entered before the draw: it is spent even if the run fails.
    spent = entered(method, data, ledger, seed)
    # 2. The method draws.
    started = worked()
    draft = method.drafted(data, draw, randomness)
    done = worked()
    # 3. Attached columns do not show what known ones hide, or the owner accepted it.
    method.check_drafted(data, draft.data)
    # 4. What is claimed, and what the owner is warned of.
    people = data.items == "people"
    guarantee = draft.guarantee or promised(method, data)
    of_items = (PEOPLE_AS_ITEMS,) if people else _ids_as_things(data)
    if people and isinstance(guarantee, EdgeDP | NodeDP):
        of_items = ()  # it covers entries, also those of the rows that list a person
    # 5. A uniformly random order, so that the release says nothing of the input's.
    new = draft.order or NewIds(randomness.permutation(data.size))
    # 6. The claim, with the owner's notes: those of the method and those of the run.
    notes = msgspec.structs.asdict(draft.notes) | {
        "input_sha256": digest_of(data),
        "origins_sha256": digests_of_origins(data),
        "cost": cost_of(changes_between(data, draft.data), draft.notes.cost),
        "seconds": {"anonymize": done - started, "new ids": worked() - done},
        "warnings": (*draft.notes.warnings, *of_items),
        "nested_in": nested_in,
    }
    stated = claim(
        method,
        randomness,
        guarantee=guarantee.of_rows(data.person),
        conditions=draft.conditions,
        people=people,
        kind=kind_of(draft.data).name,
        left_out=data.left_out,
        spent=spent,
        linkage=Linkage(data.labels(), new.of_the_input()),
        levels=None if draft.levels is None else OwnersLevels(data.labels(), draft.levels),
        witness=None if draft.witness is None else Witness(*draft.witness),
        **notes,
    )
    # 7. The data under its new ids, without names that it no longer shows.
    return Release(
        data=_published(draft.data, data, new),
        generalized=draft.generalized,
        in_order=draft.generalized is not None,
        types=_types_of(data, draft.generalized),
        **stated._asdict(),
    )


def _types_of(data: Data, generalized: Generalization | None) -> Mapping[str, ColumnType]:
    """Return the types that columns without intervals had in the frame of a table."""
    attached = [] if generalized is None else generalized.columns
    names = {column.name for column in attached if column.levels in {None, "stars"}}
    return {
        name: kind
        for origin in data.origins
        if isinstance(origin, ObjectOrigin)
        for name, kind in origin.types.items()
        if name in names
    }


def _ids_as_things(data: Data) -> tuple[str, ...]:
    """Return the warning of ids of users among the names of items, where both are text."""
    features, users = data.features, data.labels()
    if features is None or "i" in {features.dtype.kind, users.dtype.kind}:
        return ()
    return ids_as_things(shared_ids(users, features).n, features.size)


def _published(data: Data, original: Data, new: NewIds) -> Data:
    """Return the data in a new order, without the names of what it no longer shows.

    Items that are people get the new ids that they have as users.
    """
    if isinstance(data, Bipartite) and original.items == "people":
        users = original.labels()
        people = dataclasses.replace(data, users=users, features=users, items="people")
        people = people.permuted(new.order, ids=new.ids)
        return people.without_unused().with_items("things")
    return data.without_unused().permuted(new.order, ids=new.ids)
