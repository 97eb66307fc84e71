"""Which node of one network is which of another: relaxations, candidates, assignments."""
