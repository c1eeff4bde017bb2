"""Holdfast: which rules hold in your data, which just broke, and because of which rows."""
