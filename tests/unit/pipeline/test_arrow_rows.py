"""Rows of batches that were fetched, some of which are garbage with a right checksum."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from ottla.model import LeaderEpoch, Offset, TopicPartition
from ottla.pipeline.reading.arrow_rows import ArrowRows
from ottla.pipeline.reading.columns import SourceColumn
from ottla.pipeline.reading.errors import UnreadableBatchError
from ottla.pipeline.reading.ranges import OffsetRange
from ottla.pipeline.reading.record_batches import Fetched
from ottla.wire.records import columns
from ottla.wire.records.batch import assign_offset_and_epoch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import read_header
from tests.support.storage.batches import GARBAGE_BODIES, batch_around, batch_of, compressed_around

COLUMNS = (SourceColumn("offset", is_nullable=False), SourceColumn("value", is_nullable=True))


def fetched(*batches: bytearray, start: int = 0) -> Fetched:
    """Batches one behind the other, as a log has them."""
    offset = 0
    for batch in batches:
        assign_offset_and_epoch(batch, 0, base_offset=Offset(offset), leader_epoch=LeaderEpoch(0))
        offset += read_header(batch).last_offset_delta + 1
    return Fetched(start, [read_header(batch) for batch in batches], list(batches))


def rows(found: Fetched, *, end: int = 100, **options: Any) -> list[tuple[int, bytes]]:
    wanted = OffsetRange(TopicPartition("orders", 3), found.start, end)
    return [
        (row["offset"], row["value"])
        for batch in ArrowRows(wanted, COLUMNS, **options).read(found)
        for row in batch.to_pylist()
    ]


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("name", GARBAGE_BODIES)
def test_a_garbage_batch_is_named_with_its_partition_and_offsets(name: str, codec: Codec) -> None:
    garbage = compressed_around(GARBAGE_BODIES[name][0], codec=codec, count=2)
    found = fetched(batch_of(b"a"), garbage, batch_of(b"b"))

    with pytest.raises(UnreadableBatchError, match="orders-3: the batch of offsets 1 to 2 has"):
        rows(found)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_body_that_cannot_be_decompressed_is_named(codec: Codec) -> None:
    found = fetched(batch_of(b"a"), batch_around(b"garbage", codec=codec))

    with pytest.raises(UnreadableBatchError, match=r"offsets 1 to 1 .*failOnDataLoss=false"):
        rows(found)


def test_garbage_is_left_out_and_logged_where_data_may_be_lost(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found = fetched(batch_of(b"a"), batch_around(b"garbage", count=3), batch_of(b"b", b"c"))

    with caplog.at_level(logging.WARNING):
        assert rows(found, fail_on_data_loss=False) == [(0, b"a"), (4, b"b"), (5, b"c")]

    assert "orders-3: the batch of offsets 1 to 3" in caplog.text


def test_garbage_outside_of_the_range_is_of_no_interest() -> None:
    found = fetched(batch_around(b"garbage"), batch_of(b"a"), batch_around(b"garbage"), start=1)

    assert rows(found, end=2) == [(1, b"a")]


def test_batches_that_are_too_large_together_are_read_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(columns, "_BODIES_BYTES_MAX", 1_500)
    found = fetched(*[batch_of(b"v" * 1_000, codec=Codec.LZ4) for _ in range(3)])

    assert [offset for offset, _ in rows(found)] == [0, 1, 2]
