"""What each method does not protect against: one table for help, manifest and docs.

The texts are fixed. They describe the method and never the data at hand, so that they may stand in
a public manifest.
"""

from __future__ import annotations

LIMITS: dict[str, str] = {
    "k-degree": (
        "It hides degrees only: on arenas-email at k=10 a copy names 85 % with nobody known, and "
        "added edges are told from real ones with AUC .92 (measured in a reference prototype)."
    ),
}
"""The sentence of every method, by the method's name."""
