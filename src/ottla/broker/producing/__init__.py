"""Produce requests: validation, append, and waiting for acknowledgement."""
