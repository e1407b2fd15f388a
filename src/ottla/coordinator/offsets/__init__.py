"""How far groups have come: committing, fetching, deleting and expiring offsets."""
