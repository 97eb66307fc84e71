"""The conditions of methods for users by features: what of a release is true in the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graphveil.claims.guarantees import Guarantee, KAnonymity, SmoothKAnonymity
from graphveil.verify import parameters as known
from graphveil.verify.database import Database
from graphveil.verify.method_checks import Compared, MethodCheck, Words
from graphveil.verify.parameters import is_fraction, names_in, words_of
from graphveil.verify.recount.equal_rows import classes_of
from graphveil.verify.verdict import (
    LINKAGE,
    RECORD,
    Condition,
    counted,
    fails,
    holds,
    not_checked,
    shown,
)

TRUE, NOTHING_ADDED, COST = "entries true of their class", "nothing added", "cost"
TIES, SENSITIVE = "no ties", "sensitive features"

SLACK = 1e-9
"""How far a share may lie above `theta_max`: it is a fraction with rounded digits."""

_HALF = "1/2"
_COSTS = ("entries_before", "entries_kept", "entries_suppressed", "entries_created")

_TRUE_OF_CLASS = """
    CREATE TABLE true_of AS SELECT class, number, count(*) AS holders
    FROM had JOIN features USING (feature) JOIN items USING (item) JOIN members USING (person)
    GROUP BY class, number
"""
_PUBLISHED = """
    CREATE TABLE published AS
    SELECT class, size, first_user, item, coalesce(holders, 0) AS holders
    FROM (SELECT class, size, first_user, unnest(features) AS number FROM classes)
    JOIN items USING (number) LEFT JOIN true_of USING (class, number)
"""
_UNTRUE = "SELECT * FROM published WHERE ? * holders < ? * size"
_TIED = "SELECT * FROM published WHERE 2 * holders <= size"
_NEAR_CERTAIN = """
    SELECT * FROM published
    WHERE item IN (SELECT unnest(?::VARCHAR[])) AND holders::DOUBLE / size > ?
"""
_KEPT = """
    CREATE TABLE kept AS SELECT person, number
    FROM had JOIN features USING (feature) JOIN items USING (item)
    SEMI JOIN numbered USING (person, number)
