"""A module for each family of formats, which reads and writes it; FORMATS names them."""
