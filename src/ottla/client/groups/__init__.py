"""A consumer as a member of a group: both protocols, the assignors and the offsets."""
