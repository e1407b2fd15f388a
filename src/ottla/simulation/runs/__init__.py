"""Runs single seeds, sweeps many of them, and shrinks failing plans."""
