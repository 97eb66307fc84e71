"""The version, in one place."""

__version__ = "0.1.0"

VERSIONS = (__version__,)
"""Every version of which releases verify: whoever makes a new one adds it to those before."""
