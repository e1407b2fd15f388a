"""What runs a coordinator: a request returns records and a response, the records are appended to
a partition that this node leads, and the response leaves when they are committed.

    made ──load batches──▶ loading ──finish_loading──▶ active ──close──▶ closed

A coordinator's state is what its partition's log says: it is replayed when the node becomes the
leader and dropped when it is not any more. What is appended is applied at once, before it is
committed, and everything that is answered waits until all that it may have seen is committed; so
nobody is ever told something that a failover takes back.
"""
