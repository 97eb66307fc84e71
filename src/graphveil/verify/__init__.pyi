from graphveil.verify.check import verify as verify
from graphveil.verify.verdict import LIMIT_BYTES as LIMIT_BYTES
from graphveil.verify.verdict import Check as Check
from graphveil.verify.verdict import Verdict as Verdict
