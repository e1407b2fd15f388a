"""The leader epochs of a log."""
