"""Compiled loops: arrays in, arrays out; the only folder that imports Numba."""
