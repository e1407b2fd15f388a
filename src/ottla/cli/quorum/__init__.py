"""`ottla quorum`: the controllers of a cluster."""
