"""What is stated of a release, as data: guarantees, conditions, manifest, record, ledger."""
