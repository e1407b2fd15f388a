"""Small batches that would be large once they are opened."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.storage.batches.opened_batch import open_batch
from ottla.storage.log_config import LogConfig
from ottla.wire.records.compression import Codec, compress
from tests.support.storage.batches import batch_around, raw_record

NOW_MS = 1_000
LIMIT = 10_000
COMPACTED = LogConfig(max_message_bytes=LIMIT, compact=True)
RECOMPRESSED = LogConfig(max_message_bytes=LIMIT, compression_type=Codec.SNAPPY)
PLAIN = LogConfig(max_message_bytes=LIMIT)


def bomb(body: bytes, *, count: int = 1) -> bytes:
    compressed = compress(Codec.GZIP, body, level=9)
    return bytes(batch_around(compressed, codec=Codec.GZIP, count=count))


def records(count: int) -> bytes:
    return b"".join(raw_record(offset=number, key=b"", value=b"") for number in range(count))


def append(batch: bytes, config: LogConfig) -> None:
    open_batch(batch, config, name=TopicPartition("bombs", 0), now_ms=NOW_MS)


def refusal(batch: bytes, config: LogConfig) -> ErrorCode:
    with pytest.raises(KafkaError) as error:
        append(batch, config)
    return error.value.code


@pytest.mark.parametrize("config", [COMPACTED, RECOMPRESSED])
def test_a_batch_that_would_be_too_large_when_opened_is_refused(config: LogConfig) -> None:
    append(bomb(records(2_000), count=2_000), config)
    assert refusal(bomb(bytes(LIMIT * 64 + 1)), config) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("config", [COMPACTED, RECOMPRESSED, PLAIN])
def test_a_batch_of_more_records_than_bytes_are_allowed_is_refused(config: LogConfig) -> None:
    count = LIMIT + 1
    assert refusal(bomb(b"\x00" * 1_000, count=count), config) is ErrorCode.INVALID_RECORD


def test_a_batch_that_is_not_opened_may_decompress_to_any_size() -> None:
    append(bomb(bytes(LIMIT * 64 + 1)), PLAIN)
