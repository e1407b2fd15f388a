"""Partitions on a node: leading, following, and who waits for what."""
