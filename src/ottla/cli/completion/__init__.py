"""`ottla completion`: completion scripts of shells."""
