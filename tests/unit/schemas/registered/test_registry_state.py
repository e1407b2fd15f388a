"""What the records of the topic say, and what they become."""

from __future__ import annotations

import json

import pytest

from ottla.schemas import SchemaType
from ottla.schemas.registered.records import (
    Change,
    ConfigChanged,
    ContextChanged,
    IdsUsed,
    ModeChanged,
    SchemaRemoved,
    SchemaWritten,
    SubjectDeleted,
    TopicRecord,
    decode_change,
    encode_change,
)
from ottla.schemas.registered.schema_version import (
    NamedReference,
    RegisteredSchema,
    SchemaVersion,
)
from ottla.schemas.registered.state import RegistryState
from ottla.schemas.registered.subject_name import SubjectName, beside, normal_subject
from ottla.web.registry.model.settings_in_scope import level_in_scope, mode_in_scope


def version(
    subject: str, number: int, id_: int, text: str = '"int"', **more: object
) -> SchemaWritten:
    schema = RegisteredSchema(SchemaType.AVRO, text, **more)  # type: ignore[arg-type]
    return SchemaWritten(SchemaVersion(subject, number, id_, schema, schema.digest()))


def after(*changes: Change) -> RegistryState:
    state = RegistryState()
    for change in changes:
        state.apply(change)
    return state


@pytest.mark.parametrize(
    "change",
    [
        version("a", 1, 1),
        version(
            ":.c:a",
            2,
            7,
            references=(NamedReference("n", "s", 1),),
            metadata={"properties": {"p": "v"}},
        ),
        SchemaRemoved("a", 1),
        SubjectDeleted("a", 2),
        ConfigChanged(None, {"compatibilityLevel": "FULL"}),
        ConfigChanged("a", None),
        ModeChanged("a", "IMPORT"),
        ContextChanged(".c", exists=True),
        IdsUsed({".": 9}),
    ],
)
def test_a_change_survives_the_topic(change: Change) -> None:
    assert decode_change(encode_change(change)) == change


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"not json", b"{}"),
        (b"{}", b"{}"),
        (b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}', b'{"subject":"a"}'),
        (b'{"keytype":"NOOP","magic":0}', b""),
        (b'{"keytype":"ASSOC"}', b"{}"),
    ],
)
def test_a_record_that_cannot_be_read_is_skipped(key: bytes, value: bytes) -> None:
    assert decode_change(TopicRecord(key, value)) is None


def test_a_deleted_subject_keeps_its_versions_until_they_are_removed() -> None:
    state = after(version("a", 1, 1), version("a", 2, 2, '"long"'), SubjectDeleted("a", 2))
    assert not state.has_subject("a", with_deleted=False)
    assert [each.is_deleted for each in state.versions("a")] == [True, True]
    state.apply(SchemaRemoved("a", 2))
    assert state.any_with_id(".", 2) is None
    assert state.highest_ids == {".": 2}


def test_equal_schemas_of_one_context_share_an_id() -> None:
    state = after(version("a", 1, 1), version("b", 1, 1), version(":.c:a", 1, 4))
    digest = state.versions("a")[0].digest
    assert state.id_of(".", digest) == 1
    assert state.id_of(".c", digest) == 4
    assert [each.subject for each in state.with_id(".", 1)] == ["a", "b"]
    assert state.contexts == [".", ".c"]


def test_references_are_known_in_the_context_of_the_schema() -> None:
    reference = (NamedReference("n", "in", 1),)
    state = after(version(":.c:in", 1, 1), version(":.c:out", 1, 2, '"long"', references=reference))
    (found,) = state.referencing(":.c:in", 1, with_deleted=False)
    assert found.subject == ":.c:out"
    state.apply(SchemaRemoved(":.c:out", 1))
    assert state.referencing(":.c:in", 1, with_deleted=True) == []


def test_settings_of_a_subject_override_those_around_it() -> None:
    state = after(
        ConfigChanged(None, {"compatibilityLevel": "FULL"}),
        ConfigChanged(":.c:", {"compatibilityLevel": "NONE"}),
        ModeChanged("a", "IMPORT"),
    )
    assert level_in_scope(state, "a").value == "FULL"
    assert level_in_scope(state, ":.c:a").value == "NONE"
    assert mode_in_scope(state, "a") == "IMPORT"
    state.apply(ModeChanged(None, "READONLY_OVERRIDE"))
    assert mode_in_scope(state, "a") == "READONLY_OVERRIDE"


def test_names_of_subjects() -> None:
    assert SubjectName.parse(":.c:a:b") == SubjectName(".c", "a:b")
    assert normal_subject(":.:a") == "a"
    assert beside(":.c:a", "b") == ":.c:b"
    assert beside(":.c:a", ":.d:b") == ":.d:b"
    assert not SubjectName.parse("a\n").is_valid


def test_the_guid_is_a_hash_of_what_makes_schemas_equal() -> None:
    plain = version("a", 1, 1).version
    assert plain.guid == version("b", 7, 9).version.guid
    assert plain.guid != version("a", 1, 1, metadata={}).version.guid
    assert json.loads(encode_change(SchemaWritten(plain)).value or b"")["schema"] == '"int"'
