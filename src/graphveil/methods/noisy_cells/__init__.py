"""Methods that publish each cell under noise: randomized response, Top-m Filter, priors."""
