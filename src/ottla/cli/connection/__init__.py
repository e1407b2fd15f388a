"""How commands reach a cluster, and what they say when they cannot."""
