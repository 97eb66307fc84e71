"""Whether a manifest states what its method states: one more check, in addition to `verify`.

`verify` knows guarantees and no method. If this version of the program knows the method as well,
the method is made again from the parameters in the manifest, and compared with it: words,
parameters, guarantee, parts of epsilon, conditions. So a manifest cannot claim more than its method
does, and cannot carry texts or digits of its own.

Three outcomes are possible. A difference fails if the manifest is of this version. For manifests of
other versions, and for texts that this version words differently, nothing is decided: *not
checked*. A method that is not known cannot be compared; its texts are searched for ids of the
original. Numbers that depend on random draws are never compared here.

Cost: that of the manifest; with an unknown method, a search of its texts for the ids.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING
from fractions import Fraction
from typing import Any

from msgspec import UNSET

from graphveil.claims import conditions
from graphveil.claims.guarantees import EdgeDP, Guarantee, NodeDP, NotClaimed, StructuralKAnonymity
from graphveil.claims.manifest import Manifest
from graphveil.core.errors import ParameterError
from graphveil.core.parameters import flat_parameters
from graphveil.core.randomness import Randomness
from graphveil.core.stated_parameters import private_parameters
from graphveil.core.version import __version__
from graphveil.data import Data, Table
from graphveil.data.kinds import KINDS, Container, as_original, kind_of
from graphveil.methods import METHODS
from graphveil.methods.base import Anonymizer
from graphveil.methods.registry import known_method
from graphveil.release import claiming
from graphveil.verify import Check
from graphveil.verify.original_ids import ids_in
from graphveil.verify.verdict import fails, judged, not_checked, shown

METHOD = "method"
"""The name of the check."""

REWORDED = "this version words the limits of the method differently than the manifest"
"""How the check begins if the only difference is a text on limits that this version never writes.

Such a text may be that of an earlier wording, so nothing is decided.
"""

_MOST_PARAMETERS, _LONGEST = 16, 40
"""The most parameters of an unknown method, and the most characters of one that is a text.

