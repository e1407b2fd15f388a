"""The heartbeat interval that a response gives to a member.

Members learn of a change from heartbeat responses: first one member has to revoke partitions, then
another member gets them. At the usual interval of five seconds, this takes two intervals. So while
the target assignment is younger than one interval, the responses contain a shorter interval. Kafka
always sends the usual interval.
"""

from __future__ import annotations

from typing import Final

from ottla.coordinator.groups.consumer.changing import GroupChange
from ottla.coordinator.groups.consumer.group import ConsumerGroup

_SOON_MS: Final = 500
# Members of a large group get a longer interval: at most a thousand heartbeats a second.
_MS_PER_MEMBER: Final = 1


def heartbeat_interval_ms(
    group: ConsumerGroup, change: GroupChange, *, usual_ms: int, now_ms: int
) -> int:
    age_ms = now_ms - group.target_timestamp
    is_changing = change.target_epoch != group.target_epoch or change.epoch > change.target_epoch
    if is_changing or 0 <= age_ms < usual_ms:
        soon_ms = max(_SOON_MS, _MS_PER_MEMBER * len(group.members))
        return min(soon_ms, usual_ms)
    return usual_ms
