"""Control records of a log: the key, which tells the type, and the end of a transaction (KIP-98).

The version of each stands before it as two bytes.
"""

from __future__ import annotations

from ottla.wire.schema import Int16, Int32, Message


class ControlRecordTypeSchema(Message, versions="0"):
    type: Int16 = 0


class EndTxnMarker(Message, versions="0"):
    coordinator_epoch: Int32 = 0
