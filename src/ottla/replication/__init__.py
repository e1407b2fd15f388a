"""Partitions on a node: leading, following, and waiting requests."""
