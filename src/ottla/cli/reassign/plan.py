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
        raise ValueError(f"it is not valid JSON: {error}") from None
    if not isinstance(content, dict) or content.get("version", VERSION) != VERSION:
        raise ValueError(f"its version must be {VERSION}")
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
    plan = {
        name: _kept(replicas, racks, replication_factor or len(replicas))
        for name, replicas in sorted(current.items())
    }
    load = Counter(dict.fromkeys(racks, 0))
    load.update(broker for replicas in plan.values() for broker in replicas)
    for name, replicas in plan.items():
        while len(replicas) < (replication_factor or len(current[name])):
            replicas.append(_emptiest(racks, load, replicas))
            load[replicas[-1]] += 1
    while _move_some(plan, racks, load):
        pass
    led = Counter(replicas[0] for replicas in plan.values())
    while _lead_others(plan, led):
        pass
    return {name: tuple(replicas) for name, replicas in plan.items()}


def _kept(replicas: Iterable[int], racks: Mapping[int, str | None], factor: int) -> list[int]:
    can_spread = len(set(racks.values())) >= factor
    kept: list[int] = []
    for broker in replicas:
        in_the_way = can_spread and _shares_rack(broker, kept, racks)
        if broker in racks and len(kept) < factor and not in_the_way:
            kept.append(broker)
    return kept


def _move_some(
    plan: Mapping[PartitionName, list[int]], racks: Mapping[int, str | None], load: Counter[int]
) -> bool:
    """Moves replicas from brokers that have many to those that have fewer, a partition at a time;
    False if all are even."""
    moved = False
    for replicas in plan.values():
        for fuller in sorted(replicas, key=lambda broker: (-load[broker], broker)):
            others = [broker for broker in replicas if broker != fuller]
            emptier = [
                broker
                for broker in racks
                if load[fuller] - load[broker] > 1
                and broker not in replicas
                and not _shares_rack(broker, others, racks)
            ]
            if emptier:
                target = min(emptier, key=lambda broker: (load[broker], broker))
                replicas[replicas.index(fuller)] = target
                load[fuller] -= 1
                load[target] += 1
                moved = True
    return moved


def _lead_others(plan: Mapping[PartitionName, list[int]], led: Counter[int]) -> bool:
    """Puts another replica first where its broker leads fewer partitions; False if all are even."""
    changed = False
    for replicas in plan.values():
        leader = min(replicas, key=lambda broker: (led[broker], broker))
        if led[replicas[0]] - led[leader] > 1:
            led[replicas[0]] -= 1
            led[leader] += 1
            replicas.remove(leader)
            replicas.insert(0, leader)
            changed = True
    return changed


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
        raise ValueError(f"{json.dumps(entry)} needs numbers for its partition and its replicas")
    if not replicas or len(set(replicas)) < len(replicas):
        raise ValueError(f"{name} has no replicas, or the same one twice")
    if any(directory != "any" for directory in entry.get("log_dirs") or ()):
        raise ValueError(f"{name} names log directories; only 'any' is supported")
    return name, replicas
