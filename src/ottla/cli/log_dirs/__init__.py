"""`ottla log-dirs`: log directories and the replicas in them."""
