"""A node inside a test."""
