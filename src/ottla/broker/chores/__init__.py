"""Periodic background work of a node: retention, flushes, compaction."""
