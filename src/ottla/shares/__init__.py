"""Share partitions (KIP-932): which record is delivered to which member of a share group.

`share_partition.py` is the state machine of a share group in one partition, on the partition's
leader; its state is made of the runs in `runs.py`. `state_batch.py` is the part of it that the
share coordinator stores.
"""
