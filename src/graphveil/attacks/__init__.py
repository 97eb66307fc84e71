"""What an attacker still learns: attacks on released files, beside guesses without them."""

from graphveil.attacks.attack import (
    Attack,
    AttackFigure,
    AttackInput,
    AttackOptions,
    Outcome,
    Rerun,
)
from graphveil.attacks.registry import ATTACKS
from graphveil.attacks.rows import Attacked, AttackRow, attack, attack_rows_to_arrow
from graphveil.evaluate import Attached

__all__ = [
    "ATTACKS",
    "Attached",
    "Attack",
    "AttackFigure",
    "AttackInput",
    "AttackOptions",
    "AttackRow",
    "Attacked",
    "Outcome",
    "Rerun",
    "attack",
    "attack_rows_to_arrow",
]
