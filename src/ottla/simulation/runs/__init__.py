"""Seeds played from beginning to end, many of them, and shrunk when they fail."""
