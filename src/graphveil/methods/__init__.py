"""One module per published method."""
