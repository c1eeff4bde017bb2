"""Data to try Holdfast with, made on the spot: no files, no network."""

from holdfast.demo.tax import make_tax, write_csv

__all__ = ["make_tax", "write_csv"]
