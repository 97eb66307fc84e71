"""Checks of differential privacy: epsilon, where noise came from, and what it did."""
