"""Delimited text: its dialect, its first rows, columns of ids, cells of tables."""
