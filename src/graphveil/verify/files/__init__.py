"""Released files loaded by code of the checker's own."""
