"""The coordinator runtime: a request returns records and a response, the records are appended to
a partition that this node leads, and the response is sent when they are committed.

    made ──load batches──▶ loading ──finish_loading──▶ active ──close──▶ closed

A coordinator's state is its partition's log, replayed when the node becomes the leader and dropped
when it stops leading. Appended records are applied to the state at once, before they are committed.
Each response waits until all records that it may depend on are committed, so a failover never
reverts a state that a response has shown.
"""
