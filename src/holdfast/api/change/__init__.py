"""Changes of what a state watches: its rules, classes and flags, the columns of its tables, and its tables."""
