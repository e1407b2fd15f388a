"""Batches made by the column beside those of the ordinary builder, for any rows.

Kafka's own classes are shown what the ordinary builder makes; what equals it needs no other judge.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.client.producing.batch import (
    NO_IDENTITY,
    BatchFormat,
    ProducerBatch,
    ProducerIdentity,
)
from ottla.model import Offset, ProducerEpoch, ProducerId, TimestampMs, TopicPartition
from ottla.pipeline.writing.rows import to_rows
from ottla.wire.records.builder import build_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import HEADER_BYTES
from ottla.wire.records.murmur2 import murmur2
from ottla.wire.records.record import Record
from ottla.wire.records.row_batches import UnsealedBatch, cut_batches
from ottla.wire.records.row_loops import hash_keys, to_column
from tests.support.storage.records import record_lists

NOW = TimestampMs(1_700_000_000_000)
HEADERS = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))


def sealed(
    rows: UnsealedBatch, how: BatchFormat, identity: ProducerIdentity, base_sequence: int
) -> bytearray | None:
    batch = ProducerBatch.of_rows(TopicPartition("t", rows.target), rows, NOW, deadline=0.0)
    batch.seal(how, identity, base_sequence)
    return batch.sealed


def arrow(records: list[Record], *, with_headers: bool) -> pa.RecordBatch:
    columns = {
        "key": pa.array([record.key for record in records], pa.binary()),
        "value": pa.array([record.value for record in records], pa.binary()),
    }
    if with_headers:
        # Spark has null where a row has none.
        lists = [
            [{"key": key, "value": value} for key, value in record.headers] or None
            for record in records
        ]
        columns["headers"] = pa.array(lists, HEADERS)
    return pa.RecordBatch.from_pydict(columns)


@settings(max_examples=60, deadline=None)
@given(
    record_lists(count_max=40),
    st.data(),
    st.sampled_from(Codec),
    st.booleans(),
    st.integers(HEADER_BYTES, 3_000),
)
def test_batches_equal_those_of_the_ordinary_builder(
    records: list[Record],
    data: st.DataObject,
    codec: Codec,
    with_headers: bool,
    batch_bytes_max: int,
) -> None:
    cut = data.draw(st.integers(0, len(records) - 1))
    targets = data.draw(st.lists(st.integers(0, 3), min_size=len(records), max_size=len(records)))
    # In two pieces, of which Arrow makes views with offsets of their own.
    whole = arrow(records, with_headers=with_headers)
    pieces = [whole.slice(0, cut), whole.slice(cut)] if cut else [whole]
    payloads = to_rows(pieces, has_topic=True).payloads
    wanted = {
        target: [
            record._replace(headers=record.headers if with_headers else ())
            for record, its in zip(records, targets, strict=True)
            if its == target
        ]
        for target in set(targets)
    }
    for batch in cut_batches(
        payloads,
        np.array(targets, np.int64),
        payloads.sizes_max(),
        batch_bytes_max=batch_bytes_max,
    ):
        mine, wanted[batch.target] = (
            wanted[batch.target][: batch.record_count],
            wanted[batch.target][batch.record_count :],
        )
        how = BatchFormat(codec, is_transactional=True)
        identity = ProducerIdentity(ProducerId(7), ProducerEpoch(3))
        assert sealed(batch, how, identity, 11) == build_batch(
            [record._replace(offset=Offset(at), timestamp=NOW) for at, record in enumerate(mine)],
            codec=codec,
            producer_id=ProducerId(7),
            producer_epoch=ProducerEpoch(3),
            base_sequence=11,
            is_transactional=True,
        )
        assert batch.record_count == 1 or len(batch.body) + HEADER_BYTES <= batch_bytes_max
    assert not any(wanted.values())


@pytest.mark.parametrize("length", [0, 63, 64, 8_191, 8_192, 2**20 - 1, 2**20, 2**21])
def test_lengths_of_one_to_four_bytes_are_written_as_the_builder_does(length: int) -> None:
    record = Record(Offset(0), NOW, bytes(min(length, 9_000)), bytes(length))
    payloads = to_rows([arrow([record], with_headers=False)], has_topic=True).payloads
    sizes = payloads.sizes_max()
    (batch,) = cut_batches(payloads, np.zeros(1, np.int64), sizes, batch_bytes_max=1)
    assert sealed(batch, BatchFormat(), NO_IDENTITY, -1) == build_batch([record])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.none() | st.binary(max_size=40) | st.integers(200, 300).map(bytes), max_size=30),
    st.integers(0, 5),
)
def test_keys_hash_together_as_they_do_alone(keys: list[bytes | None], skipped: int) -> None:
    column = to_column(pa.array(keys, pa.binary()).slice(skipped))
    hashes = np.empty(len(column.is_null), np.uint32)
    hash_keys(column, hashes)
    assert [
        found for found, key in zip(hashes.tolist(), keys[skipped:], strict=True) if key is not None
    ] == [murmur2(key) for key in keys[skipped:] if key is not None]
