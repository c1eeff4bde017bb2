"""Data to try Holdfast with, made on the spot: no files, no network."""
