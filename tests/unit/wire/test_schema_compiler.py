"""What a declaration means on the wire, case by case."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.model import ZERO_UUID
from ottla.model import Uuid as RawUuid
from ottla.wire.errors import ProtocolError
from ottla.wire.schema import (
    Bool,
    Bytes,
    Int16,
    Int32,
    Message,
    Records,
    String,
    Struct,
    Uuid,
    field,
)
from tests.support.kafka.protocol_classes import table_class
from tests.support.kafka.protocol_table import layouts_by_version, message_names
from tests.support.kafka.protocol_values import Values


class Leader(Struct):
    id: Int32 = -1
    epoch: Int32 = -1


class Partition(Struct):
    index: Int32 = 0
    leader: Leader | None = field(default=None, versions="2+", nullable="none", tag=0)
    records: Records | None = None


class Sample(Message, api_key=99, versions="0-3", flexible="2+"):
    name: String | None = field(default="", nullable="1+")
    replicas: list[Int32] = field(factory=list)
    ids: list[Uuid] = field(factory=list, versions="1+")
    partitions: list[Partition] | None = field(factory=list)
    note: String | None = field(default=None, versions="2+", tag=1)
    previous: Leader | None = field(factory=Leader, versions="2+", tag=2)
    payload: Bytes = field(default=b"", versions="3+")
    final: Bool = field(default=True, versions="3+")


class Plain(Message, versions="0-1", flexible="1+"):
    text: String = ""
    code: Int16 = 0


def test_field_that_a_version_lacks_is_not_written_and_takes_its_default() -> None:
    sample = Sample(ids=[ZERO_UUID], note="lost", payload=b"lost", final=False)
    decoded = Sample.decode(sample.encode(0), 0)
    assert (decoded.ids, decoded.note, decoded.payload, decoded.final) == ([], None, b"", True)


def test_defaults_are_not_shared_between_messages() -> None:
    Sample().replicas.append(1)
    data = Sample().encode(0)
    Sample.decode(data, 0).ids.append(ZERO_UUID)
    assert Sample().replicas == []
    assert Sample.decode(data, 0).ids == []


def test_bytes_are_those_of_the_layout() -> None:
    plain = Plain(text="ab", code=-2)
    assert plain.encode(0) == b"\x00\x02ab\xff\xfe"
    assert plain.encode(1) == b"\x03ab\xff\xfe\x00"


def test_null_is_refused_in_versions_that_do_not_allow_it() -> None:
    nameless = Sample(name=None)
    assert Sample.decode(nameless.encode(1), 1).name is None
    with pytest.raises(ProtocolError, match="cannot encode Sample version 0"):
        nameless.encode(0)
    with pytest.raises(ProtocolError, match="name is null, which this version does not allow"):
        Sample.decode(nameless.encode(1), 0)


def test_tagged_field_is_written_only_where_it_differs_from_its_default() -> None:
    assert Sample().encode(2) == b"\x01\x01\x01\x01\x00"
    assert Sample(note="x").encode(2) == b"\x01\x01\x01\x01\x01\x01\x02\x02x"


def test_tagged_struct_is_none_where_it_was_not_sent() -> None:
    unsent = Sample(partitions=[Partition(index=1)])
    defaults = Sample(partitions=[Partition(index=1, leader=Leader())])
    sent = Sample(partitions=[Partition(index=1, leader=Leader(id=5))])
    assert unsent.encode(2) == defaults.encode(2)
    assert Sample.decode(unsent.encode(2), 2) == unsent
    assert Sample.decode(sent.encode(2), 2) == sent


def test_tagged_struct_that_can_be_null_says_so() -> None:
    null = Sample(previous=None)
    assert null.encode(2).endswith(b"\x01\x02\x01\x00")
    assert Sample.decode(null.encode(2), 2).previous is None
    assert Sample.decode(Sample().encode(2), 2).previous == Leader()


def test_unknown_tags_are_kept_and_written_in_order() -> None:
    newer = b"\x01\x01\x01\x01" + b"\x03" + b"\x01\x02\x02x" + b"\x07\x01z" + b"\x80\x01\x00"
    sample = Sample.decode(newer, 2)
    assert sample.note == "x"
    assert sample.unknown_tags == {7: b"z", 128: b""}
    assert sample.encode(2) == newer


@pytest.mark.parametrize("tags", [b"\x02\x07\x00\x07\x00", b"\x02\x08\x00\x07\x00"])
def test_tags_that_repeat_or_go_backwards_are_refused(tags: bytes) -> None:
    with pytest.raises(ProtocolError, match="tag 7 follows tag"):
        Sample.decode(b"\x01\x01\x01\x01" + tags, 2)


def test_tagged_field_must_fill_its_declared_size() -> None:
    with pytest.raises(ProtocolError, match="tagged field note ends at byte 9"):
        Sample.decode(b"\x01\x01\x01\x01\x01\x01\x03\x02x?", 2)


def test_records_are_neither_copied_in_nor_out() -> None:
    records = bytearray(b"batch")
    parts: list[bytes | bytearray | memoryview] = []
    Sample(partitions=[Partition(records=records)]).encode_into(parts, 2)
    assert any(part is records for part in parts)
    frame = bytearray(b"".join(parts))
    decoded = Sample.decode(frame, 2)
    assert decoded.partitions is not None
    view = decoded.partitions[0].records
    assert isinstance(view, memoryview)
    assert view.obj is frame


def test_bytes_outlive_the_buffer_that_they_came_in() -> None:
    frame = bytearray(Sample(payload=b"kept").encode(3))
    decoded = Sample.decode(frame, 3)
    frame[:] = bytes(len(frame))
    assert decoded.payload == b"kept"


@pytest.mark.parametrize("version", [0, 1])
def test_string_past_32767_bytes_is_refused_both_ways(version: int) -> None:
    longest = Plain(text="x" * 32767)
    assert Plain.decode(longest.encode(version), version) == longest
    with pytest.raises(ProtocolError, match="cannot encode Plain"):
        Plain(text="x" * 32768).encode(version)


def test_flexible_length_past_32767_is_refused_before_the_string_is_read() -> None:
    with pytest.raises(ProtocolError, match="a string claims 32768 bytes; 32767 are allowed"):
        Plain.decode(b"\x81\x80\x02" + b"x" * 32768 + b"\0\0\0", 1)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 126, 127, 128, 5000])
@pytest.mark.parametrize("version", [1, 2])
def test_arrays_of_every_length_come_back(count: int, version: int) -> None:
    sample = Sample(
        replicas=list(range(count)), ids=[RawUuid(bytes([n % 256] * 16)) for n in range(count)]
    )
    assert Sample.decode(sample.encode(version), version) == sample


@pytest.mark.parametrize(
    "wrong",
    [
        Plain(text=5),  # type: ignore[arg-type]
        Plain(code=40_000),
        Plain(code="x"),  # type: ignore[arg-type]
        Plain(text="\ud800"),
    ],
)
def test_value_that_does_not_fit_its_field_is_refused(wrong: Plain) -> None:
    for version in (0, 1):
        with pytest.raises(ProtocolError, match=f"cannot encode Plain version {version}"):
            wrong.encode(version)


def test_text_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(ProtocolError, match="malformed Plain version 0: 'utf-8' codec"):
        Plain.decode(b"\x00\x02\xff\xff\x00\x00", 0)


def test_decoding_inside_a_buffer_returns_the_end_of_the_message() -> None:
    data = Plain(text="a").encode(0)
    assert Plain.decode_from(b"??" + data + b"!", 0, 2) == (Plain(text="a"), 2 + len(data))
    with pytest.raises(ProtocolError, match="ends at byte 5, but 1 more bytes follow"):
        Plain.decode(data + b"!", 0)


def test_nothing_is_compiled_before_its_first_use() -> None:
    class Unused(Message, versions="0-5"):
        value: Int32 = 0

    assert Unused._encoders == {}
    Unused().encode(3)
    assert list(Unused._encoders) == [3]
    assert Unused._decoders == {}


def test_messages_compare_and_show_their_values() -> None:
    assert Plain(text="a") == Plain(text="a") != Plain(text="b")
    assert Plain(text="a") != Leader()
    assert repr(Plain(text="a")) == "Plain(text='a', code=0)"
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        Plain(colour=1)  # type: ignore[call-arg]


def test_repr_hides_secrets() -> None:
    class Login(Struct):
        name: String = ""
        password: String = field(default="", secret=True)

    assert repr(Login(name="a", password="b")) == "Login(name='a', password=[hidden])"


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=4, deadline=None)
def test_every_message_and_version_of_kafka_comes_back(seed: int) -> None:
    values = Values(seed, unknown_tags=True)
    for name in message_names():
        cls = table_class(name)
        for version in layouts_by_version(name):
            message = values.message(cls, version)
            assert cls.decode(message.encode(version), version) == message
