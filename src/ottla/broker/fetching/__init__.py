"""Fetch requests of consumers and followers."""
