"""Intake: whatever holds data (files, tables of other libraries, DataFrames) becomes staged rows for a table."""
