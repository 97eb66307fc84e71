from graphveil.scale.ties.reading import graph_on_disk as graph_on_disk
from graphveil.scale.ties.run import anonymize_ties as anonymize_ties
