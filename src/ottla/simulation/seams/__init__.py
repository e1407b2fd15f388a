"""Virtual time, event loops that run on it, and seeded random numbers."""
