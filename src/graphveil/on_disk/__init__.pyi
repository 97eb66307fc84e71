from graphveil.on_disk.run import anonymize_file as anonymize_file
from graphveil.on_disk.run import anonymize_frame as anonymize_frame
from graphveil.on_disk.ties.reading import graph_on_disk as graph_on_disk
from graphveil.on_disk.ties.run import anonymize_ties as anonymize_ties
