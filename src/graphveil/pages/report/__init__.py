"""Pages that a person can hand on: made of rows, of a verdict and of a manifest.

Nothing here measures, attacks or verifies: the verb does, and hands over what it came to.
"""
