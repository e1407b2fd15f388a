"""Share groups (KIP-932): members, assignments, and the state of their partitions."""
