"""Inclusion dependencies: attribute clusters across tables, and the foreign keys that nobody wrote down."""
