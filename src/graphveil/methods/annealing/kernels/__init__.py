"""Loops of structural anonymity: classes under edits, and searches over edits."""
