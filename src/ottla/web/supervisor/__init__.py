"""The supervisor of pipelines: runs them as child processes, shares them with other supervisors,
and serves a REST API.

model/      values, the life cycle of a pipeline and the rules for checkpoints, without I/O
storing/    the compacted topic with the state, and its fenced writers
running/    children, shards of pipelines, and the member of the group that owns shards
api/        routes in the shape of Kafka Connect's
"""
