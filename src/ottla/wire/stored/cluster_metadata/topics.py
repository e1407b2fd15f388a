"""Topics and the state of their partitions.

A change record contains only the changed fields, as tagged fields: unchanged fields are null, or -2
for the leader. Version 1 has directories (KIP-858), 2 eligible leader replicas (KIP-966).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Int8, Int32, Message, String, Uuid, field


class TopicRecord(Message, api_key=2, versions="0", flexible="0+"):
    name: String = ""
    topic_id: Uuid = ZERO_UUID


class RemoveTopicRecord(Message, api_key=9, versions="0", flexible="0+"):
    topic_id: Uuid = ZERO_UUID


class PartitionRecord(Message, api_key=3, versions="0-2", flexible="0+"):
    partition_id: Int32 = -1
    topic_id: Uuid = ZERO_UUID
    replicas: list[Int32] = field(factory=list)
    isr: list[Int32] = field(factory=list)
    removing_replicas: list[Int32] = field(factory=list)
    adding_replicas: list[Int32] = field(factory=list)
    leader: Int32 = -1
    leader_recovery_state: Int8 = field(default=0, tag=0)
    leader_epoch: Int32 = -1
    partition_epoch: Int32 = -1
    directories: list[Uuid] = field(factory=list, versions="1+")
    eligible_leader_replicas: list[Int32] | None = field(default=None, versions="2+", tag=1)
    last_known_elr: list[Int32] | None = field(default=None, versions="2+", tag=2)


class PartitionChangeRecord(Message, api_key=5, versions="0-2", flexible="0+"):
    partition_id: Int32 = -1
    topic_id: Uuid = ZERO_UUID
    isr: list[Int32] | None = field(default=None, tag=0)
    leader: Int32 = field(default=-2, tag=1)
    replicas: list[Int32] | None = field(default=None, tag=2)
    removing_replicas: list[Int32] | None = field(default=None, tag=3)
    adding_replicas: list[Int32] | None = field(default=None, tag=4)
    leader_recovery_state: Int8 = field(default=-1, tag=5)
    directories: list[Uuid] | None = field(default=None, versions="1+", tag=8)
    eligible_leader_replicas: list[Int32] | None = field(default=None, versions="2+", tag=6)
    last_known_elr: list[Int32] | None = field(default=None, versions="2+", tag=7)


class ClearElrRecord(Message, api_key=28, versions="0", flexible="0+"):
    topic_name: String = ""
