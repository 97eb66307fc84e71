"""What can be said of a release, as data: guarantees and conditions."""
