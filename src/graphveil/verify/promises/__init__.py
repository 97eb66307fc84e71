"""What is claimed, checked again: one entry for each type of guarantee and of condition."""
