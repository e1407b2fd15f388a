"""A disk in memory that crashes, tears, rots, fills up and fails."""
