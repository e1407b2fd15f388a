"""Membership of the consumer protocol (KIP-848): heartbeats carry the assignment."""
