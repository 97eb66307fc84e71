"""Names in the papers, and what they are called here."""

from __future__ import annotations

from typing import NamedTuple


class PaperName(NamedTuple):
    """A name in a paper, and ours.

    `paper`: the paper, as `graphveil.reproduce` calls it; `theirs, ours`: the two names; ours is an
    option, a function or a metric.
    """

    paper: str
    theirs: str
    ours: str


PAPER_NAMES = tuple(
    PaperName(paper, theirs, ours)
    for paper, names in {
        "smooth-anonymity": {
            "smooth": "smooth-k --algorithm facility",
            "non-smooth": "suppress-k --algorithm facility",
            "mondrian": "mondrian --split first",
            "randomized response, edge or node": "randomized-response --unit edge or node",
            "alpha, beta": "Facility(beta=2), alpha = 1/beta",
            "Jac., S.E., C.E.": "metrics entry-jaccard, entries-suppressed, entries-created",
            "Alg₂ of Section 5.3": "graphveil.methods.textbook.smooth_theorem.alg2",
            "bipartite stochastic block model": "gv.datasets.block_model",
        },
        "adaptive-anonymity": {
            "b-matching, Algorithm 1": "adaptive --compatibility bipartite",
            "b-symmetric, Algorithm 2": "adaptive --compatibility symmetric",
            "k-anonymity (agglomerative clustering)": "cluster-k --search plain",
            "the forest algorithm": "cluster-k --search forest",
            "δ, δᵢ": "levels",
            "δᵢ by the number of friends": "gv.levels_by_degree(graph, δ)",
            "ε from 2⁻¹ to 2⁻¹⁰": "schedule",
            "utility, 1 - #(*)/(nd)": "metric stars-added; cells-shown",
            "numbers cut at the median": "--bins all=median",
        },
        "top-m-filter": {
            "TmF, Algorithm 1": "top-m-filter --variant published, which claims nothing",
            "TmF without line 17": "top-m-filter, the default variant",
            "ε₁, ε₂": "epsilon less epsilon_count, and epsilon_count",
            "HRG-MCMC, DER": "hrg-mcmc, density-explore-reconstruct",
            "1K-series (future work)": "dp-1k, degree-prior-response",
            "S_AD, S_MD, S_DV": "metrics mean-degree, largest-degree, degree-variance",
            "S_PL, S_CC": "power-law, transitivity",
            "S_APD, S_EDiam": "shortest-path, effective-diameter",
            "S_CL, S_Diam": "characteristic-length, diameter",
            "S_DD, S_PDD": "degree-distribution, distance-distribution",
            "all eleven": "evaluate --metrics top-m-filter",
            "D(G, G̃)": "edge-edit-distance",
        },
        "anonymization-problem": {
            "es, degree, aff, unique, ua": "--heuristic es, degree, affected, unique, ua",
            "a variant of ua in the authors' program": "--heuristic ua-only",
            "full, partial, budgeted": "--goal full, partial:0.95, budget:0.05",
            "the subset variant (of Chester et al.)": "k-degree --people FILE",
            "degree, count, d-k-anonymity, vrq": "--measure degree, count, dk, vrq",
            "deletion, addition, rewiring": "--edits delete, add, rewire",
            "uniqueness U(G)": "graphveil measure: nodes in classes below k = 2",
            "recompute gap R": "--recompute-gap-edges",
            "heuristic P(e), measure M(v) of your own": "functions for gv.trajectory",
            "G_best": "what is released",
            "LCC, clustering": "metrics largest-component, clustering",
            "shortest path": "metric shortest-path",
            "centrality, community structure": "betweenness, communities",
            "ER, BA, WS": "gv.datasets.erdos_renyi, barabasi_albert, watts_strogatz",
        },
        "k-degree": {
            "dp_graph_anonymization": "graphveil.methods.textbook.dp_graph_anonymization",
            "greedy_rec_algorithm": "textbook.greedy_rec_algorithm",
            "ConstructGraph": "textbook.construct_graph",
            "Ê ∩ E = E, and ≈ E": "k-degree --edits add, and any",
            "Supergraph, Probing (of Liu and Terzi)": "textbook.supergraph, probing",
            "Priority, Greedy Swap (of Liu and Terzi)": "textbook.priority, greedy_swap",
            "L₁(d̂ - d), DA": "degree_change_optimum in the private record",
            "naive anonymization": "rename",
            "clustering of nodes": "super-nodes",
        },
    }.items()
    for theirs, ours in names.items()
)
"""Every name, in the order of the pages of the papers."""
