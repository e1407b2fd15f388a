"""`ottla apply`: makes a cluster what a file says."""
