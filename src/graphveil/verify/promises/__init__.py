"""The checks of guarantees and conditions, a module per subject; `verify.registry` lists them."""
