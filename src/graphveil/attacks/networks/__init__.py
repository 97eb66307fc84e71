"""Attacks on released networks: by what is known of one person, or of all the edges."""
