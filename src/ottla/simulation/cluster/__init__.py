"""A simulated cluster, its operations and its invariant checker."""
