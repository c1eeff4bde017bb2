"""Durable state: SQLite for facts and commits, immutable segment files for bulk."""
