"""Records of `__share_group_state`: a share group's progress in a partition (KIP-932).

A snapshot contains the whole state, an update the changes since.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Int8, Int16, Int32, Int64, Message, String, Struct, Uuid, field


class ShareSnapshotKey(Message, api_key=0, versions="0"):
    group_id: String = ""
    topic_id: Uuid = ZERO_UUID
    partition: Int32 = 0


class StateBatch(Struct):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    delivery_state: Int8 = 0
    delivery_count: Int16 = 0


class ShareSnapshotValue(Message, api_key=0, versions="0", flexible="0+"):
    snapshot_epoch: Int32 = 0
    state_epoch: Int32 = 0
    leader_epoch: Int32 = 0
    start_offset: Int64 = 0
    delivery_complete_count: Int32 = field(default=-1, tag=0)
    create_timestamp: Int64 = 0
    write_timestamp: Int64 = 0
    state_batches: list[StateBatch] = field(factory=list)


class ShareUpdateKey(Message, api_key=1, versions="0"):
    group_id: String = ""
    topic_id: Uuid = ZERO_UUID
    partition: Int32 = 0


class ShareUpdateValue(Message, api_key=1, versions="0", flexible="0+"):
    snapshot_epoch: Int32 = 0
    leader_epoch: Int32 = 0
    start_offset: Int64 = 0
    delivery_complete_count: Int32 = field(default=-1, tag=0)
    state_batches: list[StateBatch] = field(factory=list)
