"""Tenants: clusters of their own within a cluster, by prefixes that their clients do not see."""
