"""`ottla reassign`: moves partitions between brokers."""
