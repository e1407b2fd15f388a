"""A node: what listens, what answers, and what runs in between."""
