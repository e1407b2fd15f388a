"""Quotas of clients and addresses, as a node enforces them."""
