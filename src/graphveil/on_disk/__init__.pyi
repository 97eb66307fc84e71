from graphveil.on_disk.run import anonymize_file as anonymize_file
from graphveil.on_disk.ties.run import anonymize_ties as anonymize_ties
