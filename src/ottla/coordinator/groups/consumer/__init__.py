"""Groups of the consumer protocol: the coordinator assigns, members reconcile (KIP-848)."""
