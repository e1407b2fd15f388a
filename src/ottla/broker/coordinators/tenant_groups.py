"""The limit on the groups of a tenant. Each node counts the groups that it coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.control.tenancy import Tenancy
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.model import ErrorCode, KafkaError
from ottla.tenancy.tenant import SEPARATOR, tenant_name_of

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


def check_group_limit(
    tenancy: Tenancy, groups: CoordinatorShards[GroupCoordinator], group_id: str
) -> None:
    """Raises KafkaError (POLICY_VIOLATION) if this would be a new group beyond the limit."""
    tenant = tenant_name_of(group_id)
    limit = None if tenant is None else tenancy.limits_of(tenant).groups
    if tenant is None or limit is None:
        return
    shard = groups.shard_of(group_id)
    if shard is None or shard.is_loading or shard.machine.groups.get(group_id) is not None:
        # Not a new group, or not known yet: the coordinator refuses the request.
        return
    prefix = tenant + SEPARATOR
    found = {
        group.id
        for shard in groups.all
        for group in shard.machine.groups
        if group.id.startswith(prefix)
    }
    if len(found) >= limit:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION,
            f"{tenant} has {len(found)} groups on this node and may have {limit}: delete some, or "
            "ask the operator of the cluster for more",
        )
