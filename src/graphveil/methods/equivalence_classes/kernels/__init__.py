"""Loops that put rows of tables together: masks, and cuts in two."""
