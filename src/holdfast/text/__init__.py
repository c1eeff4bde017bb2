"""Words: names and texts in quotes, and how rows are called."""
