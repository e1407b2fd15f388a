"""Records as they rest in the metadata log, in internal topics and beside a log."""

import json

import pytest

from ottla.model import Uuid
from ottla.wire.errors import ProtocolError
from ottla.wire.stored.cluster_metadata import (
    METADATA_RECORDS,
    decode_metadata_record,
    encode_metadata_record,
)
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord, TopicRecord
from ottla.wire.stored.coordinator_records import (
    GROUP_RECORDS,
    SHARE_RECORDS,
    TRANSACTION_RECORDS,
    CoordinatorRecords,
)
from ottla.wire.stored.offsets import OffsetCommitKey, OffsetCommitValue
from ottla.wire.stored.quorum_state import (
    QuorumStateData,
    Voter,
    quorum_state_from_json,
    quorum_state_to_json,
)
from ottla.wire.stored.remote_storage import REMOTE_LOG_RECORDS
from ottla.wire.stored.typed_records import TypedRecords
from tests.support.kafka.declared_messages import declared_messages
from tests.support.kafka.protocol_table import message_class_name, read_table
from tests.support.kafka.protocol_values import Values


def names_in(package: str) -> set[str]:
    layouts = read_table("layouts")
    return {message_class_name(name) for name in layouts if layouts[name]["package"] == package}


@pytest.mark.parametrize(
    ("records", "package"),
    [
        (METADATA_RECORDS, "common.metadata"),
        (REMOTE_LOG_RECORDS, "server.log.remote.metadata.storage.generated"),
    ],
)
def test_registry_has_every_record_type_of_its_log(records: TypedRecords, package: str) -> None:
    assert {cls.__name__ for cls in records} == names_in(package) - {"ProducerSnapshot"}


@pytest.mark.parametrize(
    ("records", "package"),
    [
        (GROUP_RECORDS, "coordinator.group.generated"),
        (TRANSACTION_RECORDS, "coordinator.transaction.generated"),
        (SHARE_RECORDS, "coordinator.share.generated"),
    ],
)
def test_registry_has_every_key_and_value_of_its_topic(
    records: CoordinatorRecords, package: str
) -> None:
    names = {cls.__name__ for pair in records for cls in pair}
    assert names == names_in(package)
    for key, value in records:
        assert key.__name__.removesuffix("Key") == value.__name__.removesuffix("Value")


@pytest.mark.parametrize("records", [METADATA_RECORDS, REMOTE_LOG_RECORDS])
def test_typed_records_come_back_with_their_version(records: TypedRecords) -> None:
    for cls in records:
        for version in cls.versions:
            record = Values(version).message(cls, version)
            assert records.decode(records.encode(record, version)) == (record, version)


@pytest.mark.parametrize("records", [GROUP_RECORDS, TRANSACTION_RECORDS, SHARE_RECORDS])
def test_keys_and_values_come_back(records: CoordinatorRecords) -> None:
    for key_class, value_class in records:
        key = Values(1).message(key_class, 0)
        assert records.decode_key(records.encode_key(key)) == key
        for version in value_class.versions:
            value = Values(version).message(value_class, version)
            data = records.encode_value(value, version)
            assert records.decode_value(key, data) == (value, version)


def test_metadata_record_is_framed_as_in_kraft() -> None:
    record = TopicRecord(name="t", topic_id=Uuid(bytes(range(16))))
    data = encode_metadata_record(record, 0)
    assert data == b"\x01\x02\x00" + b"\x02t" + bytes(range(16)) + b"\x00"
    assert decode_metadata_record(memoryview(data)) == (record, 0)


def test_committed_offset_is_stored_as_in_kafka() -> None:
    key = OffsetCommitKey(group="g", topic="t", partition=3)
    value = OffsetCommitValue(offset=9, metadata="", commit_timestamp=5)
    assert GROUP_RECORDS.encode_key(key) == b"\x00\x01\x00\x01g\x00\x01t\x00\x00\x00\x03"
    stored = GROUP_RECORDS.encode_value(value, 3)
    assert stored == b"\x00\x03" + (9).to_bytes(8) + b"\xff" * 4 + b"\x00\x00" + (5).to_bytes(8)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "the buffer ends inside"),
        (b"\x00\x02\x00", "frame version 0 instead of 1"),
        (b"\x01\x63\x00", "record type 99 is unknown"),
        (b"\x01\x02\x07", "TopicRecord has no version 7"),
        (b"\x01\x02\x00\x02", "TopicRecord version 0"),
        (encode_metadata_record(PartitionChangeRecord(), 0) + b"!", "1 bytes follow"),
    ],
)
def test_bad_metadata_record_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(ProtocolError, match=complaint):
        decode_metadata_record(data)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "too short"),
        (b"\x00", "too short"),
        (b"\x00\x63", "record type 99"),
        (b"\x00\x01\x00", "OffsetCommitKey version 0 is cut short"),
        (b"\x00\x02\x00\x01g!", "more bytes follow"),
    ],
)
def test_bad_coordinator_key_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(ProtocolError, match=complaint):
        GROUP_RECORDS.decode_key(data)


def test_coordinator_value_of_an_unknown_version_is_refused() -> None:
    with pytest.raises(ProtocolError, match="OffsetCommitValue has no version 9"):
        GROUP_RECORDS.decode_value(OffsetCommitKey(), b"\x00\x09")


def test_quorum_state_is_kafkas_json() -> None:
    old = QuorumStateData(leader_id=1, leader_epoch=2, current_voters=[Voter(voter_id=1)])
    assert quorum_state_to_json(old, 0) == (
        '{"clusterId":"","leaderId":1,"leaderEpoch":2,"votedId":-1,"appliedOffset":0,'
        '"currentVoters":[{"voterId":1}],"data_version":0}'
    )
    new = QuorumStateData(leader_epoch=2, voted_id=1, voted_directory_id=Uuid(bytes(range(16))))
    assert quorum_state_to_json(new, 1) == (
        '{"leaderId":-1,"leaderEpoch":2,"votedId":1,"votedDirectoryId":"AAECAwQFBgcICQoLDA0ODw",'
        '"data_version":1}'
    )
    assert quorum_state_from_json(quorum_state_to_json(old, 0)) == (old, 0)
    assert quorum_state_from_json(quorum_state_to_json(new, 1)) == (new, 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        '{"data_version":0}',
        '{"data_version":"1"}',
        '{"data_version":2,"leaderId":1,"leaderEpoch":2,"votedId":1,"votedDirectoryId":""}',
        quorum_state_to_json(QuorumStateData(), 1).replace("-1", '"x"'),
        quorum_state_to_json(QuorumStateData(), 1).replace("AAAA", "?"),
        quorum_state_to_json(QuorumStateData(), 0).replace("[]", "7"),
    ],
)
def test_broken_quorum_state_is_refused(text: str) -> None:
    with pytest.raises(ProtocolError, match="the quorum state cannot be read"):
        quorum_state_from_json(text)


def test_every_quorum_state_comes_back() -> None:
    cls = declared_messages()["QuorumStateData"]
    for version in cls.versions:
        for seed in range(20):
            state = Values(seed).message(cls, version)
            assert isinstance(state, QuorumStateData)
            text = quorum_state_to_json(state, version)
            assert json.loads(text)["data_version"] == version
            assert quorum_state_from_json(text) == (state, version)
