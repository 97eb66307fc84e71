"""The verbs: each is one function of plain values, which the command line and Python call alike.

A verb takes data, objects of other libraries, or paths; it returns values or rows, writes what it
says that it writes, warns through `graphveil.core.errors.warn`, raises our errors and prints
nothing.
"""
