"""The batch that a dead letter topic gets."""

from __future__ import annotations

from ottla.broker.validation.letters import LetterPlace, LetterText, build_letter
from ottla.model import Uuid
from ottla.model.ids import ONE_TIME_PRODUCER_ID_MIN
from ottla.wire.records import iterate_records
from ottla.wire.records.builder import set_aside_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import HEADER_BYTES, read_header
from tests.support.storage.batches import batch_of

PLACE = LetterPlace(Uuid(bytes(range(16))), 3, 100, 5)
TEXT = LetterText("orders", "the batch is refused", {1: "the value: it is wrong"})


def test_a_letter_has_the_records_and_says_where_they_come_from() -> None:
    batch = bytes(batch_of(b"a", None, key=b"k", timestamp=77, codec=Codec.ZSTD))
    letter = build_letter(batch, 1 << 20, TEXT, PLACE, 99)
    first, second = iterate_records(letter)
    assert (first.key, first.value, first.timestamp) == (b"k", b"a", 99)
    assert second.value is None
    headers = dict(second.headers)
    assert headers == {
        "__dlq.errors.topic": b"orders",
        "__dlq.errors.partition": b"3",
        "__dlq.errors.offset": b"101",
        "__dlq.errors.timestamp": b"77",
        "__dlq.errors.message": b"the value: it is wrong",
    }
    other = dict(first.headers)["__dlq.errors.message"]
    assert other == b"Another record of the batch does not fit its schema."
    assert read_header(letter).codec is Codec.ZSTD


def test_a_letter_has_the_same_identity_whenever_it_is_written() -> None:
    batch = bytes(batch_of(b"a", producer_id=7, sequence=3))
    first = read_header(build_letter(batch, 1 << 20, TEXT, PLACE, 99))
    again = read_header(build_letter(batch, 1 << 20, TEXT, PLACE, 1_000))
    identity = (first.producer_id, first.producer_epoch, first.base_sequence)
    assert identity == (again.producer_id, again.producer_epoch, again.base_sequence)
    assert identity[1:] == (0, 0)


def test_no_other_place_has_the_identity() -> None:
    others = [
        PLACE._replace(topic_id=Uuid(bytes(16))),
        PLACE._replace(partition=4),
        PLACE._replace(offset=101),
        PLACE._replace(leader_epoch=6),
    ]
    ids = {each.producer_id for each in (PLACE, *others)}
    assert len(ids) == 5
    assert all(ONE_TIME_PRODUCER_ID_MIN <= each < 2**63 for each in ids)


def test_the_place_keeps_offsets_and_sequence_numbers_and_nothing_else() -> None:
    header = read_header(batch_of(b"a", b"b", producer_id=7, sequence=3, codec=Codec.LZ4))
    place = set_aside_batch(header)
    assert len(place) == HEADER_BYTES
    found = read_header(place)
    assert found.is_set_aside
    assert found.record_count == 0
    assert (found.producer_id, found.base_sequence, found.last_sequence) == (7, 3, 4)
    assert found.last_offset_delta == 1
    assert found.max_timestamp == header.max_timestamp
    assert not header.is_set_aside
