"""Advice on queries from the rules that hold: which columns of a clause are redundant, and which orders serve it."""
