"""The present state of a cluster, as far as `ottla apply` and `ottla export` know it."""
