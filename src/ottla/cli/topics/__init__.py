"""`ottla topics`: topics and their partitions."""
