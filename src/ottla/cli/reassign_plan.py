"""Which partition shall be on which brokers: the file that Kafka's own tool reads and writes.

    {"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [1, 2, 3]}]}

And a proposal for such a file that moves no more than it must.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

VERSION: Final = 1


class PartitionName(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


# The replicas of partitions, the preferred leader first.
Assignment: TypeAlias = dict[PartitionName, tuple[int, ...]]


def parse_plan(text: str) -> Assignment:
    """Raises a ValueError that says what is wrong with the file."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error}") from None
    if not isinstance(content, dict) or content.get("version", VERSION) != VERSION:
        raise ValueError(f"it is not of version {VERSION}, the one that there is")
    plan: Assignment = {}
    for entry in content.get("partitions") or ():
        name, replicas = _parse_entry(entry)
        if name in plan:
            raise ValueError(f"it has {name} twice")
        plan[name] = replicas
    if not plan:
        raise ValueError("it has no partitions")
    return plan


def format_plan(plan: Mapping[PartitionName, Iterable[int]]) -> str:
    partitions = [
        {"topic": name.topic, "partition": name.partition, "replicas": list(replicas)}
        for name, replicas in sorted(plan.items())
    ]
    return json.dumps({"version": VERSION, "partitions": partitions})


def propose(
    current: Assignment, racks: Mapping[int, str | None], *, replication_factor: int | None
) -> Assignment:
    """Balances partitions over the brokers that `racks` has.

    A replica stays where it is unless its broker is to have none, or more than its share; a missing
    one goes to the broker with the fewest, in a rack that the partition is not in yet.
    """
    factors = {
        name: replication_factor or len(replicas) for name, replicas in sorted(current.items())
    }
    share = -(-sum(factors.values()) // len(racks))
    kept = _kept(current, racks, factors, share=share)
    load = Counter(replica for replicas in kept.values() for replica in replicas)
    led: Counter[int] = Counter()
    proposed: Assignment = {}
    for name, factor in factors.items():
        replicas = list(kept[name])
        while len(replicas) < factor:
            replicas.append(_emptiest(racks, load, replicas))
            load[replicas[-1]] += 1
        leader = min(replicas, key=lambda broker: (led[broker], replicas.index(broker)))
        led[leader] += 1
        proposed[name] = (leader, *(broker for broker in replicas if broker != leader))
    return proposed


def _kept(
    current: Assignment,
    racks: Mapping[int, str | None],
    factors: Mapping[PartitionName, int],
    *,
    share: int,
) -> dict[PartitionName, list[int]]:
    load: Counter[int] = Counter()
    rack_count = len(set(racks.values()))
    kept: dict[PartitionName, list[int]] = {}
    for name, factor in factors.items():
        stays: list[int] = []
        for broker in current[name]:
            shares_rack = rack_count >= factor and _shares_rack(broker, stays, racks)
            if broker in racks and len(stays) < factor and load[broker] < share and not shares_rack:
                stays.append(broker)
                load[broker] += 1
        kept[name] = stays
    return kept


def _emptiest(
    racks: Mapping[int, str | None], load: Mapping[int, int], replicas: Sequence[int]
) -> int:
    return min(
        (broker for broker in racks if broker not in replicas),
        key=lambda broker: (_shares_rack(broker, replicas, racks), load[broker], broker),
    )


def _shares_rack(broker: int, replicas: Iterable[int], racks: Mapping[int, str | None]) -> bool:
    rack = racks.get(broker)
    return rack is not None and any(racks[replica] == rack for replica in replicas)


def _parse_entry(entry: Any) -> tuple[PartitionName, tuple[int, ...]]:
    try:
        name = PartitionName(entry["topic"], entry["partition"])
        replicas = tuple(entry["replicas"])
    except (KeyError, TypeError):
        raise ValueError(f"{json.dumps(entry)} lacks a topic, a partition or replicas") from None
    numbers = (name.partition, *replicas)
    if not isinstance(name.topic, str) or not all(isinstance(number, int) for number in numbers):
        raise ValueError(f"{json.dumps(entry)} has something else where numbers should be")
    if not replicas or len(set(replicas)) < len(replicas):
        raise ValueError(f"{name} has no replicas, or one of them twice")
    if any(directory != "any" for directory in entry.get("log_dirs") or ()):
        raise ValueError(f"{name} names log directories; only 'any' can be had")
    return name, replicas
