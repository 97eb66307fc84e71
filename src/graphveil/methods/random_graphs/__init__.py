"""Methods that draw a graph from noisy statistics; most are baselines."""
