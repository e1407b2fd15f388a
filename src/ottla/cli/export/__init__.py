"""`ottla export`: a cluster's state as the file of `ottla apply`."""
