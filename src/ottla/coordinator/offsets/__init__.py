"""The offsets of groups: committing, fetching, deleting and expiring them."""
