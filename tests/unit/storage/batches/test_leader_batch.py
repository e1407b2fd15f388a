from __future__ import annotations

import pytest

from ottla.model import Buffer, ErrorCode, KafkaError, Offset, TimestampMs
from ottla.storage.batches.leader_batch import Origin, check_batch
from ottla.storage.log_config import LogConfig
from ottla.wire.records.builder import build_batch, seal_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import TimestampType, read_header
from ottla.wire.records.record import Record
from tests.support.storage.batches import batch_of
from tests.support.storage.logs import marker

NOW_MS = 1_000_000_000
DEFAULTS = LogConfig()


def check(batch: Buffer, config: LogConfig = DEFAULTS, *, origin: Origin = Origin.CLIENT) -> None:
    assert check_batch(batch, config, origin=origin, now_ms=NOW_MS) == read_header(batch)


def refusal(
    batch: Buffer, config: LogConfig = DEFAULTS, *, origin: Origin = Origin.CLIENT
) -> ErrorCode:
    with pytest.raises(KafkaError) as error:
        check_batch(batch, config, origin=origin, now_ms=NOW_MS)
    return error.value.code


@pytest.mark.parametrize("codec", Codec)
def test_a_sound_batch_passes(codec: Codec) -> None:
    check(batch_of(b"a", b"b", timestamp=NOW_MS, codec=codec))


@pytest.mark.parametrize("size", [0, 10, 60])
def test_bytes_that_are_no_batch_are_refused(size: int) -> None:
    assert refusal(bytes(batch_of(b"v")[:size])) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("size", [-1, 1])
def test_one_batch_has_to_fill_the_bytes(size: int) -> None:
    batch = batch_of(b"v")
    batch = batch[:size] if size < 0 else batch + bytes(size)

    assert refusal(batch) is ErrorCode.INVALID_RECORD


def test_two_batches_are_one_too_many() -> None:
    assert refusal(batch_of(b"a") + batch_of(b"b")) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("position", [21, 40, 61, -1])
def test_a_damaged_batch_is_refused(position: int) -> None:
    batch = batch_of(b"a", b"b")
    batch[position] ^= 0x10

    assert refusal(batch) in (ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD)


def test_a_wrong_checksum_is_a_corrupt_message() -> None:
    batch = batch_of(b"a", b"b")
    batch[-1] ^= 1

    assert refusal(batch) is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("magic", [0, 1, 3])
def test_other_message_formats_are_refused(magic: int) -> None:
    batch = batch_of(b"a")
    batch[16] = magic

    assert refusal(batch) is ErrorCode.INVALID_RECORD


def test_the_largest_allowed_batch_passes_and_a_larger_one_does_not() -> None:
    batch = batch_of(b"v" * 100, timestamp=NOW_MS)

    check(batch, LogConfig(max_message_bytes=len(batch)))
    assert refusal(batch, LogConfig(max_message_bytes=len(batch) - 1)) is (
        ErrorCode.MESSAGE_TOO_LARGE
    )


@pytest.mark.parametrize("count", [-1, 0, 1, 3])
def test_a_batch_has_a_record_for_each_of_its_offsets(count: int) -> None:
    header = read_header(batch_of(b"a", b"b"))

    assert refusal(seal_batch(header._replace(record_count=count), b"")) is (
        ErrorCode.INVALID_RECORD
    )


def test_a_client_may_not_write_control_batches() -> None:
    batch = marker(producer_id=1, commit=True, timestamp=NOW_MS)

    assert refusal(batch) is ErrorCode.INVALID_RECORD
    check(batch, origin=Origin.COORDINATOR)


def test_a_client_numbers_its_batches_if_it_has_a_producer_id() -> None:
    batch = batch_of(b"v", producer_id=1, sequence=-1, is_transactional=True, timestamp=NOW_MS)

    assert refusal(batch) is ErrorCode.INVALID_RECORD
    check(batch, origin=Origin.COORDINATOR)


def test_only_compaction_sets_a_delete_horizon() -> None:
    batch = build_batch(
        [Record(Offset(0), TimestampMs(NOW_MS), b"k", None)], delete_horizon_ms=TimestampMs(NOW_MS)
    )

    assert refusal(batch) is ErrorCode.INVALID_RECORD


# ---- timestamps


@pytest.mark.parametrize(("ahead", "passes"), [(0, True), (500, True), (501, False)])
def test_a_timestamp_may_be_so_far_ahead(ahead: int, passes: bool) -> None:
    batch = batch_of(b"v", timestamp=NOW_MS + ahead)
    config = LogConfig(message_timestamp_after_max_ms=500)

    if passes:
        check(batch, config)
    else:
        assert refusal(batch, config) is ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize(("behind", "passes"), [(0, True), (500, True), (501, False)])
def test_a_timestamp_may_be_so_old(behind: int, passes: bool) -> None:
    batch = batch_of(b"v", timestamp=NOW_MS - behind)
    config = LogConfig(message_timestamp_before_max_ms=500)

    if passes:
        check(batch, config)
    else:
        assert refusal(batch, config) is ErrorCode.INVALID_TIMESTAMP


def test_records_without_timestamps_are_of_no_time() -> None:
    check(batch_of(b"v", timestamp=-1), LogConfig(message_timestamp_before_max_ms=500))


@pytest.mark.parametrize("timestamp_type", TimestampType)
def test_a_producer_may_not_claim_the_logs_append_time(timestamp_type: TimestampType) -> None:
    batch = build_batch(
        [Record(Offset(0), TimestampMs(NOW_MS), None, b"v")],
        timestamp_type=TimestampType.LOG_APPEND_TIME,
    )

    config = LogConfig(message_timestamp_type=timestamp_type)
    assert refusal(batch, config) is ErrorCode.INVALID_TIMESTAMP


def test_timestamps_do_not_matter_where_the_log_sets_them() -> None:
    config = LogConfig(
        message_timestamp_type=TimestampType.LOG_APPEND_TIME, message_timestamp_before_max_ms=500
    )

    check(batch_of(b"v", timestamp=1), config)
