"""Committed offsets in `__consumer_offsets`.

Version 1 has an expiry, which version 2 leaves to the broker (KIP-211). 3 has the leader epoch
(KIP-320), 4 the topic id. Brokers before 0.9 wrote the legacy pair.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Int32, Int64, Message, String, Uuid, field


class OffsetCommitKey(Message, api_key=1, versions="0"):
    group: String = ""
    topic: String = ""
    partition: Int32 = 0


class OffsetCommitValue(Message, api_key=1, versions="0-4", flexible="4+"):
    offset: Int64 = 0
    leader_epoch: Int32 = field(default=-1, versions="3+")
    metadata: String = ""
    commit_timestamp: Int64 = 0
    expire_timestamp: Int64 = field(default=-1, versions="1")
    topic_id: Uuid = field(default=ZERO_UUID, versions="4+", tag=0)


class LegacyOffsetCommitKey(Message, api_key=0, versions="0"):
    group: String = ""
    topic: String = ""
    partition: Int32 = 0


class LegacyOffsetCommitValue(Message, api_key=0, versions="0"):
    offset: Int64 = 0
    metadata: String = ""
    commit_timestamp: Int64 = 0
