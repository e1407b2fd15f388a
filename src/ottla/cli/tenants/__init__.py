"""`ottla tenants`: clusters of their own within a cluster."""
