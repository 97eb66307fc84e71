"""A release as cells of equivalence classes, and attacks on the cells that it suppresses."""
