"""What runs: children, the pipelines of a shard, and the member of the group.

child.py              a pipeline's process; `Children` is what starts them, and has a fake in tests
child_process.py      the real ones
owned_pipeline.py     carries out the life cycle of one pipeline
shard.py              all pipelines of a partition, from its assignment until it is revoked
shard_members.py      the member of the group, and the shards that it owns
"""
