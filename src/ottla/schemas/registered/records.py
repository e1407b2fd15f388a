"""The records of the topic of schemas, in the formats of Confluent's registry.

Keys are JSON texts that compaction compares byte by byte, so the order of their members and their
spelling are fixed. A record of another kind, or one that cannot be read, is skipped with a warning:
it may come from a newer registry.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from ottla.schemas import SchemaType
from ottla.schemas.registered.schema_version import (
    NamedReference,
    RegisteredSchema,
    SchemaVersion,
)

_log = logging.getLogger(__name__)

_ENCODER: Final = msgspec.json.Encoder()


class TopicRecord(NamedTuple):
    """`value` is None to delete the key."""

    key: bytes
    value: bytes | None


class SchemaWritten(NamedTuple):
    version: SchemaVersion


class SchemaRemoved(NamedTuple):
    subject: str
    version: int


class SubjectDeleted(NamedTuple):
    """All versions up to this one are deleted softly."""

    subject: str
    version: int


class SubjectCleared(NamedTuple):
    """The versions that are deleted are gone. None: of all subjects."""

    subject: str | None


class ConfigChanged(NamedTuple):
    """Of a subject, a context (`:.context:`), or all (None). No config: it is deleted."""

    subject: str | None
    config: Mapping[str, Any] | None


class ModeChanged(NamedTuple):
    subject: str | None
    mode: str | None


class ContextChanged(NamedTuple):
    context: str
    exists: bool


class IdsUsed(NamedTuple):
    """The highest id of each context, when no schema that remains has it."""

    highest: Mapping[str, int]


Change: TypeAlias = (
    SchemaWritten
    | SchemaRemoved
    | SubjectDeleted
    | SubjectCleared
    | ConfigChanged
    | ModeChanged
    | ContextChanged
    | IdsUsed
)


def encode_change(change: Change) -> TopicRecord:
    if isinstance(change, SchemaWritten):
        version = change.version
        return _record(_schema_key(version.subject, version.version), _schema_value(version))
    if isinstance(change, SchemaRemoved):
        return _record(_schema_key(change.subject, change.version), None)
    if isinstance(change, SubjectDeleted):
        value = {"subject": change.subject, "version": change.version}
        return _record(_key("DELETE_SUBJECT", change.subject), value)
    if isinstance(change, SubjectCleared):
        return _record(_key("CLEAR_SUBJECT", change.subject), _with_subject(change.subject, {}))
    if isinstance(change, ConfigChanged):
        config = None if change.config is None else _with_subject(change.subject, change.config)
        return _record(_key("CONFIG", change.subject), config)
    if isinstance(change, ModeChanged):
        mode = None if change.mode is None else _with_subject(change.subject, {"mode": change.mode})
        return _record(_key("MODE", change.subject), mode)
    if isinstance(change, ContextChanged):
        named = {"tenant": "default", "context": change.context}
        return _record({"keytype": "CONTEXT", **named}, named if change.exists else None)
    # Confluent's registry does not read the values of these records.
    return _record({"keytype": "NOOP", "magic": 0}, {"highestIds": dict(change.highest)})


def decode_change(record: TopicRecord, timestamp_ms: int = -1) -> Change | None:
    """None for a record that says nothing to this registry."""
    try:
        key = msgspec.json.decode(record.key)
        value = None if record.value is None else msgspec.json.decode(record.value)
        return _decode(key, value, timestamp_ms)
    except (msgspec.MsgspecError, AttributeError, KeyError, TypeError, ValueError) as error:
        _log.warning("skipped a record of the topic of schemas: %s", error)
        return None


def _decode(key: dict[str, Any], value: dict[str, Any] | None, timestamp_ms: int) -> Change | None:
    kind: str = key["keytype"]
    subject: Any = key.get("subject")
    if kind == "SCHEMA":
        if value is None:
            return SchemaRemoved(subject, key["version"])
        return SchemaWritten(_version_of(value, timestamp_ms))
    if kind == "CONFIG":
        if value is not None:
            value.pop("subject", None)
        return ConfigChanged(subject, value)
    if kind == "MODE":
        return ModeChanged(subject, None if value is None else value.get("mode"))
    if kind == "CONTEXT":
        return ContextChanged(key["context"], value is not None)
    if value is None:
        return None
    if kind == "DELETE_SUBJECT":
        return SubjectDeleted(subject, value["version"])
    if kind == "CLEAR_SUBJECT":
        return SubjectCleared(subject)
    if kind == "NOOP" and "highestIds" in value:
        return IdsUsed(value["highestIds"])
    return None


def _version_of(value: dict[str, Any], timestamp_ms: int) -> SchemaVersion:
    references = tuple(
        NamedReference(each["name"], each["subject"], each["version"])
        for each in value.get("references") or ()
    )
    schema = RegisteredSchema(
        SchemaType(value.get("schemaType") or "AVRO"),
        value["schema"],
        references,
        value.get("metadata"),
        value.get("ruleSet"),
    )
    return SchemaVersion(
        value["subject"],
        value["version"],
        value["id"],
        schema,
        schema.digest(),
        bool(value.get("deleted")),
        timestamp_ms,
    )


def _schema_value(version: SchemaVersion) -> dict[str, Any]:
    schema = version.schema
    value: dict[str, Any] = {
        "subject": version.subject,
        "version": version.version,
        "id": version.id,
    }
    if schema.type is not SchemaType.AVRO:
        value["schemaType"] = schema.type.value
    if schema.references:
        value["references"] = [each._asdict() for each in schema.references]
    if schema.metadata is not None:
        value["metadata"] = schema.metadata
    if schema.rule_set is not None:
        value["ruleSet"] = schema.rule_set
    return {**value, "schema": schema.text, "deleted": version.is_deleted}


def _schema_key(subject: str, version: int) -> dict[str, Any]:
    return {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}


def _key(kind: str, subject: str | None) -> dict[str, Any]:
    return {"keytype": kind, **({} if subject is None else {"subject": subject}), "magic": 0}


def _with_subject(subject: str | None, value: Mapping[str, Any]) -> dict[str, Any]:
    return {**({} if subject is None else {"subject": subject}), **value}


def _record(key: Mapping[str, Any], value: Mapping[str, Any] | None) -> TopicRecord:
    return TopicRecord(_ENCODER.encode(key), None if value is None else _ENCODER.encode(value))
