"""Where a release lies: in a folder of this machine, or at an address of another store."""
