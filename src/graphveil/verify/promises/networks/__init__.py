"""Checks of guarantees and conditions on nodes and edges."""
