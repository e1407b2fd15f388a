"""The producer state of a partition, for idempotence and transactions."""
