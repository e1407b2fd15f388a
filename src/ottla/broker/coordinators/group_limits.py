"""The limits on the groups of tenants and users. Each node counts the groups that it coordinates.

The groups of a tenant have its prefix. A group is of the first user that used it since the node has
such limits and coordinates the group; it counts as long as it exists.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from ottla.broker.control.tenancy import Tenancy
from ottla.broker.control.user_limits import LimitedUsers
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.model import ErrorCode, KafkaError
from ottla.quotas.entities import LimitKey
from ottla.tenancy.tenant import SEPARATOR, tenant_name_of

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator

# Users of groups that are remembered before those of deleted groups are forgotten.
_REMEMBERED_MIN: Final = 1_000


class GroupLimits:
    """Owned by the node's loop."""

    def __init__(
        self,
        tenancy: Tenancy,
        users: LimitedUsers,
        groups: CoordinatorShards[GroupCoordinator],
    ) -> None:
        self._tenancy = tenancy
        self._users = users
        self._groups = groups
        self._user_of: dict[str, str] = {}
        self._remembered_max = _REMEMBERED_MIN

    def check(self, user: str, group_id: str) -> None:
        """Called for a request that may create a group. Raises KafkaError (POLICY_VIOLATION) if
        this would be a new group beyond a limit."""
        tenant = tenant_name_of(group_id)
        of_tenant = None if tenant is None else self._tenancy.limits_of(tenant).groups
        if self._users.limits.has(LimitKey.GROUPS):
            self._check_user(user, group_id)
        elif self._user_of:
            self._user_of.clear()
        if of_tenant is not None and self._is_new(group_id):
            assert tenant is not None
            prefix = tenant + SEPARATOR
            found = sum(each.startswith(prefix) for each in self._existing())
            _check(tenant, found, of_tenant)

    def of_users(self) -> Counter[str]:
        """How many groups each user has here."""
        existing = self._existing()
        return Counter(user for name, user in self._user_of.items() if name in existing)

    def _check_user(self, user: str, group_id: str) -> None:
        if group_id in self._user_of and not self._is_new(group_id):
            return
        limit = self._users.limits.find(LimitKey.GROUPS, user)
        if limit is not None and self._is_new(group_id):
            _check(f"user {user}", self.of_users()[user], limit)
        self._user_of[group_id] = user
        if len(self._user_of) > self._remembered_max:
            existing = self._existing()
            self._user_of = {name: each for name, each in self._user_of.items() if name in existing}
            self._remembered_max = max(_REMEMBERED_MIN, 2 * len(self._user_of))

    def _is_new(self, group_id: str) -> bool:
        """False for a group that is not known yet: the coordinator refuses the request then."""
        shard = self._groups.shard_of(group_id)
        return (
            shard is not None
            and not shard.is_loading
            and shard.machine.groups.get(group_id) is None
        )

    def _existing(self) -> set[str]:
        return {group.id for shard in self._groups.all for group in shard.machine.groups}


def _check(owner: str, count: int, limit: int) -> None:
    if count >= limit:
        groups = "1 group" if count == 1 else f"{count} groups"
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION,
            f"{owner} has {groups} on this node and may have {limit}: delete some, or ask the "
            "operator of the cluster for more",
        )
