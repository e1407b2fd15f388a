"""`ottla cluster`: a cluster of several nodes on this host."""
