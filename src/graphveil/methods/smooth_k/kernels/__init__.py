"""Loops that put rows together: facility location, growth, local search, nesting, orders."""
