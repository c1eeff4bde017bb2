"""What the texts of rules about single values share: the constants that they name, and how they are read."""
