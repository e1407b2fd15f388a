"""What a registry says of the schemas that records name."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import Final, NamedTuple, TypeAlias

from ottla.broker.validation.schema_log import SchemaLog
from ottla.schemas import InvalidSchemaError, SchemaSource
from ottla.schemas.registered.references import source_of
from ottla.schemas.registered.schema_version import SchemaVersion
from ottla.schemas.registered.state import RegistryState
from ottla.schemas.rules import PartRule, SchemaRules, SubjectNaming

# The id of a schema, or its GUID.
SchemaRef: TypeAlias = int | str

_TABLES_MAX: Final = 200
_REFS_MAX: Final = 500
_SOURCES_MAX: Final = 1_000
_SOURCE_BYTES_MAX: Final = 1 << 20


class SchemaVerdict(NamedTuple):
    """`refusal` is why records that name the schema are refused; empty if they are not. `key` is
    that of its source, if that is needed, and `subjects` are those that it is registered under."""

    refusal: str = ""
    key: str = ""
    subjects: frozenset[str] = frozenset()


class _TableKey(NamedTuple):
    log: str
    topic: str
    context: str
    rule: PartRule
    is_key: bool


class _Table(NamedTuple):
    changes: tuple[int, int]
    verdicts: dict[SchemaRef, SchemaVerdict]


class SchemaVerdicts:
    """Remembers schemas that are accepted until the registry's state changes. Refusals are not
    remembered: the schema may be registered next. Owned by the node's loop."""

    def __init__(self) -> None:
        self._tables: OrderedDict[_TableKey, _Table] = OrderedDict()
        self._sources: OrderedDict[str, SchemaSource] = OrderedDict()

    def known(
        self, log: SchemaLog, topic: str, rules: SchemaRules, *, is_key: bool
    ) -> dict[SchemaRef, SchemaVerdict]:
        rule = rules.part(is_key=is_key)
        table_key = _TableKey(log.name, topic, rules.context, rule, is_key)
        table = self._tables.pop(table_key, None)
        if table is None or table.changes != log.changes:
            table = _Table(log.changes, {})
        self._tables[table_key] = table
        if len(self._tables) > _TABLES_MAX:
            self._tables.popitem(last=False)
        return table.verdicts

    def find(
        self, log: SchemaLog, topic: str, rules: SchemaRules, ref: SchemaRef, *, is_key: bool
    ) -> SchemaVerdict:
        verdict = self._find(log.state, topic, rules, ref, is_key=is_key)
        if not verdict.refusal:
            known = self.known(log, topic, rules, is_key=is_key)
            if len(known) >= _REFS_MAX:
                known.clear()
            known[ref] = verdict
        return verdict

    def source(self, key: str) -> SchemaSource | None:
        """None if it was forgotten."""
        return self._sources.get(key)

    def _find(
        self,
        state: RegistryState,
        topic: str,
        rules: SchemaRules,
        ref: SchemaRef,
        *,
        is_key: bool,
    ) -> SchemaVerdict:
        versions = _versions(state, rules.context, ref)
        live = [each for each in versions if not each.is_deleted]
        if not live:
            how = "was deleted" if versions else "is not registered"
            return SchemaVerdict(f"schema {ref} {how}")
        rule = rules.part(is_key=is_key)
        subjects = frozenset(each.subject for each in live)
        chosen = live[0]
        if rule.naming is SubjectNaming.TOPIC:
            wanted = rules.qualified(rule.subject(topic, is_key=is_key, record_name=None) or "")
            if wanted not in subjects:
                return SchemaVerdict(f"schema {ref} is not registered under the subject {wanted}")
            chosen = next(each for each in live if each.subject == wanted)
        if not rule.needs_schema:
            return SchemaVerdict()
        try:
            source = source_of(state, chosen.subject, chosen.schema)
        except InvalidSchemaError as error:
            return SchemaVerdict(f"schema {ref} cannot be used: {error}")
        if source.size > _SOURCE_BYTES_MAX:
            return SchemaVerdict(
                f"schema {ref} is too large: {source.size} bytes with its references"
            )
        return SchemaVerdict(key=self._keep(source), subjects=subjects)

    def _keep(self, source: SchemaSource) -> str:
        key = _key_of(source)
        self._sources.pop(key, None)
        self._sources[key] = source
        if len(self._sources) > _SOURCES_MAX:
            self._sources.popitem(last=False)
        return key


def _versions(state: RegistryState, context: str, ref: SchemaRef) -> list[SchemaVersion]:
    if isinstance(ref, int):
        return state.with_id(context, ref)
    id_ = state.ids_of_guid(bytes.fromhex(ref.replace("-", ""))).get(context)
    return [] if id_ is None else state.with_id(context, id_)


def _key_of(source: SchemaSource) -> str:
    parts = [source.type.value, source.text]
    for reference in source.references:
        parts += reference
    hashed = blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hashed.update(len(data).to_bytes(4))
        hashed.update(data)
    return hashed.hexdigest()
