"""Kernels of attacks: no method uses them."""
