"""Classic groups: members join, one of them assigns, all are told (KIP-62, KIP-345, KIP-394)."""
