"""Where the work is done: chunks over processes, sorting past memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.lazy import lazy_names

if TYPE_CHECKING:
    from graphveil.engines.engine import Engine as Engine
    from graphveil.engines.in_use import current as current
    from graphveil.engines.in_use import using as using
    from graphveil.engines.local import LocalEngine as LocalEngine

_HOMES = {
    "Engine": "graphveil.engines.engine",
    "LocalEngine": "graphveil.engines.local",
    "current": "graphveil.engines.in_use",
    "using": "graphveil.engines.in_use",
}

__all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
