"""The log of a coordinator, as its partition has it."""

from typing import Any

from ottla.broker.coordinators.partition_log import PartitionLog
from tests.support.replication.replicas import Leader


def test_what_is_committed_stays_so_when_replicas_become_too_few() -> None:
    leader = Leader(isr=(1, 2, 3))
    leader.partition.set_min_insync_replicas(2)
    unused: Any = None
    log = PartitionLog(unused, unused, leader.partition)
    leader.append(2)
    for node_id in (2, 3):
        leader.fetch(node_id, 1)
    assert [log.is_committed(end) for end in (0, 1, 2)] == [True, True, False]
    leader.become(isr=(1,), partition_epoch=9)
    assert leader.partition.is_under_min_isr
    assert [log.is_committed(end) for end in (0, 1, 2)] == [True, True, False]
