"""Advice on clauses of queries, from the rules that hold: redundant columns, and other orders that serve."""
