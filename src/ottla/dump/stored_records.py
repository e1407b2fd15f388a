"""Decodes the keys and values of control records and of Kafka's internal topics.

A record that cannot be decoded is still returned, as raw bytes with the error.
"""

from __future__ import annotations

import struct
from enum import StrEnum
from typing import Final, NamedTuple

from ottla.dump.plain import ENCODING_SUFFIX, Fields, fields_to_plain
from ottla.dump.rows import StoredRecord
from ottla.wire.errors import ProtocolError
from ottla.wire.records.control import (
    ControlRecordType,
    read_control_type,
    read_end_transaction_marker,
)
from ottla.wire.records.record import Record
from ottla.wire.schema import Message
from ottla.wire.stored import quorum
from ottla.wire.stored.cluster_metadata import METADATA_RECORDS
from ottla.wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from ottla.wire.stored.coordinator_records import (
    GROUP_RECORDS,
    KEY_VERSION,
    SHARE_RECORDS,
    TRANSACTION_RECORDS,
    CoordinatorRecords,
)
from ottla.wire.stored.groups import GroupMetadataValue, MemberMetadata
from ottla.wire.stored.remote_storage import REMOTE_LOG_RECORDS
from ottla.wire.stored.typed_records import TypedRecords


class StoredRecordFormat(StrEnum):
    """The record format of an internal topic."""

    METADATA = "metadata"
    OFFSETS = "offsets"
    TRANSACTIONS = "transactions"
    SHARES = "shares"
    REMOTE = "remote"


class Decoded(NamedTuple):
    """A decoded record; the fields are those of `RecordRow`."""

    control_type: str | None = None
    key_record: StoredRecord | None = None
    value_record: StoredRecord | None = None
    decode_error: str | None = None


NOTHING_DECODED: Final = Decoded()

FORMAT_OF_TOPIC: Final = {
    "__cluster_metadata": StoredRecordFormat.METADATA,
    "__consumer_offsets": StoredRecordFormat.OFFSETS,
    "__transaction_state": StoredRecordFormat.TRANSACTIONS,
    "__share_group_state": StoredRecordFormat.SHARES,
    "__remote_log_metadata": StoredRecordFormat.REMOTE,
}

_RECORDS: Final[dict[StoredRecordFormat, TypedRecords | CoordinatorRecords]] = {
    StoredRecordFormat.METADATA: METADATA_RECORDS,
    StoredRecordFormat.OFFSETS: GROUP_RECORDS,
    StoredRecordFormat.TRANSACTIONS: TRANSACTION_RECORDS,
    StoredRecordFormat.SHARES: SHARE_RECORDS,
    StoredRecordFormat.REMOTE: REMOTE_LOG_RECORDS,
}

_QUORUM_RECORDS: Final[dict[ControlRecordType, type[Message]]] = {
    ControlRecordType.LEADER_CHANGE: quorum.LeaderChangeMessage,
    ControlRecordType.SNAPSHOT_HEADER: quorum.SnapshotHeaderRecord,
    ControlRecordType.SNAPSHOT_FOOTER: quorum.SnapshotFooterRecord,
    ControlRecordType.KRAFT_VERSION: quorum.KRaftVersionRecord,
    ControlRecordType.KRAFT_VOTERS: quorum.VotersRecord,
}

_VERSION: Final = struct.Struct(">h")
_END_MARKER_VERSION: Final = 0
_CONSUMER: Final = "consumer"


def decode_control(record: Record) -> Decoded:
    control_type = None
    try:
        kind = read_control_type(record.key)
        control_type = kind.name
        return Decoded(control_type, value_record=_control_value(kind, record))
    except ProtocolError as error:
        return Decoded(control_type, decode_error=str(error))


def decode_stored(record: Record, record_format: StoredRecordFormat) -> Decoded:
    records = _RECORDS[record_format]
    key = None
    try:
        if isinstance(records, TypedRecords):
            return Decoded(value_record=_typed_value(records, record))
        if record.key is None:
            raise ProtocolError("the record has no key, but every record of this topic needs one")
        key_message = records.decode_key(record.key)
        key = _stored(key_message, KEY_VERSION)
        value = None
        if record.value is not None:
            value = _stored(*records.decode_value(key_message, record.value))
        return Decoded(key_record=key, value_record=value)
    except ProtocolError as error:
        return Decoded(key_record=key, decode_error=str(error))


def _control_value(kind: ControlRecordType, record: Record) -> StoredRecord | None:
    if kind in (ControlRecordType.ABORT, ControlRecordType.COMMIT):
        marker = read_end_transaction_marker(record)
        fields: Fields = {"coordinator_epoch": marker.coordinator_epoch}
        return StoredRecord("EndTxnMarker", _END_MARKER_VERSION, fields)
    if kind not in _QUORUM_RECORDS:
        return None
    # These messages start with their version, so it can be read before decoding them.
    version = _version(record.value)
    assert record.value is not None, "it has a version"
    return _stored(_QUORUM_RECORDS[kind].decode(record.value, version), version)


def _typed_value(records: TypedRecords, record: Record) -> StoredRecord | None:
    return None if record.value is None else _stored(*records.decode(record.value))


def _stored(message: Message, version: int) -> StoredRecord:
    fields = fields_to_plain(message, version)
    if isinstance(message, GroupMetadataValue) and message.protocol_type == _CONSUMER:
        for member, plain in zip(message.members, fields["members"], strict=True):
            _open_consumer_protocol(member, plain)
    return StoredRecord(type(message).__name__, version, fields)


def _open_consumer_protocol(member: MemberMetadata, plain: Fields) -> None:
    """Decodes the members' subscription and assignment, opaque bytes to the coordinator."""
    for name, data, cls in (
        ("subscription", member.subscription, ConsumerProtocolSubscription),
        ("assignment", member.assignment, ConsumerProtocolAssignment),
    ):
        try:
            version = _version(data)
            # Versions only append fields, so a newer version can be decoded as the latest known
            # one.
            known = min(version, cls.versions.highest)
            message, _ = cls.decode_from(data, known, _VERSION.size)
        except ProtocolError:
            continue
        plain.pop(name + ENCODING_SUFFIX, None)
        plain[name] = {"version": version, **fields_to_plain(message, known)}


def _version(data: bytes | None) -> int:
    if data is None or len(data) < _VERSION.size:
        raise ProtocolError("there are too few bytes for a version")
    version: int = _VERSION.unpack_from(data)[0]
    return version
