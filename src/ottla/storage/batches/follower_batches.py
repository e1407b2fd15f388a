"""Checks the batches that a follower fetched before it appends them unchanged.

The leader has checked everything else. A follower checks that the bytes were not damaged on the
way, that the offsets continue at its log end offset (compaction leaves gaps), and that no batch has
a later epoch than the leader it fetched from. A former leader may truncate its log and follow a new
leader while its response is on its way. The response then contains the newer bytes of the file,
which may not fit this log.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.model import Buffer, ErrorCode, KafkaError
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import iterate_batches, verify_crc
from ottla.wire.records.header import BatchHeader


class FollowerBatches(NamedTuple):
    """The complete batches at the beginning of the fetched bytes."""

    headers: list[BatchHeader]
    size: int


def check_batches(records: Buffer, *, leader_epoch: int, log_end_offset: int) -> FollowerBatches:
    """Raises CORRUPT_MESSAGE if the batches are damaged or out of order. Stops before the first
    batch of a later epoch."""
    headers: list[BatchHeader] = []
    size = 0
    try:
        for position, header in iterate_batches(records):
            if header.leader_epoch > leader_epoch:
                break
            verify_crc(records, position, header)
            if header.base_offset < log_end_offset:
                raise ProtocolError(
                    f"offset {header.base_offset} follows offset {log_end_offset - 1}"
                )
            log_end_offset = header.next_offset
            size = position + header.size_in_bytes
            headers.append(header)
    except ProtocolError as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, str(error)) from error
    return FollowerBatches(headers, size)
