"""What an attacker still learns: attacks on released files, next to guesses without them.

`attack.py` says what an attack is, `registry.py` lists all of them, `wording.py` how their figures
are worded. ``networks`` and ``features`` hold attacks on networks and on rows; attacks that read
several kinds of data (`matching`, `homogeneity`, `cell_membership`, `edge_rerun`) are next to this
module, as are the statistics that they share: `intervals.py`, `roc_curve.py` and
`likelihood_ratio.py`. Loops over pairs of nodes are in ``kernels``.

No attack imports a method: what runs a method again comes with the `AttackInput`.
"""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
