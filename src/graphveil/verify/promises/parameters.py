"""The method of a manifest and its parameters: what of them is claimed, and their form.

A parameter that bears the name of a field of the guarantee or of a condition has its value. Others
are stated, not checked.
"""

from __future__ import annotations

import re

from graphveil.records.manifest import Manifest
from graphveil.verify.verdict import Check, judged, shown

PARAMETERS = "claim and parameters"

_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_METHOD = re.compile(r"[a-z][a-z0-9-]{0,40}")
_DIGITS = 5
"""So many significant digits a real number has at most."""

_LONGEST_TEXT, _LONGEST_SENTENCE, _LARGEST_NUMBER = 200, 1000, 1 << 63


def parameters_check(manifest: Manifest) -> Check:
    """Return whether parameters say what the claim says, and are plain values."""
    method, claim = manifest.method, manifest.claim
    problems = [] if _METHOD.fullmatch(method.name) else [f"{shown(method.name)} is no method"]
    sentences = {"source": method.source, "limits": claim.does_not_protect_against}
    problems += [
        f"the {name} {shown(text)} is no plain line of text"
        for name, text in sentences.items()
        if not text.isprintable() or not 0 < len(text) <= _LONGEST_SENTENCE
    ]
    problems += [
        f"{name if _NAME.fullmatch(name) else shown(name)}={shown(value)} is no plain value"
        for name, value in method.parameters.items()
        if not _is_plain(name, value)
    ]
    problems += _contradictions(manifest)
    return judged(PARAMETERS, problems, "every parameter that the claim names has its value")


def _is_plain(name: str, value: object) -> bool:
    if not _NAME.fullmatch(name):
        return False
    if isinstance(value, str):
        return value.isprintable() and len(value) <= _LONGEST_TEXT
    if isinstance(value, int):
        return abs(value) < _LARGEST_NUMBER
    return value is None or (isinstance(value, float) and float(f"{value:.{_DIGITS}g}") == value)


def _contradictions(manifest: Manifest) -> list[str]:
    claim, parameters = manifest.claim, manifest.method.parameters
    problems = []
    for value in (claim.guarantee, *claim.guarantee.implied, *claim.conditions):
        for name in value.__struct_fields__:
            said = getattr(value, name)
            if name in parameters and not _same(parameters[name], said):
                stated = f"the parameter is {name}={shown(parameters[name])}"
                problems.append(f"the claim says {name}={said}, {stated}")
    return list(dict.fromkeys(problems))


def _same(one: object, other: object) -> bool:
    if isinstance(other, tuple):
        return (one or "") == ",".join(map(str, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other
