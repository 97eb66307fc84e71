"""What lies in a folder: the public manifest and the owner's record."""
