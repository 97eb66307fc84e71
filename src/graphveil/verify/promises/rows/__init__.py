"""Checks of guarantees and conditions on rows: of user-item data and of tables."""
