"""Small data that ships with the package, and a loader for larger public sets.

`load` reads what ships; `fetch` downloads a larger set once and checks it; `DATASETS` and `LARGER`
say what there is, from whom, and under which license. `generated_register` makes up a network with
attributes and three kinds of ties.
"""

from graphveil.io.datasets.generated import generated_register
from graphveil.io.datasets.larger import LARGER, LargerSet, fetch
from graphveil.io.datasets.shipped import DATASETS, ShippedSet, load, names, path_of

__all__ = [
    "DATASETS",
    "LARGER",
    "LargerSet",
    "ShippedSet",
    "fetch",
    "generated_register",
    "load",
    "names",
    "path_of",
]
