"""`ottla bench`: the throughput and latency of a cluster."""
