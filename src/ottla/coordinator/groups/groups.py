"""All groups of one partition."""

from __future__ import annotations

from collections.abc import Iterator

from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.group import Group
from ottla.model import ErrorCode, KafkaError


class Groups:
    """Owned by the coordinator of the partition. Ordered by creation."""

    def __init__(self) -> None:
        self._by_id: dict[str, Group] = {}

    def __iter__(self) -> Iterator[Group]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, group_id: str) -> Group | None:
        return self._by_id.get(group_id)

    def require(self, group_id: str) -> Group:
        group = self._by_id.get(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        return group

    def get_classic(self, group_id: str) -> ClassicGroup | None:
        group = self._by_id.get(group_id)
        return group if isinstance(group, ClassicGroup) else None

    def put(self, group: Group) -> None:
        self._by_id[group.id] = group

    def remove(self, group_id: str) -> Group | None:
        return self._by_id.pop(group_id, None)
