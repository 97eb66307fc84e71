"""Structural measures: which nodes or rows an attacker who knows a little cannot distinguish.

`measure` is the one entry for any data. It returns equivalence classes (`EquivalenceClasses` and
its kinds) with the shares of people who are unique or unprotected. The measures themselves are in
`MEASURES`. Everything here describes data as it is; nothing changes or releases it.
"""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
