"""Membership of the classic protocol: JoinGroup, SyncGroup, Heartbeat."""
