"""What is said of every method in help, manifest and docs: its source, and what it leaves open.

The texts are fixed. They describe the method and never the data at hand, so that they may stand in
a public manifest.
"""

from __future__ import annotations

SOURCES: dict[str, str] = {
    "k-degree": "Liu & Terzi, Towards identity anonymization on graphs, SIGMOD 2008",
    "structural": (
        "de Jong, van der Loo & Takes, The anonymization problem in social networks, "
        "arXiv 2409.16163"
    ),
}
"""Where every method was published, by the method's name."""

LIMITS: dict[str, str] = {
    "structural": (
        "It does not stop who holds the graph: on arenas-email, all nodes 2-anonymous after 21 % "
        "of the edges were deleted, a copy and 20 known people name 84 % of the rest at 99.5 % "
        "precision (measured in a reference prototype)."
    ),
    "k-degree": (
        "It hides degrees only: on arenas-email at k=10 a copy names 85 % with nobody known, and "
        "added edges are told from real ones with AUC .92 (measured in a reference prototype)."
    ),
}
"""What every method does not protect against, by the method's name."""
