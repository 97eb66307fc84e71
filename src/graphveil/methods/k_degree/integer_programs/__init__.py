"""Integer programs of k-degree anonymity: a bound on the edits, and fewer edits."""
