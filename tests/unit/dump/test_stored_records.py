"""Records of internal topics are decoded by the name of their directory, or by a given format."""

from pathlib import Path

from ottla.configs import ConfigResourceType
from ottla.dump.reading import Reading
from ottla.dump.rows import RecordRow, StoredRecord
from ottla.dump.stored_records import StoredRecordFormat
from ottla.model import Offset, ProducerEpoch, ProducerId, TimestampMs
from ottla.wire.records.builder import build_batch
from ottla.wire.records.control import (
    ControlRecordType,
    EndTransactionMarker,
    control_record,
    end_transaction_batch,
)
from ottla.wire.stored.cluster_metadata import METADATA_RECORDS
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord
from ottla.wire.stored.cluster_metadata.transactions import BeginTransactionRecord
from ottla.wire.stored.coordinator_records import GROUP_RECORDS, SHARE_RECORDS
from ottla.wire.stored.offsets import OffsetCommitKey, OffsetCommitValue
from ottla.wire.stored.remote_storage import (
    REMOTE_LOG_RECORDS,
    RemotePartitionDeleteMetadataRecord,
)
from ottla.wire.stored.shares import ShareUpdateKey, ShareUpdateValue
from tests.support.kafka.kafka_fixtures import extract
from tests.support.storage.dumped import LOG, NOON_MS, only, record, rows_of, write_log

COMMIT_KEY = GROUP_RECORDS.encode_key(OffsetCommitKey(group="g", topic="orders", partition=3))
COMMIT_VALUE = GROUP_RECORDS.encode_value(OffsetCommitValue(offset=42), 3)


def deep_records(
    directory: Path,
    batch: bytes | bytearray,
    record_format: StoredRecordFormat | None = None,
    name: str = LOG,
) -> list[RecordRow]:
    log = write_log(directory, [batch], name=name)
    return only(rows_of(log, Reading(deep=True, record_format=record_format)), RecordRow)


def test_name_of_the_directory_determines_the_format(tmp_path: Path) -> None:
    batch = build_batch([record(0, COMMIT_KEY, COMMIT_VALUE), record(1, COMMIT_KEY, None)])
    commit, removal = deep_records(tmp_path / "__consumer_offsets-7", batch)
    assert commit.key_record == StoredRecord(
        "OffsetCommitKey", 0, {"group": "g", "topic": "orders", "partition": 3}
    )
    assert commit.value_record is not None
    assert commit.value_record.fields["offset"] == 42
    assert commit.value_record.version == 3
    assert removal.key_record == commit.key_record
    assert removal.value_record is None
    assert removal.decode_error is None


def test_other_topics_stay_bytes_by_default(tmp_path: Path) -> None:
    batch = build_batch([record(0, COMMIT_KEY, COMMIT_VALUE)])
    (plain,) = deep_records(tmp_path / "copy-0", batch)
    assert plain.key_record is None
    (stored,) = deep_records(tmp_path / "copy-0", batch, StoredRecordFormat.OFFSETS)
    assert stored.key_record is not None


def test_record_that_cannot_be_decoded_keeps_its_bytes_and_says_why(tmp_path: Path) -> None:
    batch = build_batch(
        [
            record(0, b"\0\x63", b"?"),
            record(1, COMMIT_KEY, b"\0\x63"),
            record(2, None, COMMIT_VALUE),
            record(3, COMMIT_KEY, COMMIT_VALUE),
        ]
    )
    rows = deep_records(tmp_path / "__consumer_offsets-0", batch)
    assert [row.decode_error is None for row in rows] == [False, False, False, True]
    assert rows[0].value == b"?"
    assert rows[1].key_record is not None


