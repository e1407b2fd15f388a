"""The state of a partition's producers, as stored in `.snapshot` files.

It is preceded by its version in two bytes. `crc` covers everything after itself.
"""

from __future__ import annotations

from ottla.wire.schema import Int16, Int32, Int64, Message, Struct, Uint32, field


class ProducerEntry(Struct):
    producer_id: Int64 = 0
    epoch: Int16 = 0
    last_sequence: Int32 = 0
    last_offset: Int64 = 0
    offset_delta: Int32 = 0
    timestamp: Int64 = 0
    coordinator_epoch: Int32 = 0
    current_txn_first_offset: Int64 = 0


class ProducerSnapshot(Message, versions="1"):
    crc: Uint32 = 0
    producer_entries: list[ProducerEntry] = field(factory=list)
