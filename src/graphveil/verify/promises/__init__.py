"""What is claimed, checked again: one entry for each type of guarantee and of condition."""

from __future__ import annotations

from graphveil.verify.promises.claims import claim_checks
from graphveil.verify.promises.evidence import Evidence

__all__ = ["Evidence", "claim_checks"]
