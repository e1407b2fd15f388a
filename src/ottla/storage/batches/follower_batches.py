"""What a follower checks in the batches that it fetched before it appends them as they are.

The leader has checked the rest. Here it matters that nothing was damaged on the way, that the
offsets go on where this log ends (gaps are what compaction leaves), and that no batch is of a later
epoch than the leader that was asked. Who was a leader may cut its log and follow another while its
answer is on its way, and the answer then has what is in the file by now: that may not belong where
this log ends.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.model import Buffer, ErrorCode, KafkaError
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import iterate_batches, verify_crc
from ottla.wire.records.header import BatchHeader


class FollowerBatches(NamedTuple):
    """The whole batches at the beginning of what was fetched."""

    headers: list[BatchHeader]
    size: int


def check_batches(records: Buffer, *, leader_epoch: int, log_end_offset: int) -> FollowerBatches:
    """Raises CORRUPT_MESSAGE if the batches are damaged or out of order. Those of later epochs are
    not among what is returned, nor is anything behind them."""
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
