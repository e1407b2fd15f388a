"""How soon a member is to send its next heartbeat.

A change reaches members with the answers to their heartbeats: first somebody hears that it has to
let go, then somebody else that it may take. At the usual interval, five seconds, a group would need
two of them to settle. So as long as its target assignment is younger than that, all members that
come by are asked to come again soon. Kafka always tells the usual interval.
"""

from __future__ import annotations

from typing import Final

from ottla.coordinator.groups.consumer.changing import GroupChange
from ottla.coordinator.groups.consumer.group import ConsumerGroup

_SOON_MS: Final = 500
# The members of a large group come less often: a thousand of them in a second at most.
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
