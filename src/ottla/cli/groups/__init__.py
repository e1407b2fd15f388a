"""`ottla groups`: consumer groups."""
