"""Claims: the properties that every history must have."""
