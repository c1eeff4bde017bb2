"""One order for the likely rules of all classes, each thing said once."""
