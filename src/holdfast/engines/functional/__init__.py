"""Keys and functional dependencies, exact and approximate, from the agree-sets of a table's row pairs."""
