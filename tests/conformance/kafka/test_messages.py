"""Kafka's own classes read what we write, see the same values in it, and write the same bytes."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.model import uuid_to_text
from ottla.wire.schema import Message, Struct
from ottla.wire.schema.fields import Field, fields_of, plain_fields
from ottla.wire.schema.types import Array, Blob, FieldType, Fixed, Nested
from ottla.wire.stored.quorum_state import QuorumStateData, quorum_state_to_json
from tests.conformance.kafka.judge import Item, Judge
from tests.support.kafka.declared_messages import class_for, declared_messages
from tests.support.kafka.protocol_classes import table_class
from tests.support.kafka.protocol_table import layouts_by_version, message_names, squash
from tests.support.kafka.protocol_values import Values

pytestmark = pytest.mark.java

PAIRS = [(name, version) for name in message_names() for version in layouts_by_version(name)]
PAIRS_COUNT_MIN = 728


def messages(seed: int, *, unknown_tags: bool) -> list[tuple[str, int, Message]]:
    """One of each message and version, of the classes in source and of those made of the table."""
    values = Values(seed, unknown_tags=unknown_tags)
    return [
        (name, version, values.message(cls, version))
        for name, version in PAIRS
        for cls in {class_for(name, version), table_class(name)}
    ]


@given(seed=st.integers(0, 2**32 - 1), unknown_tags=st.booleans())
@settings(max_examples=4, deadline=None)
def test_kafka_reads_and_writes_the_same_bytes(judge: Judge, seed: int, unknown_tags: bool) -> None:
    items = [
        Item(name, version, message.encode(version))
        for name, version, message in messages(seed, unknown_tags=unknown_tags)
    ]
    assert len(PAIRS) >= PAIRS_COUNT_MIN
    judge.assert_same_bytes(items)


def test_kafka_sees_the_same_values_in_every_field(judge: Judge) -> None:
    made = [made for made in messages(7, unknown_tags=False) if made[0] in declared_messages()]
    items = [Item(name, version, message.encode(version)) for name, version, message in made]
    for (name, version, message), answer in zip(made, judge.roundtrip(items), strict=True):
        assert answer.error is None
        assert_same_values(message, answer.json, version, name)


def test_kafka_would_keep_the_same_quorum_state(judge: Judge) -> None:
    values = Values(11)
    states = [
        (values.message(QuorumStateData, v), v) for v in QuorumStateData.versions for _ in "abc"
    ]
    items = [Item("QuorumStateData", version, state.encode(version)) for state, version in states]
    for (state, version), answer in zip(states, judge.roundtrip(items), strict=True):
        kept = json.loads(quorum_state_to_json(state, version))
        assert kept == answer.json | {"data_version": version}


def assert_same_values(ours: Struct, theirs: dict[str, Any], version: int, where: str) -> None:
    by_name = {squash(name): value for name, value in theirs.items()}
    for field in fields_of(type(ours)):
        if version not in field.options.versions:
            continue
        value, title = getattr(ours, field.name), f"{where} version {version} {field.name}"
        if squash(field.name) in by_name:
            assert_same(value, by_name[squash(field.name)], field.type, version, title)
        else:
            assert field not in plain_fields(type(ours), version) or _is_records(field), title
            assert _is_records(field) or value == field.options.make_default(), title


def assert_same(ours: Any, theirs: Any, kind: FieldType, version: int, title: str) -> None:
    if ours is None or theirs is None:
        assert ours is theirs, title
    elif isinstance(kind, Nested):
        assert_same_values(ours, theirs, version, title)
    elif isinstance(kind, Array):
        assert len(ours) == len(theirs), title
        for our_item, their_item in zip(ours, theirs, strict=True):
            assert_same(our_item, their_item, kind.element, version, title)
    elif isinstance(kind, Blob):
        assert base64.b64encode(ours).decode() == theirs, title
    elif isinstance(kind, Fixed) and kind.name == "UUID":
        assert uuid_to_text(ours) == theirs, title
    else:
        assert ours == theirs, title


def _is_records(field: Field) -> bool:
    """Kafka's converter gives the size of records instead of the records."""
    return isinstance(field.type, Blob) and field.type.records
