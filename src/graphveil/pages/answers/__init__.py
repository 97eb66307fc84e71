"""Rows as answers: what was found, by question, with one figure and its unit."""
