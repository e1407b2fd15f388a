"""Which records of a batch are bad, and what the checker has to ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ottla.broker.validation.payload_check import (
    NamedSchema,
    PayloadFindings,
    PayloadTask,
    check_payloads,
)
from ottla.broker.validation.verdicts import SchemaRef, SchemaVerdict
from ottla.model import Offset, TimestampMs
from ottla.schemas import SchemaSource, SchemaType
from ottla.schemas.framing import VALUE_HEADER, frame, guid_header
from ottla.schemas.rules import PartRule, PayloadCheck, SchemaRules, SubjectNaming
from ottla.wire.records import Record, build_batch
from ottla.wire.records.compression import Codec

IDS = SchemaRules(value=PartRule(PayloadCheck.SCHEMA_ID))
FULL = SchemaRules(value=PartRule(PayloadCheck.FULL))
GOOD = SchemaVerdict()
LONG = SchemaSource(SchemaType.AVRO, '"long"')
GUID = "095d71cf-1255-6b9d-5e33-0ad575b3df5d"


def check(
    *values: bytes | None,
    rules: SchemaRules = IDS,
    known: Mapping[SchemaRef, SchemaVerdict] | None = None,
    keys: Mapping[SchemaRef, SchemaVerdict] | None = None,
    key: bytes | None = None,
    headers: tuple[Any, ...] = (),
    sources: Mapping[str, SchemaSource] | None = None,
    codec: Codec = Codec.NONE,
) -> PayloadFindings:
    records = [
        Record(Offset(at), TimestampMs(0), key, value, headers) for at, value in enumerate(values)
    ]
    task = PayloadTask(rules, "orders", keys or {}, known or {}, sources or {})
    return check_payloads(bytes(build_batch(records, codec=codec)), 1 << 20, task)


@pytest.mark.parametrize("codec", list(Codec))
def test_known_ids_and_nulls_are_good(codec: Codec) -> None:
    for size in (0, 1, 60, 200, 20_000):
        value = frame(1, b"x" * size)
        assert check(value, None, value, known={1: GOOD}, codec=codec) == PayloadFindings([], 0)


@pytest.mark.parametrize("value", [b"", b"\x00", b"\x00\x00\x00\x00", b"\x01\x00\x00\x00\x01"])
def test_a_value_without_an_id_is_bad(value: bytes) -> None:
    found = check(frame(1, b"x"), value, frame(1, b""), known={1: GOOD})
    assert [each.batch_index for each in found.bad] == [1]
    assert not found.doubts


def test_unknown_schemas_are_asked_for() -> None:
    found = check(frame(1, b""), frame(2, b""), frame(3, b""), known={1: GOOD})
    assert found.unknown == {NamedSchema(False, 2), NamedSchema(False, 3)}


def test_a_refusal_is_doubtful_until_the_registry_was_asked_again() -> None:
    found = check(frame(2, b""), known={2: SchemaVerdict("schema 2 was deleted")})
    assert found.doubts
    assert found.bad == [(0, "the value: schema 2 was deleted")]


def test_a_header_counts_and_not_the_value() -> None:
    headers = ((VALUE_HEADER, guid_header(GUID)),)
    assert check(frame(1, b""), known={1: GOOD}, headers=headers).unknown == {
        NamedSchema(False, GUID)
    }
    assert not check(b"anything", known={GUID: GOOD}, headers=headers).bad_count


def test_keys_are_checked_by_their_own_rule() -> None:
    rules = SchemaRules(key=PartRule(PayloadCheck.SCHEMA_ID))
    assert not check(b"any", key=frame(1, b""), rules=rules, keys={1: GOOD}).bad_count
    assert check(b"any", key=b"key", rules=rules, keys={1: GOOD}).bad == [
        (0, "the key: the record does not begin with the id of a schema")
    ]


def test_a_source_is_asked_for_once() -> None:
    known: dict[SchemaRef, SchemaVerdict] = {1: SchemaVerdict(key="long of this test")}
    first = check(frame(1, b"\x0e"), rules=FULL, known=known)
    assert first.missing == {"long of this test"}
    sources = {"long of this test": LONG}
    assert not check(frame(1, b"\x0e"), rules=FULL, known=known, sources=sources).missing
    again = check(frame(1, b"\x0e"), frame(1, b""), rules=FULL, known=known)
    assert not again.missing
    assert [each.batch_index for each in again.bad] == [1]
    assert "does not fit schema 1" in again.bad[0].message


def test_a_schema_that_cannot_be_used_refuses_its_records() -> None:
    known: dict[SchemaRef, SchemaVerdict] = {1: SchemaVerdict(key="broken")}
    sources = {"broken": SchemaSource(SchemaType.AVRO, '{"type": "nothing"}')}
    found = check(frame(1, b""), rules=FULL, known=known, sources=sources)
    assert "schema 1 cannot be used" in found.bad[0].message


@pytest.mark.parametrize(
    ("naming", "subject"),
    [(SubjectNaming.RECORD, "a.Order"), (SubjectNaming.TOPIC_RECORD, "orders-a.Order")],
)
def test_the_subject_has_the_name_of_the_record(naming: SubjectNaming, subject: str) -> None:
    rules = SchemaRules(value=PartRule(PayloadCheck.SCHEMA_ID, naming))
    order = '{"type": "record", "name": "Order", "namespace": "a", "fields": []}'
    sources = {"order": SchemaSource(SchemaType.AVRO, order)}
    for subjects, is_good in (({subject}, True), ({"Order"}, False)):
        verdict = SchemaVerdict(key="order", subjects=frozenset(subjects))
        found = check(frame(1, b""), rules=rules, known={1: verdict}, sources=sources)
        assert found.bad_count == (0 if is_good else 1)
        assert found.doubts is not is_good


def test_the_number_of_schemas_and_of_listed_records_is_limited() -> None:
    found = check(*(frame(number, b"") for number in range(3_000)), known={})
    assert len(found.unknown) == 1_000
    assert found.bad_count == 2_000
    assert len(found.bad) == 1_000
