"""`ottla shares`: share groups."""
