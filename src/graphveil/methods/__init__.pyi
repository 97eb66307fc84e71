# ruff: noqa: I001  methods stand in the order in which they are listed
# One line a method: its command is its class in kebab case, but for `OTHER_NAMES` of the registry.
from graphveil.methods.registry import METHODS as METHODS
from graphveil.methods.registry import register as register
from graphveil.methods.k_degree import KDegree as KDegree
from graphveil.methods.profile import Profile as Profile
from graphveil.methods.structural import StructuralAnonymity as StructuralAnonymity
from graphveil.methods.random_graphs.super_nodes import SuperNodes as SuperNodes
from graphveil.methods.smooth_k import SmoothK as SmoothK
from graphveil.methods.smooth_k import SuppressK as SuppressK
from graphveil.methods.mondrian import Mondrian as Mondrian
from graphveil.methods.generalize.method import Generalize as Generalize
from graphveil.methods.noisy_cells.randomized_response import (
    AsymmetricResponse as AsymmetricResponse,
)
from graphveil.methods.noisy_cells.prior_response import DegreePriorResponse as DegreePriorResponse
from graphveil.methods.noisy_cells.prior_response import MixingPriorResponse as MixingPriorResponse
from graphveil.methods.random_graphs.degree_triangle import (
    DegreeTriangleModel as DegreeTriangleModel,
)
from graphveil.methods.noisy_cells.randomized_response import (
    RandomizedResponse as RandomizedResponse,
)
from graphveil.methods.noisy_cells.top_m_filter import TopMFilter as TopMFilter
from graphveil.methods.random_graphs.baselines import OneKSeries as OneKSeries
from graphveil.methods.random_graphs.hrg import HrgMcmc as HrgMcmc
from graphveil.methods.random_graphs.der import (
    DensityExploreReconstruct as DensityExploreReconstruct,
)
from graphveil.methods.adaptive import Adaptive as Adaptive
from graphveil.methods.adaptive import ClusterK as ClusterK
from graphveil.methods.rename import Rename as Rename
