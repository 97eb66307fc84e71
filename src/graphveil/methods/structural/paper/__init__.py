"""The paper's heuristics: edits drawn in batches, by weights that only recounts renew."""
