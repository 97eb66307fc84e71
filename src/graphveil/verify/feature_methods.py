"""The conditions of methods for users by features: what of a release is true in the original."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from graphveil.guarantees import Guarantee, KAnonymity, SmoothKAnonymity
from graphveil.limits import SOURCES
from graphveil.verify.equal_rows import classes_of
from graphveil.verify.method_checks import Compared, MethodCheck, Words, is_one_of
from graphveil.verify.verdict import (
    LINKAGE,
    RECORD,
    Condition,
    fails,
    holds,
    not_checked,
    shown,
)

TRUE, NOTHING_ADDED, COST = "entries true of their class", "nothing added", "cost"

_HALF = "1/2"
_FRACTION = re.compile(r"0|1|[1-9][0-9]{0,5}/[1-9][0-9]{0,5}")
_COSTS = ("entries_before", "entries_kept", "entries_suppressed", "entries_created")

_TRUE_OF_CLASS = """
    CREATE TABLE true_of AS SELECT class, number, count(*) AS holders
    FROM had JOIN features USING (feature) JOIN items USING (item) JOIN members USING (person)
    GROUP BY class, number
"""
_UNTRUE = """
    SELECT class, size, first_user, item, coalesce(holders, 0) AS holders
    FROM (SELECT class, size, first_user, unnest(features) AS number FROM classes)
    JOIN items USING (number) LEFT JOIN true_of USING (class, number)
    WHERE ? * coalesce(holders, 0) < ? * size
"""
_KEPT = """
    CREATE TABLE kept AS SELECT person, number
    FROM had JOIN features USING (feature) JOIN items USING (item)
    SEMI JOIN numbered USING (person, number)
"""


def _fixed(*claims: str, **parameters: tuple[str, ...]) -> Words:
    """Return the words of a method with these parameters and choices, and every fraction."""
    choices = [text for texts in parameters.values() for text in texts]
    known = ("name", "source", "parameters", *claims, *parameters, *choices, *SOURCES.values())
    return Words(_is_fraction, *known)


def _is_fraction(text: object) -> bool:
    return isinstance(text, str) and _FRACTION.fullmatch(text) is not None


def _smooth_claim(promise: Guarantee, parameters: Mapping[str, Any]) -> list[str]:
    return _true_claim("smooth-k", promise, parameters, parameters.get("theta"))


def _true_claim(
    method: str, promise: Guarantee, parameters: Mapping[str, Any], theta: object
) -> list[str]:
    if not isinstance(promise, SmoothKAnonymity):
        return [f"{method} does not promise {shown(type(promise).__name__)} with its parameters"]
    problems = _other_k(promise, parameters)
    if theta != promise.theta:
        problems.append(f"the claim says theta={promise.theta}, the method theta={shown(theta)}")
    return problems


def _suppress_claim(promise: Guarantee, parameters: Mapping[str, Any]) -> list[str]:
    return _nothing_added_claim("suppress-k", promise, parameters)


def _nothing_added_claim(
    method: str, promise: Guarantee, parameters: Mapping[str, Any]
) -> list[str]:
    if not isinstance(promise, KAnonymity):
        return [f"{method} does not promise {shown(type(promise).__name__)} with its parameters"]
    return _other_k(promise, parameters)


def _mondrian_claim(promise: Guarantee, parameters: Mapping[str, Any]) -> list[str]:
    release = parameters.get("release")
    if not is_one_of(release, {"suppress", "majority"}):
        return [f"release={shown(release)} is neither 'suppress' nor 'majority'"]
    if release == "suppress":
        return _nothing_added_claim("mondrian", promise, parameters)
    return _true_claim("mondrian", promise, parameters, _HALF)


def _other_k(promise: KAnonymity | SmoothKAnonymity, parameters: Mapping[str, Any]) -> list[str]:
    k = parameters.get("k")
    if type(k) is int and k == promise.k:
        return []
    return [f"the claim says k={promise.k}, the parameter is k={shown(k)}"]


def _true_names(parameters: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG001  one shape
    return TRUE, COST


def _nothing_added_names(parameters: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG001  one shape
    return NOTHING_ADDED, COST


def _mondrian_names(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    return (TRUE if parameters.get("release") == "majority" else NOTHING_ADDED), COST


def _against(names: Callable[[Mapping[str, Any]], tuple[str, ...]]) -> Any:
    """Return the function from a release beside its original to the conditions of these names."""

    def conditions(compared: Compared) -> list[Condition]:
        listed = names(compared.manifest.method.parameters)
        return [_CONDITIONS[name](compared) for name in listed]

    return conditions


def _true(compared: Compared) -> Condition:
    """Whether each feature of a class is that of a large enough share of it in the original."""
    promise = compared.manifest.claim.guarantee
    if not isinstance(promise, SmoothKAnonymity):
        return fails(TRUE, f"{shown(type(promise).__name__)} names no share of a class")
    if not compared.linked:
        told = f"whether every entry is true of {promise.theta} of its class"
        return not_checked(TRUE, told, needs=LINKAGE)
    db, share = compared.db, promise.share
    classes_of(db)
    db.run(_TRUE_OF_CLASS)
    bounds = [share.denominator, share.numerator]
    problems = db.number(f"SELECT count(*) FROM ({_UNTRUE})", bounds)
    if not problems:
        pairs = db.number("SELECT sum(len(features)) FROM classes")
        detail = f"each of {pairs} features of a class is true of at least {promise.theta} of it"
        return holds(TRUE, detail)
    row = db.first(f"{_UNTRUE} ORDER BY first_user, item LIMIT 1", bounds) or (0,) * 5
    return fails(
        TRUE,
        f"{shown(row[3])} is published of the {row[1]} users of the class of user {row[2]} and "
        f"true of {row[4]} of them, theta={promise.theta}; {problems} features of classes in all",
    )


def _nothing_added(compared: Compared) -> Condition:
    db = compared.db
    n = db.number("SELECT count(*) FROM entries")
    if not compared.linked:
        told = f"whether all {n} entries are the original's"
        return not_checked(NOTHING_ADDED, told, needs=LINKAGE)
    _find_kept(compared)
    added = db.rows(
        "SELECT person, item FROM numbered ANTI JOIN kept USING (person, number) "
        "JOIN items USING (number) ORDER BY person, item LIMIT 1"
    )
    if not added:
        return holds(NOTHING_ADDED, f"all {n} entries of the release are in the original")
    more = n - db.number("SELECT count(*) FROM kept")
    person, item = added[0]
    return fails(
        NOTHING_ADDED,
        f"{more} of the release's {n} entries are not in the original, the first that user "
        f"{person} has {shown(item)}",
    )


def _cost(compared: Compared) -> Condition:
    """Whether as many entries were kept, suppressed and created as the owner's record says."""
    if compared.record is None:
        return not_checked(COST, "how many entries were kept", needs=RECORD)
    due = tuple(compared.record.cost.get(name) for name in _COSTS)
    if not compared.linked:
        return not_checked(COST, f"the record says {_counted(due)}", needs=LINKAGE)
    _find_kept(compared)
    before, kept = compared.original.n_entries, compared.db.number("SELECT count(*) FROM kept")
    after = compared.db.number("SELECT count(*) FROM entries")
    found = (before, kept, before - kept, after - kept)
    if found == due:
        return holds(COST, f"{_counted(found)}, as the record says")
    return fails(COST, f"{_counted(found)}, the record says {_counted(due)}")


