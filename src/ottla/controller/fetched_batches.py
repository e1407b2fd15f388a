"""Validation of batches fetched from another replica."""

from __future__ import annotations

from ottla.wire.messages.fetch import FetchResponse
from ottla.wire.records.batch import iterate_batches, verify_crc
from ottla.wire.schema import Message


def require_sound(response: Message) -> None:
    """Raises ProtocolError for fetched batches that are incomplete or fail their CRC check."""
    if not isinstance(response, FetchResponse):
        return
    for topic in response.responses:
        for partition in topic.partitions:
            records = memoryview(partition.records or b"")
            for position, header in iterate_batches(records, strict=True):
                verify_crc(records, position, header)
