"""The network between simulated hosts."""
