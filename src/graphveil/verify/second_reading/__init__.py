"""The original's file read a second time: of edges and entries, and of tables."""
