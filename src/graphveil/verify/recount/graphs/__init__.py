"""Counting over graphs: degrees, neighborhoods, classes of nodes, edges of both sides."""
