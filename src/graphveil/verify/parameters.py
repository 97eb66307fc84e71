"""Whether the parameters say what the claim says, and are plain values that carry no message.

Claim checked: a parameter with the name of a field of the claim (such as ``k``) has the value of
that field; names, texts and numbers have the plain form that a run writes. A number with many
digits or a text of any length could carry data past the guarantee, so these are bounded.

What the files cannot show: whether the run really had these parameters. Only the claim counts.
"""

from __future__ import annotations

import re

import msgspec

from graphveil.claims.manifest import Manifest
from graphveil.verify.verdict import Check, judged, shown

PARAMETERS = "claim and parameters"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_METHOD = re.compile(r"[a-z][a-z0-9-]{0,40}")
_DIGITS = 5
"""A real number has at most so many significant digits. More of them could carry a message; fewer
would forbid values that people choose, such as 0.00125."""

_LONGEST_TEXT, _LONGEST_SENTENCE, _LARGEST_NUMBER = 200, 1000, 1 << 63


def parameters_check(manifest: Manifest) -> Check:
    """Return whether parameters say what the claim says, and are plain values."""
    # Step 1: the words of the method are plain lines; nothing else is known of them here.
    method, claim = manifest.method, manifest.claim
    problems = []
    if not _METHOD.fullmatch(method.name):
        problems.append(f"{shown(method.name)} is not a valid method name")
    sentences = {"source": method.source, "limits": claim.does_not_protect_against}
    problems += [
        f"the {name} {shown(text)} is not a plain line of text"
        for name, text in sentences.items()
        if not text.isprintable() or not 0 < len(text) <= _LONGEST_SENTENCE
    ]
    # Step 2: names and values of parameters are plain, so that none carries a message.
    problems += [
        f"{name if _NAME.fullmatch(name) else shown(name)}={shown(value)} is not a plain value"
        for name, value in method.parameters.items()
        if not _is_plain(name, value)
    ]
    # Step 3: a parameter and a field of the claim with one name have one value.
    problems += _contradictions(manifest)
    # Step 4: a guarantee about a table must say whether its rows are people.
    person = getattr(claim.guarantee, "person", None)
    if person is msgspec.UNSET and manifest.data.kind == "table":
        problems.append("the guarantee does not say whether the rows of the table are people")
    return judged(problems, "every parameter named in the claim has the claimed value")


def _is_plain(name: str, value: object) -> bool:
    if not _NAME.fullmatch(name):
        return False
    if isinstance(value, str):
        return value.isprintable() and len(value) <= _LONGEST_TEXT
    if isinstance(value, int):
        return abs(value) < _LARGEST_NUMBER
    # A float is plain if `_DIGITS` significant digits give it back exactly.
    return value is None or (isinstance(value, float) and float(f"{value:.{_DIGITS}g}") == value)


def _contradictions(manifest: Manifest) -> list[str]:
    claim, parameters = manifest.claim, manifest.method.parameters
    problems = []
    for value in (claim.guarantee, *claim.guarantee.implied, *claim.conditions):
        for name in value.__struct_fields__:
            claimed = getattr(value, name)
            if name in parameters and not _same(parameters[name], claimed):
                stated = f"the parameter is {name}={shown(parameters[name])}"
                problems.append(f"the claim states {name}={claimed}, but {stated}")
    return list(dict.fromkeys(problems))


def _same(parameter: object, claimed: object) -> bool:
    if isinstance(claimed, tuple) or claimed is msgspec.UNSET:
        claimed = claimed or ()
        return (parameter or "") == ",".join(map(str, claimed))
    return isinstance(parameter, bool) == isinstance(claimed, bool) and parameter == claimed
