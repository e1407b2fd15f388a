"""`ottla top`: throughput, latency, load and lag of a cluster, live.

`scrape.py` reads a node's metrics page, `samples.py` parses it, `node_load.py` and `traffic.py`
compare two samples, `sources.py` finds the nodes, `view.py` shows the result.
"""
