"""What the leader of a cooperative group decides, for members that all want the same topic."""

from __future__ import annotations

from collections.abc import Mapping


def assign_cooperatively(
    owned: Mapping[str, frozenset[int]], *, partition_count: int
) -> dict[str, list[int]]:
    """A partition that moves is unassigned until its owner has revoked it."""
    least, more = divmod(partition_count, len(owned))
    by_size = sorted(owned, key=lambda member_id: -len(owned[member_id]))
    quotas = {member_id: least + (index < more) for index, member_id in enumerate(by_size)}
    assigned = {
        member_id: sorted(partitions)[: quotas[member_id]]
        for member_id, partitions in owned.items()
    }
    taken = {number for partitions in owned.values() for number in partitions}
    free = iter([number for number in range(partition_count) if number not in taken])
    for member_id, partitions in assigned.items():
        while len(partitions) < quotas[member_id]:
            number = next(free, None)
            if number is None:
                break
            partitions.append(number)
    return assigned
