"""Rows as answers: what was found, by question, with one figure and its unit, in words of readers.

Pure functions from rows (or a verdict, or a record) to lines; the command line prints them, and
every page that a person reads can be made from them. They round, and keep nothing back: rows hold
all figures.
"""
