"""Manifests that say more, less or something else than a run of their method does, sealed anew.

Each has room for a message, or states what is false and can be seen to be false in the folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import msgspec

from forged.kit import Forged, read_manifest, reseal
from graphveil.claims.guarantees import AdaptiveAnonymity, NotClaimed, StructuralKAnonymity
from graphveil.verify.recount.noise.flip_probabilities import filter_thresholds, response_thresholds

DIGITS = int("".join(str(7 * place % 10) for place in range(1, 400)))
"""A message of 1,300 bits."""

Change = Callable[[dict], object]


def _edit(change: Change) -> Callable[[Path], None]:
    def forge_manifest(folder: Path) -> None:
        manifest = read_manifest(folder)
        change(manifest)
        parameters = manifest["method"]["parameters"]
        manifest["method"]["parameters"] = dict(sorted(parameters.items()))
        reseal(folder, manifest)

    return forge_manifest


def forged_claims(folder: Path) -> dict[str, Forged]:
    """Return every such forgery that fits the claim of a release folder."""
    manifest = read_manifest(folder)
    every = [*_of_any(manifest), *_of_guarantee(manifest), *_of_noise(manifest)]
    return {name: Forged(_edit(change), noticed_by) for name, change, noticed_by in every}


def _of_any(manifest: dict) -> Iterator[tuple[str, Change, tuple[str, ...]]]:
    parameters, conditions = manifest["method"]["parameters"], manifest["claim"]["conditions"]
    whole = [n for n, v in parameters.items() if isinstance(v, int) and not isinstance(v, bool)]
    yield "a version with room for a text", _set("1234.5678.9012", "version"), ("tool",)
    if len(manifest["data"]["files"]) > 1:
        yield "the data listed last", lambda m: m["data"]["files"].reverse(), ("description",)
    if len(conditions) > 1:
        yield "another order of conditions", lambda m: m["claim"]["conditions"].reverse(), METHOD
    for name in list(parameters)[:1]:
        yield "a parameter left out", _without(name), METHOD
    for name in whole[:1]:
        number = _set(DIGITS, "method", "parameters", name)
        yield "a parameter of many digits", number, ("claim and parameters",)
    if "weights" in parameters:
        yield (
            "a weight of no column",
            _set("ann is 0=2.0", "method", "parameters", "weights"),
            METHOD,
        )
    if "levels" in parameters:
        yield "levels in a column that is published", _by_column, METHOD
    if manifest["method"]["name"] == "smooth-k":
        yield "words where a private parameter is away", _other_words, METHOD
    if manifest["method"]["name"] == "rename":
        keyed = {"type": "keyed-ids"}
        yield "a key of ids 0, 1, 2", lambda m: m["claim"]["conditions"].insert(1, keyed), FREE


METHOD, FREE = ("method",), ("ids of their own",)


def _of_guarantee(manifest: dict) -> Iterator[tuple[str, Change, tuple[str, ...]]]:
    stated = manifest["claim"]["guarantee"]
    other = "unproved" if manifest["method"]["name"] == "rename" else "renamed"
    reason = NotClaimed(reasons=(other,))
    yield "nothing claimed for a reason that is none", lambda m: _promise(m, reason), METHOD
    if stated["type"] == "structural-k-anonymity" and stated["share"] < 1:
        fields = {name: value for name, value in stated.items() if name != "type"}
        less = StructuralKAnonymity(**{**fields, "share": stated["share"] - 1e-7 / 7})
        yield "a share with room for a text", lambda m: _promise(m, less), METHOD
    if stated.get("measure") == "count" and not stated["known"]:
        fields = {name: value for name, value in stated.items() if name != "type"}
        similar = StructuralKAnonymity(**{**fields, "phi": stated["phi"] + 12.3457})
        yield "another uncertainty", lambda m: _promise(m, similar), METHOD
        yield "a sign of zero", _set(-0.0, "claim", "guarantee", "phi"), ("manifest",)
    if stated["type"] == "adaptive-anonymity":
        yield "a level beyond the records", _raise_level, ("level",)


def _of_noise(manifest: dict) -> Iterator[tuple[str, Change, tuple[str, ...]]]:
    conditions = manifest["claim"]["conditions"]
    flips = next((c for c in conditions if "epsilon_cells" in c), None)
    if flips is None:
        return
    yield "a part of epsilon with room for a text", _with_digits, (*METHOD, "thresholds")
    if flips["noisy_count"] is not None:
        yield "no count where one was drawn", _without_count, METHOD
    if flips["type"] == "cell-flips" and flips["noisy_count"] is not None:
        yield "the chances of another method", _by_filter, METHOD


def _set(value: object, *path: str) -> Change:
    def change(manifest: dict) -> None:
        for name in path[:-1]:
            manifest = manifest[name]
        manifest[path[-1]] = value

    return change


def _without(name: str) -> Change:
    return lambda manifest: manifest["method"]["parameters"].pop(name)


def _other_words(manifest: dict) -> None:
    manifest["method"]["parameters"]["threshold_noise"] = 0.9
    manifest["claim"]["does_not_protect_against"] = "ann is 0"


def _by_column(manifest: dict) -> None:
    manifest["method"]["parameters"]["levels"] = manifest["data"]["files"][0]["columns"][0]
    _promise(manifest, AdaptiveAnonymity(level=1, common=False))


def _raise_level(manifest: dict) -> None:
    parameters = manifest["method"]["parameters"]
    rows = manifest["data"]["counts"]["rows"]
    parameters["least_level"] = rows + 1
    common = manifest["claim"]["guarantee"]["common"]
    _promise(manifest, AdaptiveAnonymity(level=rows + 1, common=common))


def _promise(
    manifest: dict, guarantee: NotClaimed | StructuralKAnonymity | AdaptiveAnonymity
) -> None:
    """State another promise, with all of its words."""
    guarantee = guarantee.of_rows(manifest["claim"]["guarantee"].get("person"))
    manifest["claim"] |= {
        "guarantee": msgspec.to_builtins(guarantee),
        "sentence": guarantee.sentence,
        "threat_model": guarantee.threat_model,
        "check": guarantee.check_word,
        "why": guarantee.why,
    }


def _flips(manifest: dict) -> dict:
    return next(c for c in manifest["claim"]["conditions"] if "epsilon_cells" in c)


def _restate(flips: dict, epsilon: Fraction) -> None:
    """State a part of epsilon, and the chances that follow from it."""
    flips["epsilon_cells"] = str(epsilon)
    if "T0" not in flips:
        return
    cells, count = int(flips["cells"]), flips["noisy_count"]
    if flips["type"] == "top-m-flips":
        zero, one = filter_thresholds(cells, int(count or 1), epsilon)
    else:
        zero, one = response_thresholds(Fraction(int(count or 1), cells if count else 2), epsilon)
    flips |= {"T0": str(zero), "T1": str(one)}


def _with_digits(manifest: dict) -> None:
    flips = _flips(manifest)
    part = Fraction(flips["epsilon_cells"]) * (1 - Fraction(1, 10**400 + DIGITS))
    _restate(flips, part)


def _without_count(manifest: dict) -> None:
    flips = _flips(manifest)
    flips["noisy_count"] = None
    _restate(flips, Fraction(flips["epsilon_cells"]))


def _by_filter(manifest: dict) -> None:
    flips = _flips(manifest)
    flips["type"] = "top-m-flips"
    _restate(flips, Fraction(flips["epsilon_cells"]))
