"""Appends that wait, and batches that are opened first."""
