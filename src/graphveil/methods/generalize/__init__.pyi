from graphveil.methods.generalize.frames import GeneralizedTable as GeneralizedTable
from graphveil.methods.generalize.frames import generalize as generalize
from graphveil.methods.generalize.hierarchy import Hierarchy as Hierarchy
from graphveil.methods.generalize.hierarchy import read_levels as read_levels
