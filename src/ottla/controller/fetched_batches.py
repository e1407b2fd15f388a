"""What another replica sent, looked at before anything is made of it."""

from __future__ import annotations

from ottla.wire.messages.fetch import FetchResponse
from ottla.wire.records.batch import iterate_batches, verify_crc
from ottla.wire.schema import Message


def require_sound(response: Message) -> None:
    """Raises ProtocolError for fetched batches that are not whole."""
    if not isinstance(response, FetchResponse):
        return
    for topic in response.responses:
        for partition in topic.partitions:
            records = memoryview(partition.records or b"")
            for position, header in iterate_batches(records, strict=True):
                verify_crc(records, position, header)
