"""What the checker knows of each kind of data: a module a kind, named by its entry in `KINDS`."""
