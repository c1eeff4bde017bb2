"""Pointwise order dependencies: which comparisons of two rows imply which others."""
