"""Quotas of a node in a test, set through its API as an administrator does."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
)
from tests.support.nodes.one_node import OneNode

ANY: None = None


def quota_change(
    entity: Mapping[str, str | None], values: Mapping[str, float | None], *, dry_run: bool = False
) -> AlterClientQuotasRequest:
    """A value of None removes a quota."""
    parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()]
    ops = [
        OpData(key=key, remove=True) if value is None else OpData(key=key, value=value)
        for key, value in values.items()
    ]
    entry = AlterClientQuotasRequestEntryData(entity=parts, ops=ops)
    return AlterClientQuotasRequest(entries=[entry], validate_only=dry_run)


def set_quota(
    node: OneNode, entity: Mapping[str, str | None], values: Mapping[str, float | None]
) -> None:
    response: AlterClientQuotasResponse = node.send_request(quota_change(entity, values), 1)
    (entry,) = response.entries
    assert entry.error_code == 0, entry.error_message
