"""graphveil: publish graphs and user-feature data about people, with promises that can be checked.

The way of the data::

    file -> read -> Graph | Bipartite | Table -> method.anonymize -> Release -> write -> folder
                                                  verify, evaluate <-------------------- |

Names are loaded when they are first used, so that importing the package is cheap.

Examples
--------
>>> import graphveil as gv
>>> graph = gv.Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "dan"])
>>> release = gv.KDegree(k=2).anonymize(graph)
>>> release.verify(graph).ok
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil._version import __version__ as __version__
from graphveil.lazy import lazy_names

if TYPE_CHECKING:
    from graphveil import datasets as datasets
    from graphveil.attacking import attack_release as attack_release
    from graphveil.attacks import ATTACKS as ATTACKS
    from graphveil.claims.guarantees import AdaptiveAnonymity as AdaptiveAnonymity
    from graphveil.claims.guarantees import EdgeDP as EdgeDP
    from graphveil.claims.guarantees import KAnonymity as KAnonymity
    from graphveil.claims.guarantees import NodeDP as NodeDP
    from graphveil.claims.guarantees import NotClaimed as NotClaimed
    from graphveil.claims.guarantees import SmoothKAnonymity as SmoothKAnonymity
    from graphveil.claims.guarantees import StructuralKAnonymity as StructuralKAnonymity
    from graphveil.data import Bipartite as Bipartite
    from graphveil.data import Graph as Graph
    from graphveil.data import Table as Table
    from graphveil.errors import GraphveilError as GraphveilError
    from graphveil.errors import GraphveilWarning as GraphveilWarning
    from graphveil.evaluate import METRICS as METRICS
    from graphveil.evaluate import evaluate as _evaluate
    from graphveil.io import read_bipartite as read_bipartite
    from graphveil.io import read_graph as read_graph
    from graphveil.io import read_table as read_table
    from graphveil.kernels.tiers import compile_at_once as compile_at_once
    from graphveil.measures import MEASURES as MEASURES
    from graphveil.measures import measure as measure
    from graphveil.methods import METHODS as METHODS
    from graphveil.methods import Adaptive as Adaptive
    from graphveil.methods import AsymmetricResponse as AsymmetricResponse
    from graphveil.methods import ClusterK as ClusterK
    from graphveil.methods import DegreePriorResponse as DegreePriorResponse
    from graphveil.methods import DensityExploreReconstruct as DensityExploreReconstruct
    from graphveil.methods import HrgMcmc as HrgMcmc
    from graphveil.methods import KDegree as KDegree
    from graphveil.methods import MixingPriorResponse as MixingPriorResponse
    from graphveil.methods import Mondrian as Mondrian
    from graphveil.methods import OneKSeries as OneKSeries
    from graphveil.methods import RandomizedResponse as RandomizedResponse
    from graphveil.methods import Rename as Rename
    from graphveil.methods import SmoothK as SmoothK
    from graphveil.methods import StructuralAnonymity as StructuralAnonymity
    from graphveil.methods import SuppressK as SuppressK
    from graphveil.methods import TopMFilter as TopMFilter
    from graphveil.methods.agreement import verify_release as verify_release
    from graphveil.methods.rename import Key as Key
    from graphveil.methods.smooth_k import Chunks as Chunks
    from graphveil.methods.smooth_k import Facility as Facility
    from graphveil.methods.smooth_k import Greedy as Greedy
    from graphveil.methods.smooth_k import LocalSearch as LocalSearch
    from graphveil.methods.structural import Budget as Budget
    from graphveil.methods.structural import Full as Full
    from graphveil.methods.structural import Partial as Partial
    from graphveil.records.ledger import Ledger as Ledger
    from graphveil.release import Release as Release
    from graphveil.release import read_release as read_release
    from graphveil.verbs.advise import advise as advise
    from graphveil.verbs.anonymize import anonymize as anonymize
    from graphveil.verbs.convert import convert as convert

    evaluate_release = _evaluate

_HOMES = {
    "ATTACKS": "graphveil.attacks",
    "Adaptive": "graphveil.methods",
    "AdaptiveAnonymity": "graphveil.claims.guarantees",
    "AsymmetricResponse": "graphveil.methods",
    "Bipartite": "graphveil.data",
    "Budget": "graphveil.methods.structural",
    "Chunks": "graphveil.methods.smooth_k",
    "ClusterK": "graphveil.methods",
    "DegreePriorResponse": "graphveil.methods",
    "DensityExploreReconstruct": "graphveil.methods",
    "EdgeDP": "graphveil.claims.guarantees",
    "Facility": "graphveil.methods.smooth_k",
    "Full": "graphveil.methods.structural",
    "Graph": "graphveil.data",
    "GraphveilError": "graphveil.errors",
    "GraphveilWarning": "graphveil.errors",
    "Greedy": "graphveil.methods.smooth_k",
    "HrgMcmc": "graphveil.methods",
    "KAnonymity": "graphveil.claims.guarantees",
    "KDegree": "graphveil.methods",
    "Key": "graphveil.methods.rename",
    "Ledger": "graphveil.records.ledger",
    "LocalSearch": "graphveil.methods.smooth_k",
    "MEASURES": "graphveil.measures",
    "METHODS": "graphveil.methods",
    "METRICS": "graphveil.evaluate",
    "MixingPriorResponse": "graphveil.methods",
    "Mondrian": "graphveil.methods",
    "NodeDP": "graphveil.claims.guarantees",
    "NotClaimed": "graphveil.claims.guarantees",
    "OneKSeries": "graphveil.methods",
    "Partial": "graphveil.methods.structural",
    "RandomizedResponse": "graphveil.methods",
    "Release": "graphveil.release",
    "Rename": "graphveil.methods",
    "SmoothK": "graphveil.methods",
    "SmoothKAnonymity": "graphveil.claims.guarantees",
    "StructuralAnonymity": "graphveil.methods",
    "StructuralKAnonymity": "graphveil.claims.guarantees",
    "SuppressK": "graphveil.methods",
    "Table": "graphveil.data",
    "TopMFilter": "graphveil.methods",
    "__version__": "graphveil._version",
    "advise": "graphveil.verbs.advise",
    "anonymize": "graphveil.verbs.anonymize",
    "attack_release": "graphveil.attacking",
    "compile_at_once": "graphveil.kernels.tiers",
    "convert": "graphveil.verbs.convert",
    "datasets": "graphveil.datasets:",
    "evaluate_release": "graphveil.evaluate:evaluate",
    "measure": "graphveil.measures",
    "read_bipartite": "graphveil.io",
    "read_graph": "graphveil.io",
    "read_release": "graphveil.release",
    "read_table": "graphveil.io",
    "verify_release": "graphveil.methods.agreement",
}
"""Where every public name is defined; the imports above say the same to type checkers."""

__all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
