from graphveil.methods.textbook.graph_constructions import construct_graph as construct_graph
from graphveil.methods.textbook.graph_constructions import (
    dp_graph_anonymization as dp_graph_anonymization,
)
from graphveil.methods.textbook.graph_constructions import (
    greedy_rec_algorithm as greedy_rec_algorithm,
)
from graphveil.methods.textbook.graph_constructions import greedy_swap as greedy_swap
from graphveil.methods.textbook.graph_constructions import priority as priority
from graphveil.methods.textbook.graph_constructions import probing as probing
from graphveil.methods.textbook.graph_constructions import supergraph as supergraph