def test_metadata_shares_and_remote_records_are_decoded(tmp_path: Path) -> None:
    begin = METADATA_RECORDS.encode(BeginTransactionRecord(name="n"), 0)
    batch = build_batch([record(0, None, begin)])
    for directory, name in (
        ("__cluster_metadata-0", LOG),
        ("elsewhere", "00000000000000000001-0000000001.checkpoint"),
        ("elsewhere", "bootstrap.checkpoint"),
    ):
        (row,) = deep_records(tmp_path / directory, batch, name=name)
        assert row.value_record == StoredRecord("BeginTransactionRecord", 0, {"name": "n"})

    key = SHARE_RECORDS.encode_key(ShareUpdateKey(group_id="g"))
    value = SHARE_RECORDS.encode_value(ShareUpdateValue(start_offset=5), 0)
    (row,) = deep_records(tmp_path / "__share_group_state-0", build_batch([record(0, key, value)]))
    assert row.value_record is not None
    assert row.value_record.fields["start_offset"] == 5

    removed = REMOTE_LOG_RECORDS.encode(RemotePartitionDeleteMetadataRecord(broker_id=4), 0)
    (row,) = deep_records(
        tmp_path / "__remote_log_metadata-0", build_batch([record(0, None, removed)])
    )
    assert row.value_record is not None
    assert row.value_record.fields["broker_id"] == 4


def test_subscriptions_of_consumers_are_opened(tmp_path: Path) -> None:
    partition = extract("clean/__consumer_offsets-0", tmp_path)
    rows = only(rows_of(partition / LOG, Reading(deep=True)), RecordRow)
    members = [
        member
        for row in rows
        if row.value_record is not None and row.value_record.type == "GroupMetadataValue"
        for member in row.value_record.fields["members"]
    ]
    assert members
    assert all(member["subscription"]["topics"] == ["codecs", "plain"] for member in members)
    assert all("subscription_encoding" not in member for member in members)


def test_end_of_a_transaction_is_decoded(tmp_path: Path) -> None:
    batch = end_transaction_batch(
        EndTransactionMarker(ControlRecordType.ABORT, coordinator_epoch=9),
        producer_id=ProducerId(1),
        producer_epoch=ProducerEpoch(0),
        timestamp=TimestampMs(NOON_MS),
    )
    (row,) = deep_records(tmp_path, batch)
    assert row.control_type == "ABORT"
    assert row.value_record == StoredRecord("EndTxnMarker", 0, {"coordinator_epoch": 9})


def test_secrets_of_the_metadata_log_are_hidden(tmp_path: Path) -> None:
    broker = ConfigResourceType.BROKER
    secrets = [
        ConfigRecord(
            resource_type=broker,
            resource_name="1",
            name="listener.name.internal.ssl.keystore.password",
            value="swordfish",
        ),
        ConfigRecord(resource_type=broker, resource_name="1", name="plugin", value="swordfish"),
        UserScramCredentialRecord(
            name="alice", salt=b"swordfish", stored_key=b"swordfish", server_key=b"swordfish"
        ),
    ]
    plain = ConfigRecord(resource_type=broker, resource_name="1", name="num.io.threads", value="7")
    batch = build_batch(
        [
            record(offset, None, METADATA_RECORDS.encode(message, 0))
            for offset, message in enumerate([*secrets, plain])
        ]
    )
    rows = deep_records(tmp_path / "__cluster_metadata-0", batch)
    assert "swordfish" not in str(rows)
    values = [row.value_record.fields.get("value") for row in rows if row.value_record]
    assert values == ["[hidden]", "[hidden]", None, "7"]


def test_broken_control_record_says_why(tmp_path: Path) -> None:
    voters = control_record(
        ControlRecordType.KRAFT_VOTERS, b"\0", offset=Offset(0), timestamp=TimestampMs(NOON_MS)
    )
    (row,) = deep_records(tmp_path, build_batch([voters], is_control=True))
    assert row.control_type == "KRAFT_VOTERS"
    assert row.decode_error is not None
    (row,) = deep_records(tmp_path, build_batch([record(0, b"?")], is_control=True))
    assert row.control_type is None
    assert row.decode_error is not None


def test_unknown_control_record_is_no_error(tmp_path: Path) -> None:
    (row,) = deep_records(tmp_path, build_batch([record(0, b"\0\0\0\x63")], is_control=True))
    assert (row.control_type, row.value_record, row.decode_error) == ("UNKNOWN", None, None)
