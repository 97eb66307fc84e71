"""New ids in a new order and nothing else; with a key, the same new ids in several files."""

from graphveil.methods.rename.key import Key
from graphveil.methods.rename.method import Rename

__all__ = ["Key", "Rename"]
