from graphveil.engines.engine import Engine as Engine
from graphveil.engines.in_use import current as current
from graphveil.engines.in_use import using as using
from graphveil.engines.local import LocalEngine as LocalEngine
