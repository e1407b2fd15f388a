"""AlterClientQuotas, versions 0 and 1: sets and removes quotas.

Per entity: INVALID_REQUEST for an empty or unknown entity, an address together with a user or a
client id, a host name instead of an address, a key that the entity cannot have or that is named
twice, and a value that is not positive, too large, or a fraction where the key takes none. For all
entities CLUSTER_AUTHORIZATION_FAILED.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from math import isfinite
from typing import Final

from ottla.controller.operation import Context, OperationOutcome
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, KafkaError
from ottla.quotas.entities import (
    CLIENT_ID,
    CLIENT_KEYS,
    ENTITY_TYPES,
    IP,
    USER,
    LimitKey,
    QuotaEntity,
    QuotaKey,
)
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    AlterClientQuotasResponseEntryData,
    EntityData,
)
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ClientQuotaRecord
from ottla.wire.stored.cluster_metadata.configs import EntityData as RecordEntityData

# The largest values of keys that take whole numbers.
_INTEGERS: Final[Mapping[str, int]] = {
    QuotaKey.PRODUCE: 2**63 - 1,
    QuotaKey.FETCH: 2**63 - 1,
    QuotaKey.CONNECTION: 2**31 - 1,
    LimitKey.TOPICS: 2**31 - 1,
    LimitKey.PARTITIONS: 2**31 - 1,
    LimitKey.GROUPS: 2**31 - 1,
    LimitKey.CONNECTIONS: 2**31 - 1,
    LimitKey.RETAINED_BYTES: 2**63 - 1,
}
_FRACTION_MIN: Final = 1e-6


def alter_client_quotas(
    image: MetadataImage, request: AlterClientQuotasRequest, context: Context
) -> OperationOutcome[AlterClientQuotasResponse]:
    records: list[Message] = []
    results: dict[QuotaEntity, AlterClientQuotasResponseEntryData] = {}
    for entry in request.entries:
        entity = _entity_of(entry.entity)
        result = AlterClientQuotasResponseEntryData(entity=entry.entity, error_message=None)
        try:
            context.rights.require(AclOperation.ALTER_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME)
            if entity in results:
                raise _invalid("a request can change the quotas of an entity only once")
            records += _changes(image, entity, entry)
        except KafkaError as error:
            result.error_code, result.error_message = error.code, error.message
        results.setdefault(entity, result)
    return OperationOutcome(
        [] if request.validate_only else records,
        AlterClientQuotasResponse(entries=list(results.values())),
    )


def _entity_of(parts: list[EntityData]) -> QuotaEntity:
    pairs = ((part.entity_type, part.entity_name) for part in parts)
    return tuple(sorted(pairs, key=lambda pair: pair[0]))


def _changes(
    image: MetadataImage, entity: QuotaEntity, entry: AlterClientQuotasRequestEntryData
) -> list[Message]:
    keys = _keys_of(entity)
    current = image.client_quotas.get(entity, {})
    parts = [RecordEntityData(entity_type=kind, entity_name=name) for kind, name in entity]
    records: list[Message] = []
    named = set()
    for change in entry.ops:
        if change.key in named:
            raise _invalid(f"{change.key} is named twice for one entity")
        named.add(change.key)
        if change.remove:
            if change.key in current:
                records.append(ClientQuotaRecord(entity=parts, key=change.key, remove=True))
            continue
        _check_value(keys, change.key, change.value)
        if current.get(change.key) != change.value:
            records.append(ClientQuotaRecord(entity=parts, key=change.key, value=change.value))
    return records


def _keys_of(entity: QuotaEntity) -> tuple[str, ...]:
    """The keys that an entity can have. Raises a KafkaError if it is not a valid one."""
    if not entity:
        raise _invalid("the entity is empty: name a user, a client id or an address")
    kinds = [kind for kind, _ in entity]
    for kind, name in entity:
        if kind not in ENTITY_TYPES:
            raise _invalid(f"{kind!r} is not a type of entity: use {USER}, {CLIENT_ID} or {IP}")
        if kinds.count(kind) > 1:
            raise _invalid(f"the entity has two parts of type {kind}")
        if name == "":
            raise _invalid(f"the name of a {kind} must not be empty")
    if kinds == [USER]:
        return (*CLIENT_KEYS, *LimitKey)
    if IP not in kinds:
        return CLIENT_KEYS
    if len(kinds) > 1:
        raise _invalid("quotas of addresses cannot name users or client ids")
    name = entity[0][1]
    if name is not None:
        _check_address(name)
    return (QuotaKey.CONNECTION,)


def _check_address(name: str) -> None:
    try:
        ip_address(name)
    except ValueError:
        raise _invalid(f"{name!r} is not an IP address") from None


def _check_value(keys: tuple[str, ...], key: str, value: float) -> None:
    if key not in keys:
        raise _invalid(f"{key!r} is not a quota of this entity; it can have {', '.join(keys)}")
    if not isfinite(value) or value <= 0:
        raise _invalid(f"{key} must be a number greater than 0")
    largest = _INTEGERS.get(key)
    if largest is None:
        return
    if value > largest:
        raise _invalid(f"{key} must be at most {largest}")
    if abs(value % 1.0) > _FRACTION_MIN:
        raise _invalid(f"{key} must be a whole number")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
