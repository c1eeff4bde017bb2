"""Changes of what a state watches: its rules, classes and marks, the columns of its tables, and its tables."""
