"""Classic groups: members join, and their leader assigns partitions (KIP-62, KIP-345, KIP-394)."""
