"""Delayed delivery on one node."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from ottla.broker.delaying.held_partition import HeldPartition
from ottla.broker.delaying.release_batch import DueRecord
from ottla.model import Buffer, ErrorCode, KafkaError, ProducerEpoch, ProducerId
from ottla.replication.visible_read import READ_BYTES_MAX
from ottla.simulation import SimulatedDisk
from ottla.storage.batches.visible_batches import visible_batches
from ottla.storage.delays.held_index import HeldIndex
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.records import Codec, ControlRecordType, build_batch, iterate_batches
from tests.support.delays.delayed_topic import ENABLED, NAME, DelayedTopic, due, numbered
from tests.support.nodes.one_node import OneNode, StartNode


@pytest.fixture
def topic(node: OneNode) -> DelayedTopic:
    return DelayedTopic(node)


def test_a_record_is_delivered_when_it_is_due(topic: DelayedTopic) -> None:
    topic.send(due(b"v", topic.now_ms + 2_000, key=b"k"))

    topic.wait(1.98)
    assert topic.values() == []
    topic.wait(0.05)

    (record,) = topic.records()
    assert (record.key, record.value) == (b"k", b"v")


def test_a_released_record_says_where_and_when_it_was_held(topic: DelayedTopic) -> None:
    topic.send(due(b"direct"))
    at_ms = topic.now_ms + 1_000
    answer = topic.send(due(b"v", at_ms))
    topic.wait(1.1)

    record = topic.records()[1]
    assert answer.base_offset == 1
    assert record.headers == (
        ("ottla-deliver-at", str(at_ms).encode()),
        ("ottla-held-offset", b"1"),
        ("ottla-produced-at", b"1000"),
    )
    assert record.timestamp == at_ms


def test_no_byte_of_a_held_record_leaves_the_broker(topic: DelayedTopic) -> None:
    topic.send(due(b"a secret", topic.now_ms + 1_000))

    data = topic.fetch()

    assert b"secret" not in data
    ((_, header),) = iterate_batches(data)
    assert (header.is_control, header.producer_id, header.next_offset) == (True, -1, 1)


def test_records_without_a_due_time_are_delivered_at_once(topic: DelayedTopic) -> None:
    topic.send(due(b"v"), due(b"past", topic.now_ms - 5))

    assert topic.values() == [b"v", b"past"]


def test_of_a_batch_each_record_is_delivered_when_it_is_due(topic: DelayedTopic) -> None:
    now = topic.now_ms
    topic.send(due(b"2", now + 2_000), due(b"0"), due(b"1", now + 1_000))

    topic.wait(0.02)
    assert topic.values() == [b"0"]
    topic.wait(1)
    assert topic.values() == [b"0", b"1"]
    topic.wait(1)
    assert topic.values() == [b"0", b"1", b"2"]


def test_records_due_at_the_same_time_keep_their_order(topic: DelayedTopic) -> None:
    at_ms = topic.now_ms + 1_000
    for number in range(5):
        topic.send(due(b"%d" % number, at_ms))
    topic.wait(1.1)

    assert topic.values() == [b"0", b"1", b"2", b"3", b"4"]


def test_a_direct_record_waits_behind_one_that_is_due(topic: DelayedTopic) -> None:
    topic.send(due(b"held", topic.now_ms + 1_000))
    topic.node.clock.jump_wall_clock(1_000)
    topic.send(due(b"direct"))
    topic.wait(1.1)

    assert topic.values() == [b"held", b"direct"]


def test_the_topic_can_delay_all_records(node: OneNode) -> None:
    topic = DelayedTopic(node, {"ottla.delivery.delay.ms": "3000"})
    topic.send(due(b"default"), due(b"own", topic.now_ms + 1_000))

    topic.wait(1.1)
    assert topic.values() == [b"own"]
    topic.wait(2)
    assert topic.values() == [b"own", b"default"]


def test_a_leader_that_starts_again_releases_each_record_once(start_node: StartNode) -> None:
    disk = SimulatedDisk()
    topic = DelayedTopic(start_node(disk))
    now = topic.now_ms
    topic.send(due(b"1", now + 1_000), due(b"2", now + 2_000))
    topic.wait(1.1)
    assert topic.values() == [b"1"]
    topic.node.stop()

    again = start_node(disk)
    again.clock.jump_wall_clock(now - again.clock.now_ms() + 1_500)
    topic.node = again
    topic.wait(0.1)
    assert topic.values() == [b"1"]
    topic.wait(1)

    assert topic.values() == [b"1", b"2"]


def test_a_cancelled_record_is_not_delivered(topic: DelayedTopic) -> None:
    now = topic.now_ms
    topic.send(due(b"1", now + 1_000, key=b"a"), due(b"2", now + 1_000, key=b"b"))
    topic.send(due(b"", key=b"a", cancels=True))
    topic.send(due(b"3", now + 1_000, key=b"a"))
    topic.wait(1.1)

    assert topic.values() == [b"2", b"3"]
    assert topic.held.record_count == 0


def test_a_cancellation_survives_a_restart(start_node: StartNode) -> None:
    disk = SimulatedDisk()
    topic = DelayedTopic(start_node(disk))
    now = topic.now_ms
    topic.send(due(b"1", now + 1_000, key=b"a"))
    topic.send(due(b"", key=b"a", cancels=True))
    topic.node.stop()

    topic.node = start_node(disk)
    topic.wait(1.1)

    assert topic.values() == []


@pytest.mark.parametrize("value", [b"soon", b"", b"-1", b"9" * 20])
def test_a_due_time_that_means_nothing_is_refused(topic: DelayedTopic, value: bytes) -> None:
    answer = topic.send(due(b"0"), due(b"1", value))

    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [each.batch_index for each in answer.record_errors] == [1]
    assert topic.values() == []


def test_a_due_time_beyond_the_limit_is_refused(node: OneNode) -> None:
    topic = DelayedTopic(node, {"ottla.delivery.delay.max.ms": "1000"})

    assert topic.send(due(b"v", topic.now_ms + 1_001)).error_code == ErrorCode.INVALID_RECORD
    assert topic.send(due(b"v", topic.now_ms + 1_000)).error_code == 0


def test_a_cancellation_without_a_key_is_refused(topic: DelayedTopic) -> None:
    assert topic.send(due(b"", cancels=True)).error_code == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("limit", ["records", "bytes"])
def test_a_partition_holds_no_more_than_it_may(node: OneNode, limit: str) -> None:
    topic = DelayedTopic(
        node, {f"ottla.delivery.delay.{limit}.max": "2" if limit == "records" else "300"}
    )
    at_ms = topic.now_ms + 1_000
    answers = [topic.send(due(bytes(60), at_ms)).error_code for _ in range(4)]

    assert answers[0] == 0
    assert answers[3] == ErrorCode.POLICY_VIOLATION
    assert topic.send(due(b"direct")).error_code == 0
    topic.wait(1.1)
    assert topic.send(due(b"later", topic.now_ms + 1_000)).error_code == 0


def test_a_duplicate_of_a_held_batch_is_recognised(topic: DelayedTopic) -> None:
    at_ms = topic.now_ms + 1_000
    how = {"producer_id": ProducerId(7), "producer_epoch": ProducerEpoch(0)}
    records = due(b"0", at_ms), due(b"1")
    first = topic.send(*records, base_sequence=0, **how)
    again = topic.send(*records, base_sequence=0, **how)
    gap = topic.send(due(b"x"), base_sequence=5, **how)
    following = topic.send(due(b"2"), base_sequence=2, **how)
    topic.wait(1.1)

    assert (first.error_code, again.error_code) == (0, 0)
    assert first.base_offset == again.base_offset
    assert gap.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert following.error_code == 0
    assert sorted(each or b"" for each in topic.values()) == [b"0", b"1", b"2"]


@pytest.mark.parametrize("codec", [Codec.ZSTD, Codec.LZ4])
def test_compressed_batches_are_held(topic: DelayedTopic, codec: Codec) -> None:
    now = topic.now_ms
    topic.send(*(due(b"%d" % at, now + 10 * at + 10) for at in range(9)), codec=codec)
    topic.wait(0.2)

    assert topic.values() == [b"%d" % at for at in range(9)]


def test_released_batches_have_the_codec_of_the_topic(node: OneNode) -> None:
    topic = DelayedTopic(node, {"compression.type": "zstd"})
    topic.send(due(b"v", topic.now_ms + 100))
    topic.wait(0.2)

    codecs = [header.codec for header, _ in topic.batches() if not header.is_control]
    assert codecs == [Codec.ZSTD]
    assert topic.values() == [b"v"]


def test_a_clock_that_is_set_back_delivers_nothing_early(topic: DelayedTopic) -> None:
    topic.send(due(b"v", topic.now_ms + 2_000))
    topic.node.clock.jump_wall_clock(-10_000)
    topic.wait(5)
    assert topic.values() == []

    topic.node.clock.jump_wall_clock(20_000)
    topic.wait(1.1)
    assert topic.values() == [b"v"]


def test_deleted_records_are_not_delivered(topic: DelayedTopic) -> None:
    now = topic.now_ms
    topic.send(due(b"deleted", now + 1_000))
    topic.send(due(b"kept", now + 1_000))
    topic.node.log(NAME).delete_records_before(1)
    topic.wait(1.1)

    assert topic.node.log(NAME).log_start_offset == 1
    assert [each.value for each in topic.records(1)] == [b"kept"]


def test_retention_keeps_what_is_held(node: OneNode) -> None:
    topic = DelayedTopic(
        node, {"retention.ms": "100", "internal.segment.bytes": "300", "segment.ms": "1000"}
    )
    for number in range(10):
        topic.send(due(b"%d" % number * 50))
    topic.send(due(b"held", topic.now_ms + 5_000))
    for number in range(10):
        topic.send(due(b"%d" % number * 50))
    topic.wait(1)
    log = node.log(NAME)
    log.delete_expired_segments(now_ms=topic.now_ms)
    start = log.log_start_offset
    topic.wait(5)

    assert 0 < start <= 10
    log.flush()
    log.delete_expired_segments(now_ms=topic.now_ms + 10_000)
    assert log.log_start_offset > 10


@pytest.mark.parametrize("lacks", ["high_watermark", "recovery_point"])
def test_retention_keeps_held_records_until_their_release_is_safe(
    node: OneNode, monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    topic = DelayedTopic(node, {"retention.ms": "1000", "segment.ms": "1"})
    topic.send(due(b"held", topic.now_ms + 5_000))
    topic.wait(0.1)
    topic.send(due(b"direct"))
    topic.wait(0.1)
    log = node.log(NAME)
    log.flush()
    with monkeypatch.context() as context:
        if lacks == "high_watermark":
            context.setattr(type(log), "advance_high_watermark", lambda *_: None)
        topic.wait(5.2)
        if lacks == "high_watermark":
            log.flush()
        assert topic.held.record_count == 0
        log.delete_expired_segments(now_ms=topic.now_ms)
        assert log.log_start_offset == 0

    if lacks == "recovery_point":
        assert topic.held.flushes_to > log.recovery_point
    else:
        topic.send(due(b"direct"))
    log.flush()
    log.delete_expired_segments(now_ms=topic.now_ms)
    assert log.log_start_offset > 0


def test_a_new_leader_keeps_held_records_until_their_release_is_safe(
    start_node: StartNode,
) -> None:
    disk = SimulatedDisk()
    topic = DelayedTopic(start_node(disk), {"retention.ms": "1000", "segment.ms": "1"})
    topic.send(due(b"held", topic.now_ms + 500))
    topic.wait(1)
    topic.node.stop()
    topic.node = start_node(disk)
    topic.wait(0.1)
    log = topic.node.log(NAME)

    log.recovery_point = 1
    assert topic.held.oldest_offset() == 0
    log.recovery_point = log.log_end_offset
    assert topic.held.oldest_offset() == log.log_end_offset


def test_consumers_read_large_held_batches_away(topic: DelayedTopic) -> None:
    for _ in range(30):
        topic.send(*(due(bytes(100), topic.now_ms + 60_000) for _ in range(200)))
    topic.send(due(b"visible"))

    assert topic.values() == [b"visible"]
    assert topic.held.record_count == 6_000


def _open_transaction(topic: DelayedTopic, *values: bytes, sequence: int = 0) -> None:
    at_ms = topic.now_ms + 1_000
    batch = build_batch(
        numbered(due(value, at_ms) for value in values),
        producer_id=ProducerId(7),
        producer_epoch=ProducerEpoch(0),
        base_sequence=sequence,
        is_transactional=True,
    )
    topic.node.append(NAME, batch)


def test_records_of_a_transaction_are_held_from_its_commit_on(topic: DelayedTopic) -> None:
    _open_transaction(topic, b"1", b"2")
    topic.wait(1.1)
    assert topic.records(isolation_level=1) == []

    topic.end_transaction(7, ControlRecordType.COMMIT)
    topic.wait(0.1)

    assert [each.value for each in topic.records(isolation_level=1)] == [b"1", b"2"]


def test_records_of_an_aborted_transaction_are_never_delivered(topic: DelayedTopic) -> None:
    _open_transaction(topic, b"1")
    topic.end_transaction(7, ControlRecordType.ABORT)
    topic.wait(1.1)

    assert topic.values() == []
    assert topic.held.record_count == 0


def test_a_large_batch_is_held_in_steps(topic: DelayedTopic) -> None:
    at_ms = topic.now_ms + 1_000
    topic.send(*(due(b"%d" % at, at_ms) for at in range(3_000)))
    topic.wait(1.5)

    assert topic.values() == [b"%d" % at for at in range(3_000)]


def test_a_large_direct_batch_waits_behind_one_that_is_due(topic: DelayedTopic) -> None:
    topic.send(due(b"held", topic.now_ms + 1_000))
    topic.node.clock.jump_wall_clock(1_000)
    topic.send(*(due(b"%d" % at) for at in range(600)))
    topic.wait(1.1)

    assert topic.values() == [b"held", *(b"%d" % at for at in range(600))]


def test_more_than_fits_into_memory_is_released(topic: DelayedTopic) -> None:
    at_ms = topic.now_ms + 1_000
    for batch in range(30):
        numbers = range(batch * 400, batch * 400 + 400)
        topic.send(*(due(b"%d" % at, at_ms + at % 7) for at in numbers))
    topic.wait(3)

    expected = sorted(range(12_000), key=lambda at: (at % 7, at))
    assert topic.values() == [b"%d" % at for at in expected]


def test_a_client_cannot_mark_a_batch_as_held(topic: DelayedTopic) -> None:
    from ottla.wire.records.builder import seal_batch
    from ottla.wire.records.header import HEADER_BYTES, HELD_FLAG, RELEASED_FLAG, read_header

    batch = bytes(build_batch(numbered([due(b"v")])))
    header = read_header(batch)
    for flag in (HELD_FLAG, RELEASED_FLAG):
        marked = seal_batch(header._replace(attributes=flag), batch[HEADER_BYTES:])
        assert topic.send_batch(bytes(marked)).error_code == ErrorCode.INVALID_RECORD


def test_an_error_while_reading_harms_no_append_and_is_tried_again_less_and_less_often(
    topic: DelayedTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic.send(due(b"held", topic.now_ms + 60_000))
    scans = []

    def fails(index: HeldIndex, *_: object, **_more: object) -> None:
        scans.append(index)
        raise ValueError("unexpected")

    with monkeypatch.context() as broken:
        broken.setattr(HeldIndex, "hold_committed", fails)
        assert topic.send(due(b"1", topic.now_ms + 60_000)).error_code == 0
        assert topic.send(due(b"2", topic.now_ms + 1_000)).error_code == 0
        topic.wait(10)
        assert 5 <= len(scans) <= 12

    topic.wait(30)
    assert topic.values() == [b"2"]
    assert topic.held.record_count == 2


def test_one_step_of_the_loop_releases_one_batch(
    topic: DelayedTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        topic.send(*(due(b"v", topic.now_ms + 1_000) for _ in range(400)))
    topic.wait(0.1)
    appends: list[int] = []
    original = HeldPartition._append

    def append(held: HeldPartition, records: Sequence[DueRecord]) -> None:
        original(held, records)
        appends[-1] += 1

    async def run() -> None:
        topic.node.clock.advance(2)
        for _ in range(100):
            topic.node.clock.advance(0)
            appends.append(0)
            await asyncio.sleep(0)  # noqa: TID251 - lets the task run

    monkeypatch.setattr(HeldPartition, "_append", append)
    topic.node.run(run())

    assert (sum(appends), max(appends)) == (4, 1)


def test_a_partition_that_is_given_up_releases_no_more(
    topic: DelayedTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        topic.send(*(due(b"v", topic.now_ms + 1_000) for _ in range(400)))
    original = HeldPartition._append

    def append(held: HeldPartition, records: Sequence[DueRecord]) -> None:
        original(held, records)
        held.close()

    monkeypatch.setattr(HeldPartition, "_append", append)
    topic.wait(2)

    assert len(topic.values()) == 500


def _fetch_all(node: OneNode, partitions: int, bytes_max: int) -> list[int]:
    """Returns how many bytes a consumer gets of each partition."""
    request = FetchRequest(
        max_wait_ms=60_000,
        min_bytes=bytes_max,
        max_bytes=bytes_max,
        session_epoch=-1,
        topics=[
            FetchTopic(
                topic=NAME,
                partitions=[
                    FetchPartition(partition=each, fetch_offset=0, partition_max_bytes=1 << 20)
                    for each in range(partitions)
                ],
            )
        ],
    )
    response = node.send_request(request, 11)
    return [len(each.records or b"") for each in response.responses[0].partitions]


@pytest.mark.parametrize("bytes_max", [1 << 20, 100 << 10])
def test_a_fetch_reads_no_more_held_records_than_it_may(
    node: OneNode, monkeypatch: pytest.MonkeyPatch, bytes_max: int
) -> None:
    node.create_topic(NAME, partitions=4, configs=ENABLED)
    at_ms = node.clock.now_ms() + 60_000
    batch = build_batch(numbered(due(bytes(1_000), at_ms) for _ in range(10)))
    for index in range(4):
        for _ in range(20):
            node.append(NAME, batch, index=index)
    read = []

    def counting(data: Buffer) -> Buffer:
        read.append(len(data))
        return visible_batches(data)

    monkeypatch.setattr("ottla.replication.visible_read.visible_batches", counting)
    sizes = _fetch_all(node, 4, bytes_max)

    assert 0 < sum(read) <= min(bytes_max, READ_BYTES_MAX)
    # It is answered at once, though its marker has fewer bytes than the request asks for.
    assert sizes[0] > 0
    assert sizes[-1] == 0


def test_a_batch_larger_than_what_a_fetch_reads_is_read(node: OneNode) -> None:
    topic = DelayedTopic(node)
    topic.send(due(bytes(READ_BYTES_MAX + 1_000), topic.now_ms + 60_000))
    topic.send(due(b"direct"))

    assert topic.values() == [b"direct"]


@pytest.mark.parametrize(
    "configs",
    [
        {"ottla.delivery.delay.records.max": "3"},
        {"ottla.delivery.delay.bytes.max": "300"},
        {},
    ],
    ids=["records", "bytes", "batches"],
)
def test_open_transactions_count_as_held(
    node: OneNode, monkeypatch: pytest.MonkeyPatch, configs: dict[str, str]
) -> None:
    topic = DelayedTopic(node, configs)
    if not configs:
        monkeypatch.setattr("ottla.broker.delaying.held_partition.OPEN_BATCHES_MAX", 1)
    _open_transaction(topic, bytes(50), bytes(50))
    with pytest.raises(KafkaError) as refused:
        _open_transaction(topic, bytes(50), bytes(50), sequence=2)
    assert refused.value.code == ErrorCode.POLICY_VIOLATION

    topic.end_transaction(7, ControlRecordType.ABORT)
    _open_transaction(topic, bytes(50), bytes(50), sequence=2)
    topic.end_transaction(7, ControlRecordType.COMMIT)
    topic.wait(1.1)
    assert len(topic.values()) == 2
    index = topic.held._held.index
    assert (index.open_batches, index.open_records, index.open_size) == (0, 0, 0)


def _cancellations(topic: DelayedTopic) -> int:
    return len(topic.held._held.index.cancellations)


def test_cancellations_are_forgotten_when_nothing_is_held(topic: DelayedTopic) -> None:
    topic.send(due(b"", key=b"nothing", cancels=True))
    assert _cancellations(topic) == 0

    topic.send(due(b"1", topic.now_ms + 1_000, key=b"a"))
    topic.send(due(b"", key=b"a", cancels=True))
    assert _cancellations(topic) == 1
    topic.wait(1.1)
    assert _cancellations(topic) == 0

    _open_transaction(topic, b"2")
    topic.send(due(b"", key=b"a", cancels=True))
    assert _cancellations(topic) == 1
    topic.end_transaction(7, ControlRecordType.ABORT)
    assert _cancellations(topic) == 0
    assert topic.values() == []


def test_a_record_that_is_due_stays_cancelled_though_others_are_forgotten(
    start_node: StartNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its leader is late: the time at which it was due has passed."""
    monkeypatch.setattr("ottla.storage.delays.cancellations.CANCELLATIONS_MAX", 2)
    monkeypatch.setattr("ottla.broker.delaying.held_log.CANCELLATIONS_MAX", 2)
    disk = SimulatedDisk()
    topic = DelayedTopic(start_node(disk))
    now = topic.now_ms
    for key in (b"a", b"b"):
        topic.send(due(b"gone", now + 100, key=key))
        topic.send(due(b"", key=key, cancels=True))
    topic.wait(0.2)
    topic.send(due(b"late", now + 1_000, key=b"c"), due(b"kept", now + 60_000))
    topic.send(due(b"", key=b"c", cancels=True))
    topic.node.stop()
    topic.node = start_node(disk)
    topic.node.clock.jump_wall_clock(10_000)
    topic.wait(1.1)

    assert topic.values() == []
    assert topic.held.record_count == 1


def test_a_new_leader_forgets_cancellations_that_it_does_not_need(
    start_node: StartNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ottla.broker.delaying.held_log.CANCELLATIONS_MAX", 2)
    disk = SimulatedDisk()
    topic = DelayedTopic(start_node(disk))
    now = topic.now_ms
    topic.send(due(b"released", now + 100))
    for key in (b"a", b"b"):
        topic.send(due(b"", key=key, cancels=True))
    topic.send(due(b"kept", now + 60_000))
    topic.wait(0.2)
    for key in (b"c", b"d"):
        topic.send(due(b"", key=key, cancels=True))
    assert _cancellations(topic) == 4
    topic.node.stop()
    topic.node = start_node(disk)
    topic.wait(0.2)

    assert topic.held.record_count == 1
    assert _cancellations(topic) == 2
