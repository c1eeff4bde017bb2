"""Ranking: one order for the likely rules of all classes, each thing once."""
