"""The heuristic target: nodes are pulled towards codes that others share."""
