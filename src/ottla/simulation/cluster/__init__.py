"""A cluster in a world, operated and observed."""
