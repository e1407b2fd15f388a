"""Control records of a log: the key with the type, and the transaction marker (KIP-98).

Each is preceded by its version in two bytes.
"""

from __future__ import annotations

from ottla.wire.schema import Int16, Int32, Message


class ControlRecordTypeSchema(Message, versions="0"):
    type: Int16 = 0


class EndTxnMarker(Message, versions="0"):
    coordinator_epoch: Int32 = 0
