"""Pairs of rows by comparisons: is there one, which is the first, which are all, how many; maintained under changes."""
