"""A node: its listeners, its request handlers and its background work."""
