"""Distinct types for ids and counters, so that a node id cannot be passed as an epoch."""

from __future__ import annotations

from typing import NewType

NodeId = NewType("NodeId", int)
Offset = NewType("Offset", int)
LeaderEpoch = NewType("LeaderEpoch", int)
ProducerId = NewType("ProducerId", int)
ProducerEpoch = NewType("ProducerEpoch", int)
TimestampMs = NewType("TimestampMs", int)

NO_LEADER_EPOCH = LeaderEpoch(-1)
NO_PRODUCER_ID = ProducerId(-1)
# Ids from here on are never allocated. A node derives them from what it writes, to write it once.
ONE_TIME_PRODUCER_ID_MIN = ProducerId(1 << 62)
NO_PRODUCER_EPOCH = ProducerEpoch(-1)
NO_SEQUENCE = -1
NO_TIMESTAMP = TimestampMs(-1)
