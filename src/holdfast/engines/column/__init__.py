"""Column facts: the smallest engine. Rows, nulls, distinct values, extremes and frequent values of each column."""
