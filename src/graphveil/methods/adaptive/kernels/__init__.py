"""Rows of categories that are made to fit each other by suppressed cells."""
