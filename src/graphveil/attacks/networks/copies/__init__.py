"""A copy of the network next to a release, what it says apart from edges, and whom it names."""
