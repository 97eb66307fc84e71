"""What methods share that publish classes of equal rows."""
