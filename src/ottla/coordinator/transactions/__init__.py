"""The transaction coordinator: a state machine over the partitions of `__transaction_state`."""
