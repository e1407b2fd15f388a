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


def heartbeat_interval_ms(
    group: ConsumerGroup, change: GroupChange, *, usual_ms: int, now_ms: int
) -> int:
    age_ms = now_ms - group.target_timestamp
    if change.target_epoch != group.target_epoch or 0 <= age_ms < usual_ms:
        return min(_SOON_MS, usual_ms)
    return usual_ms
