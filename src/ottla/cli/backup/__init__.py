"""`ottla backup`: copies a whole cluster into a directory while it serves."""
