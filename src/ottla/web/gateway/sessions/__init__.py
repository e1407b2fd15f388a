"""Sessions of consumers: each is one member of a group, which requests come back to."""
