"""Loops of k-degree anonymity: degree sequences, and edge edits that realize them."""
