from graphveil.attacks.attack import Attack as Attack
from graphveil.attacks.attack import AttackFigure as AttackFigure
from graphveil.attacks.attack import AttackInput as AttackInput
from graphveil.attacks.attack import AttackOptions as AttackOptions
from graphveil.attacks.attack import Outcome as Outcome
from graphveil.attacks.attack import Rerun as Rerun
from graphveil.attacks.registry import ATTACKS as ATTACKS
from graphveil.evaluate.comparison import Attached as Attached
