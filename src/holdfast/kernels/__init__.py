"""Numba kernels: arrays in, arrays out. Nothing else in the product imports Numba."""