"""


def _smooth_claim(promise: Guarantee, parameters: Mapping[str, Any]) -> list[str]:
    problems = _true_claim("smooth-k", promise, parameters, parameters["theta"])
    if parameters["ties"] == "drop" and parameters["theta"] != _HALF:
        problems.append(f"ties=drop goes with theta=1/2, not with theta={parameters['theta']}")
    if (parameters["theta_max"] is None) != (parameters["sensitive"] is None):
        problems.append("of theta_max and sensitive one alone was given, which means nothing")
    return problems


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
    if parameters["release"] == "suppress":
        return _nothing_added_claim("mondrian", promise, parameters)
    return _true_claim("mondrian", promise, parameters, _HALF)


def _other_k(promise: KAnonymity | SmoothKAnonymity, parameters: Mapping[str, Any]) -> list[str]:
    k = parameters["k"]
    return [] if k == promise.k else [f"the claim says k={promise.k}, the parameter is k={k}"]


def _smooth_names(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    ties = (TIES,) if parameters.get("ties") == "drop" else ()
    sensitive = () if _near_certain_bound(parameters) is None else (SENSITIVE,)
    return (TRUE, *ties, *sensitive, COST)


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
    _find_published(db)
    bounds = [share.denominator, share.numerator]
    problems = db.number(f"SELECT count(*) FROM ({_UNTRUE})", bounds)
    if not problems:
        pairs = db.number("SELECT count(*) FROM published")
        told = f"each of {_pairs(pairs)} is true of at least {promise.theta} of the class"
        return holds(TRUE, told)
    return fails(TRUE, _first(db, _UNTRUE, bounds, f"theta={promise.theta}"))


def _ties(compared: Compared) -> Condition:
    """Whether each feature of a class is that of more than half of it in the original.

    Parts that publish equal rows are one class; what is true of more than half of each part is
    true of more than half of them all.
    """
    if not compared.linked:
        told = "whether every entry is true of more than half of its class"
        return not_checked(TIES, told, needs=LINKAGE)
    db = compared.db
    _find_published(db)
    if db.first(f"{_TIED} LIMIT 1"):
        return fails(TIES, _first(db, _TIED, [], "ties=drop"))
    pairs = db.number("SELECT count(*) FROM published")
    return holds(TIES, f"each of {_pairs(pairs)} is true of more than half of the class")


def _sensitive(compared: Compared) -> Condition:
    """Whether no sensitive feature is that of a larger share of a class than `theta_max`.

    Parts that publish equal rows are one class; its share is a mean of theirs.
    """
    bound = _near_certain_bound(compared.manifest.method.parameters)
    if bound is None:
        return fails(SENSITIVE, "no features were named, or no share of a class")
    theta_max, names = bound
    what = counted(len(names), "sensitive feature")
    if not compared.linked:
        told = f"whether one of {what} is true of more than {theta_max} of a class"
        return not_checked(SENSITIVE, told, needs=LINKAGE)
    db, values = compared.db, [names, theta_max + SLACK]
    _find_published(db)
    if db.first(f"{_NEAR_CERTAIN} LIMIT 1", values):
        return fails(SENSITIVE, _first(db, _NEAR_CERTAIN, values, f"theta_max={theta_max}"))
    return holds(SENSITIVE, f"none of {what} is true of more than {theta_max} of a class")


def _near_certain_bound(parameters: Mapping[str, Any]) -> tuple[float, list[str]] | None:
    """Return `theta_max` and the sensitive features, or None where there are not both."""
    theta_max, names = parameters.get("theta_max"), names_in(parameters.get("sensitive"))
    return (theta_max, names) if isinstance(theta_max, float) and names is not None else None


def _find_published(db: Database) -> None:
    """Create `published(class, size, first_user, item, holders)` where it is not there yet."""
    classes_of(db)
    if not db.holds("published"):
        db.run(_TRUE_OF_CLASS)
        db.run(_PUBLISHED)


def _first(db: Database, query: str, values: list[Any], bound: str) -> str:
    """Return the first feature of a class that a query finds, and how many it finds."""
    found = db.number(f"SELECT count(*) FROM ({query})", values)
    row = db.first(f"{query} ORDER BY first_user, item LIMIT 1", values) or (0,) * 5
    return (
        f"{shown(row[3])} is published of {counted(row[1], 'user')}, the class of user {row[2]}, "
        f"and true of {row[4]} of them, {bound}; {_pairs(found)} in all"
    )


def _pairs(count: int) -> str:
    return counted(count, "pair") + " of a class and a feature"


def _nothing_added(compared: Compared) -> Condition:
    db = compared.db
    n = db.number("SELECT count(*) FROM entries")
    if not compared.linked:
        told = f"whether every entry is the original's, {n} in all"
        return not_checked(NOTHING_ADDED, told, needs=LINKAGE)
    _find_kept(compared)
    added = db.rows(
        "SELECT person, item FROM numbered ANTI JOIN kept USING (person, number) "
        "JOIN items USING (number) ORDER BY person, item LIMIT 1"
    )
    if not added:
        return holds(NOTHING_ADDED, f"every entry of the release is in the original, {n} in all")
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
        return not_checked(COST, f"the record says {_kept_counts(due)}", needs=LINKAGE)
    _find_kept(compared)
    before, kept = compared.original.n_entries, compared.db.number("SELECT count(*) FROM kept")
    after = compared.db.number("SELECT count(*) FROM entries")
    found = (before, kept, before - kept, after - kept)
    if found == due:
        return holds(COST, f"{_kept_counts(found)}, as the record says")
    return fails(COST, f"{_kept_counts(found)}, the record says {_kept_counts(due)}")


def _kept_counts(counts: tuple[object, ...]) -> str:
    before, kept, suppressed, created = (shown(count) for count in counts)
    return f"{kept} of {before} entries kept, {suppressed} suppressed and {created} created"


def _find_kept(compared: Compared) -> None:
    """Create `kept(person, number)`, the entries of both, where it is not there yet."""
    classes_of(compared.db)
    if not compared.db.holds("kept"):
        compared.db.run(_KEPT)


_CONDITIONS: dict[str, Callable[[Compared], Condition]] = {
    TRUE: _true,
    TIES: _ties,
    SENSITIVE: _sensitive,
    NOTHING_ADDED: _nothing_added,
    COST: _cost,
}

SMOOTH_K = MethodCheck(
    ("bipartite",),
    known.SMOOTH_K,
    Words(is_fraction, *words_of("smooth-k", known.SMOOTH_K)),
    _smooth_claim,
    _smooth_names,
    _against(_smooth_names),
)
SUPPRESS_K = MethodCheck(
    ("bipartite",),
    known.SUPPRESS_K,
    frozenset(words_of("suppress-k", known.SUPPRESS_K)),
    _suppress_claim,
    _nothing_added_names,
    _against(_nothing_added_names),
)
MONDRIAN = MethodCheck(
    ("bipartite",),
    known.MONDRIAN,
    frozenset(words_of("mondrian", known.MONDRIAN)),
    _mondrian_claim,
    _mondrian_names,
    _against(_mondrian_names),
)
