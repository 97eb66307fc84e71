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
    "smooth-k": (
        "Esfandiari, Epasto, Mirrokni & Munoz Medina, Smooth Anonymity for Sparse Graphs; greedy "
        "growth and local search are graphveil's own"
    ),
    "suppress-k": (
        "Esfandiari, Epasto, Mirrokni & Munoz Medina, Smooth Anonymity for Sparse Graphs; greedy "
        "growth and local search are graphveil's own"
    ),
    "mondrian": (
        "LeFevre, DeWitt & Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006, as the "
        "baseline of Esfandiari et al., Smooth Anonymity for Sparse Graphs"
    ),
    "randomized-response": (
        "Esfandiari et al., Smooth Anonymity for Sparse Graphs, section 4, Algorithm 1"
    ),
}
"""Where every method was published, by the method's name."""

LIMITS: dict[str, str] = {
    "smooth-k": (
        "It does not hide what people like you have in common: on adult at k=8, 78 % of the "
        "published entries are true of every member of their class, and a whole row finds the "
        "class of 83 % of people. With k below 8 it does not hide who took part on sparse data: "
        "on app data at k=4 membership is guessed with AUC .72, and 8 known items recover 41 % of "
        "the rare others, against 20 % for rows left out. With algorithm=facility it does not "
        "hide the class: on the same data at k=8, 8 items find it for 38 % (measured in a "
        "reference prototype)."
    ),
    "suppress-k": (
        "Every published entry is certainly true of everyone in its class: on adult at k=8 these "
        "are 90 % of the original entries (measured in a reference prototype)."
    ),
    "structural": (
        "It does not stop who holds the graph: on arenas-email, all nodes 2-anonymous after 21 % "
        "of the edges were deleted, a copy and 20 known people name 84 % of the rest at 99.5 % "
        "precision (measured in a reference prototype)."
    ),
    "k-degree": (
        "It hides degrees only: on arenas-email at k=10 a copy names 85 % with nobody known, and "
        "added edges are told from real ones with AUC .92 (measured in a reference prototype)."
    ),
    "randomized-response": (
        "It does not hide how many people and items there are, nor how the items are named. With "
        "a large epsilon most of what is published is true, and who knows some of it of a person "
        "may find that person and the rest; epsilons of several releases add up. Not attacked by "
        "us."
    ),
    "mondrian": (
        "It does not hide what people like you have in common: with release=suppress every "
        "published entry is certainly true of everyone in its class, by construction. Not attacked "
        "by us."
    ),
}
"""What every method does not protect against, by the method's name."""
