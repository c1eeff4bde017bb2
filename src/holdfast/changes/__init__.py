"""Batches and diffs: the algebra of change."""
