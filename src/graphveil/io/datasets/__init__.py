"""Small data that ships with the package, and a loader for larger public sets.

`load` reads what ships; `fetch` downloads a larger set once and checks it. `BY_PAPER` has the data
of the papers under the papers' names; `block_model` and others draw from the papers' models.
"""

from graphveil.io.datasets.generated import (
    barabasi_albert,
    block_model,
    erdos_renyi,
    generated_register,
    watts_strogatz,
)
from graphveil.io.datasets.sets import (
    BY_PAPER,
    DATASETS,
    LARGER,
    PAPERS,
    LargerSet,
    PaperData,
    ShippedSet,
    fetch,
    found_in,
    load,
    names,
    path_of,
)

__all__ = [
    "BY_PAPER",
    "DATASETS",
    "LARGER",
    "PAPERS",
    "LargerSet",
    "PaperData",
    "ShippedSet",
    "barabasi_albert",
    "block_model",
    "erdos_renyi",
    "fetch",
    "found_in",
    "generated_register",
    "load",
    "names",
    "path_of",
    "watts_strogatz",
]
