"""Checks the keys and values of one batch: values in and values out, for a worker process.

The worker keeps what it made of schemas. It gets a schema's text only if it asks for it, and says
which schemas it does not know a verdict for; the caller then repeats the check.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ottla.broker.validation.verdicts import SchemaRef, SchemaVerdict
from ottla.schemas import InvalidSchemaError, SchemaSource
from ottla.schemas.errors import InvalidPayloadError
from ottla.schemas.framing import FramedData, frame, unframe, unframe_record
from ottla.schemas.payloads.reader import PayloadReader, payload_reader
from ottla.schemas.rules import PartRule, PayloadCheck, SchemaRules, SubjectNaming
from ottla.storage.batches.record_errors import RecordError
from ottla.wire.records.batch import read_body
from ottla.wire.records.header import read_header
from ottla.wire.records.record import RecordHeader, read_record_headers, walk_records
from ottla.wire.varint import read_varint

# The list becomes part of a response.
LISTED_MAX: Final = 1_000
_REFS_MAX: Final = 1_000
_KEPT_MAX: Final = 300
_PREFIX_BYTES: Final = 5


class PayloadTask(NamedTuple):
    """`topic` is the name that its clients know. `sources` are by the keys of the verdicts."""

    rules: SchemaRules
    topic: str
    known_keys: Mapping[SchemaRef, SchemaVerdict]
    known_values: Mapping[SchemaRef, SchemaVerdict]
    sources: Mapping[str, SchemaSource]


class NamedSchema(NamedTuple):
    """A schema that a key or a value names."""

    is_key: bool
    ref: SchemaRef


class PayloadFindings(NamedTuple):
    """`bad` are the first records that were refused. With `unknown` schemas or `missing` sources,
    the check has to be repeated. `doubts` if the registry may have changed since."""

    bad: list[RecordError]
    bad_count: int
    unknown: frozenset[NamedSchema] = frozenset()
    missing: frozenset[str] = frozenset()
    doubts: bool = False


class _RegistryError(InvalidPayloadError):
    """What the registry says refuses the record, and not its data."""


def check_payloads(records: bytes, bytes_max: int, task: PayloadTask) -> PayloadFindings:
    """`records` is a batch whose records are well-formed. Raises ProtocolError."""
    header = read_header(records)
    body = read_body(records, 0, header, decompressed_bytes_max=bytes_max)
    if _names_known_schemas(body, header.record_count, task):
        return PayloadFindings([], 0)
    parts = [
        _Part(task, is_key=is_key)
        for is_key in (True, False)
        if task.rules.part(is_key=is_key).check is not PayloadCheck.NONE
    ]
    bad: list[RecordError] = []
    count = 0
    for index, (key, value, headers) in enumerate(_payloads(body, header.record_count)):
        try:
            for part in parts:
                part.check(key if part.is_key else value, headers)
        except InvalidPayloadError as error:
            count += 1
            if len(bad) < LISTED_MAX:
                bad.append(RecordError(index, str(error)))
    unknown = frozenset().union(*(part.unknown for part in parts))
    missing = frozenset().union(*(part.missing for part in parts))
    return PayloadFindings(bad, count, unknown, missing, any(part.doubts for part in parts))


def _names_known_schemas(body: bytes, count: int, task: PayloadTask) -> bool:
    """Whether nothing but the ids of values is checked, and all are known. The usual case of most
    topics, in half the time."""
    rules = task.rules
    if rules.key.check is not PayloadCheck.NONE or rules.value.needs_schema:
        return False
    accepted = {
        frame(ref, b"")
        for ref, verdict in task.known_values.items()
        if isinstance(ref, int) and not verdict.refusal
    }
    for _, end, _, _, _, is_null, position in walk_records(body, count):
        if is_null:
            continue
        size = body[position]
        position += 1
        if size >= 0x80:
            size, position = read_varint(body, position - 1)
            behind = position + size
        else:
            behind = position + (size >> 1)
        # A header could name the schema. Values without headers end before a single zero.
        if behind != end - 1 or body[position : position + _PREFIX_BYTES] not in accepted:
            return False
        if behind < position + _PREFIX_BYTES:
            return False
    return True


def _payloads(
    body: bytes, count: int
) -> Iterator[tuple[bytes | None, bytes | None, tuple[RecordHeader, ...]]]:
    """Key, value and headers of each record."""
    for _, end, _, _, key, is_null, position in walk_records(body, count):
        size, position = read_varint(body, position)
        value = None
        if not is_null:
            value = body[position : position + size]
            position += size
        has_headers = position != end - 1 or body[position]
        yield key, value, read_record_headers(body, position, end=end) if has_headers else ()


class _Part:
    """The keys or the values of one batch."""

    def __init__(self, task: PayloadTask, *, is_key: bool) -> None:
        self.is_key = is_key
        self.unknown: set[NamedSchema] = set()
        self.missing: set[str] = set()
        self.doubts = False
        self._name = "the key" if is_key else "the value"
        self._task = task
        self._rule: PartRule = task.rules.part(is_key=is_key)
        self._known = task.known_keys if is_key else task.known_values
        # The first bytes of payloads that need no look at the rest.
        self._accepted: set[bytes] = set()

    def check(self, data: bytes | None, headers: tuple[RecordHeader, ...]) -> None:
        """Raises InvalidPayloadError. A null is accepted."""
        if data is None or (not headers and data[:_PREFIX_BYTES] in self._accepted):
            return
        try:
            self._check(data, headers)
        except InvalidPayloadError as error:
            self.doubts |= isinstance(error, _RegistryError)
            raise InvalidPayloadError(f"{self._name}: {error}") from None

    def _check(self, data: bytes, headers: tuple[RecordHeader, ...]) -> None:
        framed = unframe_record(data, headers, is_key=self.is_key) if headers else unframe(data)
        verdict = self._known.get(framed.schema)
        if verdict is None:
            if len(self.unknown) >= _REFS_MAX:
                raise InvalidPayloadError(f"the batch names more than {_REFS_MAX} schemas")
            self.unknown.add(NamedSchema(self.is_key, framed.schema))
            return
        if verdict.refusal:
            raise _RegistryError(verdict.refusal)
        if not self._rule.needs_schema:
            if not headers:
                self._accepted.add(data[:_PREFIX_BYTES])
            return
        reader = self._reader(framed.schema, verdict.key)
        if reader is not None:
            self._check_by(reader, framed, verdict)

    def _check_by(self, reader: PayloadReader, framed: FramedData, verdict: SchemaVerdict) -> None:
        rule = self._rule
        if rule.naming is not SubjectNaming.TOPIC:
            name = reader.record_name(framed.data, framed.indexes)
            subject = rule.subject(self._task.topic, is_key=self.is_key, record_name=name)
            if subject is None:
                raise InvalidPayloadError(
                    f"schema {framed.schema} has no record name, which its subject needs"
                )
            subject = self._task.rules.qualified(subject)
            if subject not in verdict.subjects:
                raise _RegistryError(
                    f"schema {framed.schema} is not registered under the subject {subject}"
                )
        if rule.check is PayloadCheck.FULL:
            try:
                reader.check(framed.data, framed.indexes)
            except InvalidPayloadError as error:
                raise InvalidPayloadError(
                    f"it does not fit schema {framed.schema}: {error}"
                ) from None

    def _reader(self, ref: SchemaRef, key: str) -> PayloadReader | None:
        """None if its source is missing."""
        known = _readers.get(key, self._task.sources)
        if known is None:
            self.missing.add(key)
        if isinstance(known, InvalidSchemaError):
            raise InvalidPayloadError(f"schema {ref} cannot be used: {known}")
        return known


class _Readers:
    """What this process made of schemas: the last ones used."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, PayloadReader | InvalidSchemaError] = OrderedDict()

    def get(
        self, key: str, sources: Mapping[str, SchemaSource]
    ) -> PayloadReader | InvalidSchemaError | None:
        known = self._kept.get(key)
        if known is not None:
            return known
        source = sources.get(key)
        if source is None:
            return None
        try:
            made: PayloadReader | InvalidSchemaError = payload_reader(source)
        except InvalidSchemaError as error:
            made = error
        self._kept[key] = made
        if len(self._kept) > _KEPT_MAX:
            self._kept.popitem(last=False)
        return made


_readers: Final = _Readers()
