"""The verbs: functions of plain values, which the command line and Python both call.

They write what they say that they write, warn through `graphveil.core.warning_channel.warn`, raise
our errors and print nothing.
"""
