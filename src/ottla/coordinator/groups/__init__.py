"""Groups: their members, and the partitions assigned to each member."""
