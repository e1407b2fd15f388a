"""Quotas of users, client ids and addresses (KIP-546)."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.client.administration.requests import AdminRequests, outcome, require
from ottla.client.administration.results import Results
from ottla.quotas.entities import QuotaEntity
from ottla.quotas.entity_filter import MatchType
from ottla.quotas.usage import USAGE_TAG, QuotaUsage, decode_usage
from ottla.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    EntityData,
    OpData,
)
from ottla.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)


class QuotaOperations(AdminRequests):
    """The methods of `Admin` for quotas. An entity has parts such as `("user", "alice")`; a name of
    None is the default of that type. The types are `user`, `client-id` and `ip`."""

    async def describe_client_quotas(
        self, parts: QuotaEntity = (), *, strict: bool = False, timeout: float | None = None
    ) -> dict[QuotaEntity, dict[str, float]]:
        """The quotas of the entities that have all these parts; with `strict`, no others."""
        request = DescribeClientQuotasRequest(
            components=[
                ComponentData(
                    entity_type=kind,
                    match_type=MatchType.DEFAULT if name is None else MatchType.EXACT,
                    match=name,
                )
                for kind, name in parts
            ],
            strict=strict,
        )
        answer: DescribeClientQuotasResponse = await self._ask_any(
            "list the quotas", request, timeout
        )
        require(answer.error_code, answer.error_message)
        return {
            _entity(entry.entity): {value.key: value.value for value in entry.values}
            for entry in answer.entries or ()
        }

    async def alter_client_quotas(
        self,
        changes: Mapping[QuotaEntity, Mapping[str, float | None]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[QuotaEntity, None]:
        """Sets quotas by entity and key; a value of None removes one."""
        request = AlterClientQuotasRequest(
            entries=[
                AlterClientQuotasRequestEntryData(
                    entity=[
                        EntityData(entity_type=kind, entity_name=name) for kind, name in entity
                    ],
                    ops=[
                        OpData(key=key, remove=True)
                        if value is None
                        else OpData(key=key, value=value)
                        for key, value in quotas.items()
                    ],
                )
                for entity, quotas in changes.items()
            ],
            validate_only=validate_only,
        )
        answer = await self._ask_controller("change quotas", request, timeout)
        return Results(
            {
                _entity(each.entity): outcome(None, each.error_code, each.error_message)
                for each in answer.entries
            }
        )

    async def describe_quota_usage(
        self, *, timeout: float | None = None
    ) -> dict[int, tuple[QuotaUsage, ...] | None]:
        """What clients with a quota use now, by node. None for a node of Apache Kafka, which does
        not say it."""
        request = DescribeClientQuotasRequest()
        request.unknown_tags = {USAGE_TAG: b""}
        found: dict[int, tuple[QuotaUsage, ...] | None] = {}
        await self._cluster.refresh(())
        for node_id in sorted(self._cluster.metadata.nodes):

            async def attempt(node_id: int = node_id) -> DescribeClientQuotasResponse:
                answer: DescribeClientQuotasResponse = await self._ask_node(node_id, request)
                require(answer.error_code, answer.error_message)
                return answer

            answer = await self._retrying("read the usage of quotas", attempt, timeout)
            data = (answer.unknown_tags or {}).get(USAGE_TAG)
            found[node_id] = None if data is None else tuple(decode_usage(data))
        return found


def _entity(parts: object) -> QuotaEntity:
    assert isinstance(parts, list)
    return tuple(sorted((part.entity_type, part.entity_name) for part in parts))
