from graphveil.on_disk.run import anonymize_file as anonymize_file
