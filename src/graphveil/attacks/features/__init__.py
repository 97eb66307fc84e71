"""Attacks on users by features: whose row is whose, who took part, and what a class tells."""
