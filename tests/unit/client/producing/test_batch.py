"""The records of a batch are encoded as by the builder of whole batches."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.client import Delivery, TimedOutError
from ottla.client.producing.batch import (
    RECORD_OVERHEAD_BYTES_MAX,
    BatchFormat,
    ProducerBatch,
    ProducerIdentity,
)
from ottla.model import Offset, ProducerEpoch, ProducerId, TimestampMs, TopicPartition
from ottla.wire.records import Codec, Record, build_batch, iterate_records

IDENTITY = ProducerIdentity(ProducerId(1), ProducerEpoch(2))
PARTITION = TopicPartition("t", 3)
PAYLOADS = st.none() | st.binary(max_size=40) | st.just(bytes(9_000))
HEADERS = st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=5)), max_size=2)
RECORDS = st.lists(
    st.tuples(PAYLOADS, PAYLOADS, st.integers(-(10**6), 10**6), HEADERS), min_size=1, max_size=5
)


def batch_at(timestamp: int) -> ProducerBatch:
    return ProducerBatch(PARTITION, timestamp, deadline=1.0, reserved=0)


@given(RECORDS, st.sampled_from(Codec))
def test_any_records_are_encoded_as_the_builder_does(
    records: list[tuple[bytes | None, bytes | None, int, list[tuple[str, bytes | None]]]],
    codec: Codec,
) -> None:
    base = 1_700_000_000_000
    batch = batch_at(base + records[0][2])
    expected = []
    for index, (key, value, delta, headers) in enumerate(records):
        before = len(batch.body)
        batch.add(key, value, base + delta, headers)
        payload = len(key or b"") + len(value or b"")
        payload += sum(10 + len(name.encode()) + len(each or b"") for name, each in headers)
        assert len(batch.body) - before <= payload + RECORD_OVERHEAD_BYTES_MAX
        expected.append(
            Record(Offset(index), TimestampMs(base + delta), key, value, tuple(headers))
        )
    batch.seal(BatchFormat(codec), IDENTITY, 9)
    assert batch.sealed == build_batch(
        expected,
        codec=codec,
        producer_id=ProducerId(1),
        producer_epoch=ProducerEpoch(2),
        base_sequence=9,
    )


def test_a_batch_of_many_records_has_its_offsets() -> None:
    batch = batch_at(5)
    for _ in range(20_000):
        batch.add(None, b"", 5, None)
    batch.seal(BatchFormat(), IDENTITY, 0)
    assert [record.offset for record in iterate_records(batch.sealed or b"")] == list(range(20_000))


def test_a_cancelled_wait_does_not_cancel_the_other_deliveries() -> None:
    async def scenario() -> None:
        batch = batch_at(5)
        batch.add(None, b"", 5, None)
        batch.add(None, b"", 6, None)
        first, second = Delivery(batch, 0, 5), Delivery(batch, 1, 6)
        waits = [asyncio.ensure_future(_result(each)) for each in (first, second)]
        await asyncio.sleep(0)  # noqa: TID251 - both wait
        waits[0].cancel()
        assert not second.done()
        batch.complete(100, -1)
        assert (await waits[1]).__repr__() == (
            "RecordMetadata(topic='t', partition=3, offset=101, timestamp=6)"
        )
        assert waits[0].cancelled()
        assert first.result().offset == 100

    asyncio.run(scenario())


def test_every_delivery_of_a_failed_batch_raises_an_error_of_its_own() -> None:
    batch = batch_at(5)
    batch.add(None, b"", 5, None)
    batch.fail(TimedOutError("too late"))
    raised = []
    for _ in range(2):
        with pytest.raises(TimedOutError, match="too late") as error:
            Delivery(batch, 0, 5).result()
        raised.append(error.value)
    assert raised[0] is not raised[1]


async def _result(delivery: Delivery) -> object:
    return await delivery
