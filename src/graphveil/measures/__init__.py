"""Structural measures: which nodes look alike to someone who knows a little of the network."""

from __future__ import annotations

from graphveil.measures.background_knowledge import finer
from graphveil.measures.cascading import Cascade, cascade
from graphveil.measures.fuzziness import candidate_set_sizes
from graphveil.measures.measuring import check_parameters, measure
from graphveil.measures.multisets import twins
from graphveil.measures.partitions import Partition, class_sizes_of_nodes, divided, partition
from graphveil.measures.registry import MEASURES, Measure
from graphveil.measures.risk import EqualRows, EquivalenceClasses, Fuzzy, Identifiability
from graphveil.measures.rows import equal_rows
from graphveil.measures.single_out import SingledOut, singled_out

__all__ = [
    "MEASURES",
    "Cascade",
    "EqualRows",
    "EquivalenceClasses",
    "Fuzzy",
    "Identifiability",
    "Measure",
    "Partition",
    "SingledOut",
    "candidate_set_sizes",
    "cascade",
    "check_parameters",
    "class_sizes_of_nodes",
    "divided",
    "equal_rows",
    "finer",
    "measure",
    "partition",
    "singled_out",
    "twins",
]
