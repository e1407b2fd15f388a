"""Groups of the consumer protocol: the coordinator assigns, members follow one by one (KIP-848)."""
