"""Every promise that a release can make: values that say it in words and can be checked."""

from __future__ import annotations

from graphveil.claims.differential_privacy import EdgeDP, NodeDP
from graphveil.claims.guarantee import CheckWord, Guarantee, NotClaimed, Reason, unclaimed
from graphveil.claims.look_alikes import MeasureName, OneKindMeasure, StructuralKAnonymity
from graphveil.claims.rows import AdaptiveAnonymity, KAnonymity, SmoothKAnonymity

__all__ = [
    "AdaptiveAnonymity",
    "AnyGuarantee",
    "CheckWord",
    "EdgeDP",
    "Guarantee",
    "KAnonymity",
    "MeasureName",
    "NodeDP",
    "NotClaimed",
    "OneKindMeasure",
    "Reason",
    "SmoothKAnonymity",
    "StructuralKAnonymity",
    "unclaimed",
]

AnyGuarantee = (
    StructuralKAnonymity
    | KAnonymity
    | SmoothKAnonymity
    | AdaptiveAnonymity
    | EdgeDP
    | NodeDP
    | NotClaimed
)
"""Every guarantee that a manifest can hold."""
