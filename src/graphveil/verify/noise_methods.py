"""The conditions of methods that flip cells at random: what noise there is, and from where."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from graphveil.claims.guarantees import EdgeDP, Guarantee, NodeDP, NotClaimed
from graphveil.data import Graph
from graphveil.verify import parameters as known
from graphveil.verify.database import Database
from graphveil.verify.method_checks import Compared, MethodCheck
from graphveil.verify.parameters import parameter_problems, words_of
from graphveil.verify.verdict import (
    LINKAGE,
    RECORD,
    Condition,
    fails,
    holds,
    judged,
    not_checked,
    shown,
)

NOISE, FLIPS, CHANCES = "source of the noise", "flips", "chances"

IMPOSSIBLE = 1e-12
"""A number of flips that far out, or farther, has at most this probability."""

_RESPONSE = "randomized-response"
_PROMISES: dict[str, type[EdgeDP | NodeDP]] = {"edge": EdgeDP, "node": NodeDP}
_KEPT_ENTRIES = """
    SELECT count(*) FROM had JOIN features USING (feature) JOIN entries USING (person, item)
"""


class _Flips(NamedTuple):
    """How many ones there were, how many of them are gone, and how many others came."""

    before: int
    removed: int
    added: int

    def __str__(self) -> str:
        return f"{self.removed} of {self.before} removed and {self.added} added"


def _response_claim(promise: Guarantee, parameters: Mapping[str, Any]) -> list[str]:
    unit, epsilon = parameters["unit"], parameters["epsilon"]
    if not epsilon:
        return [f"epsilon={epsilon} is not above 0"]
    if isinstance(promise, NotClaimed):
        return []
    if not isinstance(promise, _PROMISES[unit]):
        return [f"with unit={unit} nothing like {shown(type(promise).__name__)} is promised"]
    if promise.epsilon != epsilon:
        return [f"the claim says epsilon={promise.epsilon}, the parameter is epsilon={epsilon}"]
    return []


def _response_names(parameters: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG001  one shape
    return NOISE, FLIPS, CHANCES


def _response_against(compared: Compared) -> list[Condition]:
    return [_noise(compared), _flips(compared), _chances(compared)]


def _noise(compared: Compared) -> Condition:
    """Whether something is claimed only where the owner's record knows of no seed."""
    if compared.record is None:
        return not_checked(NOISE, "whether the noise came from entropy", needs=RECORD)
    claimed = not isinstance(compared.manifest.claim.guarantee, NotClaimed)
    if compared.record.seed is None:
        return holds(NOISE, "the record knows of no seed: the noise came from entropy")
    if claimed:
        return fails(NOISE, "the record holds a seed, so nothing may be claimed")
    return holds(NOISE, "the record holds a seed, and nothing is claimed")


def _flips(compared: Compared) -> Condition:
    """Whether as many ones were kept and added as the owner's record says."""
    if compared.record is None:
        return not_checked(FLIPS, "how much was flipped", needs=RECORD)
    cost = compared.record.cost
    what = "edges" if isinstance(compared.original, Graph) else "entries"
    due = tuple(cost.get(f"{what}_{part}") for part in ("before", "kept", "added"))
    told = f"{shown(due[1])} of {shown(due[0])} {what} kept and {shown(due[2])} added"
    if not compared.linked:
        return not_checked(FLIPS, f"the record says {told}", needs=LINKAGE)
    found = _counted(compared)
    if (found.before, found.before - found.removed, found.added) == due:
        return holds(FLIPS, f"{told}, as the record says")
    return fails(FLIPS, f"{found}, the record says {told}")


def _chances(compared: Compared) -> Condition:
    """Whether the numbers of flips are such as the stated probability makes believable."""
    if not compared.linked:
        return not_checked(CHANCES, "whether as much was flipped as stated", needs=LINKAGE)
    parameters = compared.manifest.method.parameters
    if parameter_problems(_RESPONSE, known.RANDOMIZED_RESPONSE, parameters):
        return not_checked(CHANCES, "the parameters are none of the method's")
    cells, of_one = _cells(compared.original)
    shared_by = max(of_one, 1) if parameters["unit"] == "node" else 1
    epsilon = parameters["epsilon"] / shared_by
    chance = 1 / (1 + math.exp(epsilon))
    rounding = (math.exp(epsilon) + 3) / 2**64
    found = _counted(compared)
    problems = [
        f"{count} {did}, {chance * trials:.6g} were to be expected"
        for count, trials, did in (
            (found.removed, found.before, "were removed"),
            (found.added, cells - found.before, "were added"),
        )
        if _unbelievable(count, trials, (max(chance - rounding, 0), chance + rounding))
    ]
    detail = f"{found}, each cell flipped with probability {chance:.6g}: believable"
    return judged(CHANCES, problems, detail)


def _unbelievable(count: int, trials: int, chances: tuple[float, float]) -> bool:
    """Whether a binomial number lies too far from all means in question: Bernstein's bound."""
    mean = min(max(count, trials * chances[0]), trials * chances[1])
    away = abs(count - mean)
    return away > 0 and 2 * math.exp(-(away**2) / (2 * mean + 2 * away / 3)) < IMPOSSIBLE


def _cells(original: Any) -> tuple[int, int]:
    """Return how many cells there are, and how many belong to one person."""
    if isinstance(original, Graph):
        n = original.n_nodes
        return n * (n - 1) // 2, n - 1
    return original.n_users * original.n_features, original.n_features


def _counted(compared: Compared) -> _Flips:
    """Return the flips of a release; it must be linked."""
    db: Database = compared.db
    if isinstance(compared.original, Graph):
        before, after = compared.original.n_edges, db.number("SELECT count(*) FROM edges")
        kept = before - db.number("SELECT count(*) FROM missing")
    else:
        before, after = compared.original.n_entries, db.number("SELECT count(*) FROM entries")
        kept = db.number(_KEPT_ENTRIES)
    return _Flips(before, before - kept, after - kept)


RANDOMIZED_RESPONSE = MethodCheck(
    ("graph", "bipartite"),
    known.RANDOMIZED_RESPONSE,
    frozenset(words_of(_RESPONSE, known.RANDOMIZED_RESPONSE)),
    _response_claim,
    _response_names,
    _response_against,
)