Its texts could be anything, so they must not be able to carry a data set. More would let more pass;
fewer would refuse methods with many or long parameters.
"""

_SOME = "some"
"""The value of a private parameter that is not known: nothing public depends on it."""


def consistency_check(
    manifest: Manifest,
    withheld: Mapping[str, Any] | None,
    original: Any = None,
    *,
    trusted: str | None = None,
) -> Check:
    """Return whether the manifest states what its method states with the same parameters.

    Parameters
    ----------
    manifest
        The public manifest of the release.
    withheld
        The private parameters from the owner's record; None if they are not known.
    original
        The original, if it is at hand: columns in parameters and ids in texts are looked up in it.
    trusted
        The name of an unknown method that the caller vouches for.

    Returns
    -------
    Check
        Holds, fails or not checked, with the first differences.
    """
    # A method that is not known can only be searched for ids.
    name = manifest.method.name
    method = known_method(name)
    if method is None:
        return _unknown(manifest, original, trusted=name == trusted)
    # It must produce this kind of data, and none of its private parameters may be published.
    kinds = [kind_of(kind).name for kind in method.accepts]
    if manifest.data.kind not in kinds:
        return fails(f"{name} produces a {kinds[0]}, not a {manifest.data.kind}")
    private, stated = private_parameters(method), manifest.method.parameters
    if private & set(stated):
        return fails(f"the private parameter {min(private & set(stated))} is published")
    return _compared(manifest, method, withheld, original)


def _compared(
    manifest: Manifest,
    method: type[Anonymizer[Any]],
    withheld: Mapping[str, Any] | None,
    original: Any,
) -> Check:
    """Return whether the manifest states what this method states with the same parameters."""
    # `ours` is the method as this version makes it from the stated parameters.
    name = method.name
    try:
        ours = _made(method, manifest.method.parameters, withheld)
    except ParameterError as error:
        return _differing(manifest, f"{name}: {error}")
    # With the owner's record all conditions are known; without it, some may be stated or not: those
    # that depend on a private parameter, such as the key of `rename`.
    may_state = method.card.may_state if withheld is None else ()
    problems = _differences(manifest, ours, may_state) + _other_columns(manifest, ours, original)
    if problems and manifest.version != __version__:
        return _differing(manifest, problems[0])
    if not problems and (text := _unknown_limits(manifest, ours)):
        return not_checked(f"{REWORDED}: {shown(text)}")
    agreed = (
        f"the manifest states what {name} states; numbers that depend on random draws are "
        "not compared"
    )
    return judged(problems, agreed)


def _differing(manifest: Manifest, problem: str) -> Check:
    """Return the outcome of a difference: a failure, or undecided for a different version."""
    if manifest.version == __version__:
        return fails(problem)
    version = f"version {shown(manifest.version)}"
    return not_checked(f"this version differs from the manifest: {problem}", needs=version)


def _unknown_limits(manifest: Manifest, method: Anonymizer[Any]) -> str:
    """Return the text on limits if it has a sentence that this version writes for no options.

    Otherwise return an empty text. A text made of sentences that the method writes for different
    options is not unknown, and so a failure: it could state milder limits.
    """
    stated = manifest.claim.does_not_protect_against
    texts = (method.limits(manifest.data.kind, manifest.claim.guarantee), method.limits())
    reached = (attack.said for attack in method.card.reached)
    written = (
        *texts,
        method.card.source,
        method.card.limits,
        *reached,
        method.card.limits_of_attributes,
    )
    known = {sentence for text in written for sentence in text.split(". ")}
    known |= {sentence.removesuffix(".") for sentence in known}
    other = stated != texts[0] and not known.issuperset(stated.removesuffix(".").split(". "))
    return stated if other else ""


def _made(
    method: type[Anonymizer[Any]], stated: Mapping[str, Any], withheld: Mapping[str, Any] | None
) -> Anonymizer[Any]:
    """Return the method with the stated parameters, and some for private ones if not known."""
    try:
        return method.from_parameters({**stated, **(withheld or {})})
    except ParameterError:
        private = private_parameters(method)
        if withheld is not None or not private:
            raise
    # Nothing public depends on the values of private parameters. Required ones get those of the
    # method's example, so that it can be made at all.
    required = {item.name for item in flat_parameters(method) if item.default is MISSING}
    placeholders = {
        name: method.card.example[name] for name in private & required & set(method.card.example)
    }
    # Without a file of levels nothing is published complete.
    if stated.get("publish_levels"):
        placeholders["levels"] = {_SOME: f"{_SOME}.csv"}
    return method.from_parameters({**stated, **(placeholders or dict.fromkeys(private, _SOME))})


def _unknown(manifest: Manifest, original: Any, *, trusted: bool) -> Check:
    """Return the check of a method that this version does not know.

    A guarantee by construction depends on a random draw that no file can show: without a known
    method nothing supports it, so it fails. Others are not checked, unless texts are too long or
    contain an id of the original.
    """
    method, claim = manifest.method, manifest.claim
    unknown = f"this version does not know the method {shown(method.name)}"
    if claim.guarantee.check_word == "by construction" and not trusted:
        return fails(f"{unknown}, and its claim concerns a random draw that no file can show")
    texts = [value for value in method.parameters.values() if isinstance(value, str)]
    if len(method.parameters) > _MOST_PARAMETERS or max(map(len, texts), default=0) > _LONGEST:
        return fails(
            f"{unknown}, and it has more than {_MOST_PARAMETERS} parameters, or one longer than "
            f"{_LONGEST} characters"
        )
    if original is None:
        return not_checked(unknown)
    # Ids that are words of the known methods' texts are not counted: "a" or "1" may be an id.
    data = _original_of(manifest, original, KINDS[manifest.data.kind].container)
    of_methods = (
        (known.card.source, known.card.limits, *(attack.said for attack in known.card.reached))
        for known in METHODS.values()
    )
    common = "\n".join(text for texts in of_methods for text in texts)
    for text in (method.name, method.source, claim.does_not_protect_against):
        ids = sorted(set(ids_in(data, text)).difference(ids_in(data, common)))
        if ids:
            return fails(f"{unknown}, and the id {shown(ids[0])} appears in {shown(text)}")
    return not_checked(
        f"{unknown}; its texts contain no text id of the original, except words that known "
        "methods also use"
    )


def _original_of(manifest: Manifest, original: Any, container: Container) -> Data:
    """Return the original as the release was made from it."""
    exact = manifest.data.columns is not UNSET
    return as_original(original, container, wanted_by="verify", exact=exact)


def _differences(
    manifest: Manifest, method: Anonymizer[Any], may_state: tuple[type[conditions.Condition], ...]
) -> list[str]:
    """Return all differences between a manifest and what this method states, as sentences."""
    claim, problems = manifest.claim, _other_words(manifest, method)
    if not method.guarantee.covers(claim.guarantee):
        own = method.guarantee.sentence
        problems.append(f"{method.name} with these parameters claims: {own}")
    problems += _other_share(manifest)
    problems += _other_reasons(claim.guarantee, method)
    problems += _other_parts(manifest, method)
    return problems + _other_conditions(manifest, method, may_state)


def _other_words(manifest: Manifest, method: Anonymizer[Any]) -> list[str]:
    """Return the words and parameters that are not those that the method writes."""
    stated, ours = manifest.method.parameters, claiming.provenance_of(method)
    text, problems = manifest.claim.does_not_protect_against, []
    if manifest.method.source != ours.source:
        problems.append(
            f"the source is {shown(manifest.method.source)}, not the one that the method states"
        )
    limits = method.limits(manifest.data.kind, manifest.claim.guarantee)
    if text != limits and not _unknown_limits(manifest, method):
        problems.append(f"the text on limits is {shown(text)}, not the one that the method states")
    return problems + [
        f"the parameter {name} is {shown(stated.get(name))}; {ours.method} writes {shown(value)}"
        for name, value in ours.parameters.items()
        if name not in stated or stated[name] != value or type(stated[name]) is not type(value)
    ]


def _other_columns(manifest: Manifest, method: Anonymizer[Any], original: Any) -> list[str]:
    """Return the columns that parameters name wrongly: published ones, or none of the original."""
    if Table not in method.accepts:
        return []
    from graphveil.methods.roles import WithRoles  # noqa: PLC0415  for tables alone

    # Companions such as the file of levels have a header of their own.
    of_data = (file.columns for file in manifest.data.files if file.role == "data")
    published = {name for columns in of_data for name in columns}
    withheld = set(method.withheld_columns if isinstance(method, WithRoles) else ())
    wrong = dict.fromkeys(withheld & published, "is published")
    if original is not None and withheld:
        known = getattr(_original_of(manifest, original, Table), "columns", ())
        wrong |= dict.fromkeys(withheld.difference(known), "is not a column of the original")
    named = "the parameters name the column"
    return [f"{named} {shown(name)}, which {why}" for name, why in sorted(wrong.items())]


def _other_share(manifest: Manifest) -> list[str]:
    """Return the share of nodes, if it has different digits than a run with so many nodes writes.

    Digits beyond those that the number of nodes needs could hold a message.
    """
    claimed, n = manifest.claim.guarantee, manifest.data.counts.get("nodes", 0)
    if not isinstance(claimed, StructuralKAnonymity) or claimed.share == 1:
        return []
    from graphveil.methods.goals import share_of  # noqa: PLC0415  rare

    # The number of protected nodes that the claim asks for (1e-9 undoes rounding), and the share
    # that a run writes for this number.
    reached = n - math.floor((1 - claimed.share) * n + 1e-9)
    usual = share_of(reached, n)
    if claimed.share == usual:
        return []
    return [
        (
            f"share={claimed.share} claims no more for {n} nodes than share={usual}, which a "
            "run would write"
        )
    ]


def _other_reasons(claimed: Guarantee, method: Anonymizer[Any]) -> list[str]:
    """Return the stated reasons for claiming nothing that no run of the method has."""
    if not isinstance(claimed, NotClaimed):
        return []
    runs = (method.guarantee, claiming.claimed(method, None, Randomness(seed=0)))
    possible = {
        "trial",
        *(why for claim in runs if isinstance(claim, NotClaimed) for why in claim.reasons),
    }
    return [
        f"no guarantee is claimed, with the reason {reason}, which no run of {method.name} gives"
        for reason in claimed.reasons
        if reason not in possible
    ]


def _other_parts(manifest: Manifest, method: Anonymizer[Any]) -> list[str]:
    """Return the parts of epsilon that are not exactly those that the parameters give.

    Nearly equal parts give nearly equal thresholds, so the last digits could hold a message.
    """
    problems = []
    for stated in manifest.claim.conditions:
        if isinstance(stated, conditions.Drawing):
            problems += _other_shares(method, stated)
        if not isinstance(stated, conditions.RandomizedCells | conditions.BlockFlips):
            continue
        from graphveil.methods.noisy_cells.noisy import NoisyMethod  # noqa: PLC0415  rare

        # A noisy count is stated if the method has one and there are at least two cells.
        counts = isinstance(method, NoisyMethod) and int(stated.cells) > 1
        if counts != (stated.noisy_count is not None):
            which = "no noisy count" if counts else "a noisy count"
            problems.append(f"{which} is stated for {stated.cells} cells")
        # The cells have what the counts leave, or all of epsilon, shared by the cells of a change.
        possible = _whole_parts(manifest, method, stated)
        if isinstance(method, NoisyMethod) and counts:
            possible = [method.epsilon_cells / sharing for sharing in _entries(manifest, method)]
        if possible and stated.epsilon_cells not in map(str, possible):
            problems.append(
                f"cells have epsilon_cells={shown(stated.epsilon_cells)}; with these parameters "
                f"it is {possible[0]}"
            )
    return problems


def _other_shares(method: Anonymizer[Any], stated: conditions.Drawing) -> list[str]:
    """Return the stated parts of epsilon that are not those of the method's statistics.

    `stated`: the condition of a method that generates a graph from noisy statistics.
    """
    parts: Mapping[str, Fraction] = getattr(method, "parts", {})
    return [
        f"{name}={shown(getattr(stated, name))} is stated; with these parameters it is {part}"
        for name, part in parts.items()
        if getattr(stated, name, None) != str(part)
    ]


def _whole_parts(
    manifest: Manifest,
    method: Anonymizer[Any],
    stated: conditions.RandomizedCells | conditions.BlockFlips,
) -> list[Fraction]:
    """Return the possible parts of epsilon of a cell if nothing was counted; none without epsilon.

    For node differential privacy, epsilon is shared by all cells of a person: n - 1 of a node, one
    per item of a user. If the items are the users as well, a person has a row and a column, which
    share one cell: 2 x users - 1.
    """
    guarantee, counts = method.guarantee, manifest.data.counts
    if not isinstance(guarantee, EdgeDP | NodeDP):
        return []
    if isinstance(guarantee, NodeDP):
        users = counts.get("users", 0)
        items_are_users = conditions.ItemsAreUsers() in manifest.claim.conditions
        cells_of_user = 2 * users - 1 if items_are_users else int(stated.cells) // max(users, 1)
        sharing = max(counts["nodes"] - 1 if "nodes" in counts else cells_of_user, 1)
        return [conditions.as_printed(guarantee.epsilon) / sharing]
    epsilon = conditions.as_printed(guarantee.epsilon)
    return [epsilon / sharing for sharing in _entries(manifest, method)]


def _entries(manifest: Manifest, method: Anonymizer[Any]) -> tuple[int, ...]:
    """Return how many cells share each part of epsilon: one, or the two of a changed value.

    The claim says which; if nothing is claimed about user-item data, it may be either.
    """
    claimed = manifest.claim.guarantee
    if isinstance(claimed, EdgeDP):
        return (claimed.entries,)
    either = isinstance(method.guarantee, EdgeDP) and manifest.data.kind == "bipartite"
    return (1, 2) if either else (1,)


def _other_conditions(
    manifest: Manifest, method: Anonymizer[Any], may_state: tuple[type[conditions.Condition], ...]
) -> list[str]:
    """Return the conditions that are missing, and those that the method does not state.

    A condition that no method states is not harmless: its numbers could carry a message.
    """
    # Conditions that every run states with exactly these values.
    name, left = method.name, list(manifest.claim.conditions)
    problems, stated = [], []
    for condition in method.conditions:
        if condition in left:
            stated.append(condition)
        else:
            problems.append(f"the manifest does not state: {condition.sentence}")
    # Conditions whose values depend on the run: one of each type, unless a seed excludes it.
    claimed = manifest.claim.guarantee
    repeatable = isinstance(claimed, NotClaimed) and "repeatable" in claimed.reasons
    for kind in method.states:
        if repeatable and kind.without_seed:
            continue
        of_run = [condition for condition in left if type(condition) is kind]
        stated += of_run[:1]
        problems += (
            []
            if of_run
            else [(f"the manifest states no {kind.__name__}, which {name} always states")]
        )
    # Conditions that may be stated; whatever is left then is too much.
    also = (*may_state, *((conditions.ItemsAreUsers,) if manifest.data.kind == "bipartite" else ()))
    stated += [kind() for kind in also if kind() in left and kind() not in stated]
    for condition in stated:
        left.remove(condition)
    problems += [f"{name} does not state: {condition.sentence}" for condition in left]
    if not problems and stated != manifest.claim.conditions:
        problems.append("the conditions are in a different order")
    return problems
