"""A copy of the network, what it says apart from edges, and how many people it names."""
