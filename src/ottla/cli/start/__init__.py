"""`ottla start`: runs a node."""