def _counted(counts: tuple[object, ...]) -> str:
    before, kept, suppressed, created = (shown(count) for count in counts)
    return f"{kept} of {before} entries kept, {suppressed} suppressed and {created} created"


def _find_kept(compared: Compared) -> None:
    """Create `kept(person, number)`, the entries of both, where it is not there yet."""
    classes_of(compared.db)
    if not compared.db.holds("kept"):
        compared.db.run(_KEPT)


_CONDITIONS: dict[str, Callable[[Compared], Condition]] = {
    TRUE: _true,
    NOTHING_ADDED: _nothing_added,
    COST: _cost,
}

_SMOOTH_PARAMETERS = {
    "k": (),
    "theta": (),
    "ties": ("keep", "drop"),
    "algorithm": ("greedy", "facility"),
    "seed_order": ("auto", "degree", "cost"),
    "refine": (),
    "passes": (),
    "candidates": (),
    "list_cap": (),
    "anneal": (),
    "beta": (),
    "cost_factor": (),
    "runs": (),
    "assign": ("nearest", "arrival"),
    "cut": (),
    "chunk_rows": (),
    "order": ("minhash", "label-propagation", "none"),
    "rounds": (),
    "threshold_noise": (),
    "theta_max": (),
}
_MONDRIAN_PARAMETERS = {
    "k": (),
    "split": ("first", "balanced"),
    "column_order": ("sorted", "given"),
    "release": ("suppress", "majority"),
}

SMOOTH_K = MethodCheck(
    ("bipartite",),
    _fixed("smooth-k", **_SMOOTH_PARAMETERS),
    _smooth_claim,
    _true_names,
    _against(_true_names),
)
SUPPRESS_K = MethodCheck(
    ("bipartite",),
    _fixed("suppress-k", **_SMOOTH_PARAMETERS),
    _suppress_claim,
    _nothing_added_names,
    _against(_nothing_added_names),
)
MONDRIAN = MethodCheck(
    ("bipartite",),
    _fixed("mondrian", **_MONDRIAN_PARAMETERS),
    _mondrian_claim,
    _mondrian_names,
    _against(_mondrian_names),
)
