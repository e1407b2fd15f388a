"""`ottla gateway`: HTTP in front of a cluster."""
