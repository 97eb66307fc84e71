"""Compiled loops: arrays in, arrays out; the only folder that imports Numba.

Kernels let go of the interpreter lock, so that a progress bar moves while they run.
"""

from graphveil.kernels.cache import use_own_folder

use_own_folder()
