"""Rule files: the rules that people write, by name, for one table or several."""
