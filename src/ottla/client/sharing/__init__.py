"""The consumer of share groups (KIP-932): records as a queue, acknowledged one by one."""
