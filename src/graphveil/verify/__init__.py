"""The independent checker: a release is verified from its files, by SQL.

It shares no code with methods, kernels, measures or the readers and writers of `graphveil.io`.
"""

from graphveil.verify.check import verify
from graphveil.verify.database import LIMIT_BYTES
from graphveil.verify.verdict import Check, Outcome, Verdict

__all__ = ["LIMIT_BYTES", "Check", "Outcome", "Verdict", "verify"]
