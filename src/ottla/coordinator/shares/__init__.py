"""The share coordinator: a state machine over the partitions of `__share_group_state` (KIP-932)."""
