"""Messages and bytes become JSON without losing anything."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.dump.plain import Fields, fields_to_plain, printable_text, put_bytes
from ottla.model import Uuid, uuid_to_text
from ottla.wire.stored.cluster_metadata.topics import PartitionRecord, TopicRecord
from ottla.wire.stored.groups import GroupMetadataValue, MemberMetadata
from ottla.wire.stored.offsets import OffsetCommitValue

TOPIC_ID = Uuid(bytes(range(16)))


def test_ids_are_written_as_kafka_writes_them() -> None:
    plain = fields_to_plain(TopicRecord(name="orders", topic_id=TOPIC_ID), 0)
    assert plain == {"name": "orders", "topic_id": uuid_to_text(TOPIC_ID)}


def test_ids_in_a_list_are_written_alike() -> None:
    plain = fields_to_plain(PartitionRecord(directories=[TOPIC_ID]), 1)
    assert plain["directories"] == [uuid_to_text(TOPIC_ID)]


def test_only_the_fields_of_the_version_are_there() -> None:
    value = OffsetCommitValue(offset=5, metadata="m")
    assert "expire_timestamp" in fields_to_plain(value, 1)
    assert "expire_timestamp" not in fields_to_plain(value, 3)
    assert "topic_id" in fields_to_plain(value, 4)


def test_bytes_of_nested_structs_say_their_encoding() -> None:
    group = GroupMetadataValue(members=[MemberMetadata(subscription=b"\0\1", assignment=b"text")])
    (member,) = fields_to_plain(group, 3)["members"]
    assert member["subscription_encoding"] == "base64"
    assert base64.b64decode(member["subscription"]) == b"\0\1"
    assert member["assignment"] == "text"
    assert "assignment_encoding" not in member


def test_unknown_tags_are_shown() -> None:
    record = TopicRecord(name="orders", topic_id=TOPIC_ID, unknown_tags={9: b"new"})
    assert fields_to_plain(record, 0)["unknown_tag_9"] == "new"


@pytest.mark.parametrize("data", [b"", b"plain", "naïve ✓".encode(), b'{\n\t"a": 1\r\n}'])
def test_text_stays_text(data: bytes) -> None:
    assert printable_text(data) == data.decode()


@pytest.mark.parametrize("data", [b"\0", b"\xff", b"\x1b[31m", "\u2028".encode()])
def test_unreadable_bytes_are_no_text(data: bytes) -> None:
    assert printable_text(data) is None


@given(st.none() | st.binary() | st.text().map(str.encode))
def test_bytes_can_be_had_back_from_json(data: bytes | None) -> None:
    plain: Fields = {}
    put_bytes(plain, "key", data)
    read = json.loads(json.dumps(plain))
    if read["key"] is None:
        assert data is None
    elif "key_encoding" in read:
        assert base64.b64decode(read["key"]) == data
    else:
        assert read["key"].encode() == data
