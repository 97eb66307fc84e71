from graphveil.scale.engines.local import LocalEngine as LocalEngine
from graphveil.scale.engines.local import current as current
from graphveil.scale.engines.local import using as using
from graphveil.scale.engines.processes import Engine as Engine
from graphveil.scale.engines.processes import Tables as Tables
from graphveil.scale.engines.spark import SparkEngine as SparkEngine
