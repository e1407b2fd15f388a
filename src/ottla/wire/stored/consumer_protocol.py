"""The consumers' subscription and assignment, which the group coordinator stores as opaque bytes.

Each is preceded by its version in two bytes. Version 1 has the owned partitions (KIP-429), 2 the
generation (KIP-792), 3 the rack (KIP-881).
"""

from __future__ import annotations

from ottla.wire.schema import Bytes, Int32, Message, String, Struct, field


class TopicPartition(Struct):
    topic: String = ""
    partitions: list[Int32] = field(factory=list)


class ConsumerProtocolSubscription(Message, versions="0-3"):
    topics: list[String] = field(factory=list)
    user_data: Bytes | None = None
    owned_partitions: list[TopicPartition] = field(factory=list, versions="1+")
    generation_id: Int32 = field(default=-1, versions="2+")
    rack_id: String | None = field(default=None, versions="3+")


class ConsumerProtocolAssignment(Message, versions="0-3"):
    assigned_partitions: list[TopicPartition] = field(factory=list)
    user_data: Bytes | None = None
