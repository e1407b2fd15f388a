"""Held records of a partition by due time: a queue that may be larger than memory."""
