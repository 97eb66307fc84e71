from graphveil.engines.local import LocalEngine as LocalEngine
from graphveil.engines.local import current as current
from graphveil.engines.local import using as using
from graphveil.engines.processes import Engine as Engine
from graphveil.engines.processes import Tables as Tables
from graphveil.engines.spark import SparkEngine as SparkEngine
