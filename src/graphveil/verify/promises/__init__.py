"""What is claimed, checked again: one entry for each type of guarantee and of condition."""

from __future__ import annotations

from graphveil.verify.kinds.kind import Evidence
from graphveil.verify.promises.claims import claim_checks

__all__ = ["Evidence", "claim_checks"]
