"""What is recomputed of released data: equal rows, look-alikes, shapes."""
