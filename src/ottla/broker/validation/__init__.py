"""Checks the keys and values of records against the schemas of a registry."""
