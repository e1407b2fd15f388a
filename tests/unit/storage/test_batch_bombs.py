"""Small batches that would be large once they are opened."""

from __future__ import annotations

import struct

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.storage.leader_batch import Origin, check_batch, settle_batch
from ottla.storage.log_config import LogConfig
from ottla.wire.records.batch import compute_crc
from ottla.wire.records.builder import seal_batch
from ottla.wire.records.compression import Codec, compress
from ottla.wire.records.header import ATTRIBUTES_AT, CRC_AT, read_header
from tests.batches import batch_of

NOW_MS = 1_000
LIMIT = 10_000
COMPACTED = LogConfig(max_message_bytes=LIMIT, compact=True)
RECOMPRESSED = LogConfig(max_message_bytes=LIMIT, compression_type=Codec.SNAPPY)
PLAIN = LogConfig(max_message_bytes=LIMIT)
# The smallest record that has a key, with its size first.
RECORD = bytes((12, 0, 0, 0, 0, 0, 0))


def batch_around(body: bytes, *, count: int = 1) -> bytes:
    """A batch of whatever is said to be so many records in gzip, its checksum right."""
    header = read_header(batch_of(b"value"))
    batch = seal_batch(
        header._replace(record_count=count, last_offset_delta=count - 1),
        compress(Codec.GZIP, body, level=9),
    )
    struct.pack_into(">h", batch, ATTRIBUTES_AT, Codec.GZIP)
    struct.pack_into(">I", batch, CRC_AT, compute_crc(batch, 0, read_header(batch)))
    return bytes(batch)


def append(batch: bytes, config: LogConfig) -> None:
    header = check_batch(batch, config, origin=Origin.CLIENT, now_ms=NOW_MS)
    settle_batch(batch, header, config, now_ms=NOW_MS)


def refusal(batch: bytes, config: LogConfig) -> ErrorCode:
    assert len(batch) <= LIMIT
    with pytest.raises(KafkaError) as error:
        append(batch, config)
    return error.value.code


@pytest.mark.parametrize("config", [COMPACTED, RECOMPRESSED])
def test_a_batch_that_would_be_too_large_when_opened_is_refused(config: LogConfig) -> None:
    append(batch_around(RECORD * 5_000, count=5_000), config)
    assert refusal(batch_around(bytes(LIMIT * 64 + 1)), config) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("config", [COMPACTED, RECOMPRESSED, PLAIN])
def test_a_batch_of_more_records_than_bytes_are_allowed_is_refused(config: LogConfig) -> None:
    count = LIMIT + 1
    assert refusal(batch_around(RECORD * count, count=count), config) is ErrorCode.INVALID_RECORD


def test_a_batch_that_nobody_opens_may_be_any_size_when_opened() -> None:
    append(batch_around(bytes(LIMIT * 64 + 1)), PLAIN)


def test_a_record_beyond_the_end_of_its_batch_is_refused_by_a_compacted_topic() -> None:
    beyond = bytes((12, 0, 0, 2, 0, 0, 0))
    assert refusal(batch_around(beyond), COMPACTED) is ErrorCode.INVALID_RECORD
