"""Where the replicas of a partition go when its replication factor changes.

The choice depends on the partition and the live brokers only, not on other partitions: a run after
an interruption chooses as the interrupted one did.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

from ottla.cli.apply.changes import Replicas


def with_factor(
    replicas: Replicas,
    factor: int,
    racks: Mapping[int, str | None],
    *,
    topic: str,
    partition: int,
) -> Replicas:
    """As many replicas as `factor`, if there are enough live brokers. `racks` are those of the live
    brokers. Keeps replicas where they are."""
    if len(replicas) >= factor:
        return _reduced(replicas, factor, racks)
    brokers = sorted(racks)
    start = (crc32(topic.encode()) + partition) % len(brokers)
    candidates = [broker for broker in brokers[start:] + brokers[:start] if broker not in replicas]
    chosen = list(replicas)
    while len(chosen) < factor and candidates:
        used = {racks[broker] for broker in chosen if broker in racks}
        added = next((each for each in candidates if racks[each] not in used), candidates[0])
        candidates.remove(added)
        chosen.append(added)
    return tuple(chosen)


def _reduced(replicas: Replicas, factor: int, racks: Mapping[int, str | None]) -> Replicas:
    """Drops those on dead brokers first, then those that share a rack, then the last ones."""
    used: set[str | None] = set()
    ranks = {}
    for index, broker in enumerate(replicas):
        rack = racks.get(broker)
        shares = rack is not None and rack in used
        used.add(rack)
        ranks[broker] = (broker not in racks, shares, index)
    kept = sorted(replicas, key=lambda broker: ranks[broker])[:factor]
    return tuple(broker for broker in replicas if broker in kept)
