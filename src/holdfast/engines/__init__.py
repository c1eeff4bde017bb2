"""One folder for each class of rules, the contract that all of them keep, and the registry that names them."""
