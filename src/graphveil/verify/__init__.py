"""The independent checker: a release is verified from its files, by SQL.

It shares no code with methods, kernels, measures or the readers and writers of `graphveil.io`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.lazy import lazy_names

if TYPE_CHECKING:
    from graphveil.verify.check import verify as verify
    from graphveil.verify.database import LIMIT_BYTES as LIMIT_BYTES
    from graphveil.verify.verdict import Check as Check
    from graphveil.verify.verdict import Outcome as Outcome
    from graphveil.verify.verdict import Verdict as Verdict

_HOMES = {
    "LIMIT_BYTES": "graphveil.verify.database",
    "Check": "graphveil.verify.verdict",
    "Outcome": "graphveil.verify.verdict",
    "Verdict": "graphveil.verify.verdict",
    "verify": "graphveil.verify.check",
}
"""Where every public name is defined; the imports above say the same to type checkers."""

__all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
