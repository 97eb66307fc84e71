"""What all folders use: errors, warnings, progress, randomness, parameters, rows, storage."""
