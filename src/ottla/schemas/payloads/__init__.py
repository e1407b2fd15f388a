"""Checks the bytes of records against their schemas. Runs in worker processes."""
