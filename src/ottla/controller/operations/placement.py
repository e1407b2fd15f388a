"""Placement of the replicas of new partitions.

Striped like in Kafka: a partition takes its replicas from one rack after the other, and from the
brokers of each rack in turn; the next partition starts one further. So each partition spans racks,
and leaders and followers are spread over the brokers. Fenced brokers get a replica only if no
unfenced broker is left, and never the leader.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.metadata import BrokerRegistration
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.dice import Dice


class ReplicaPlacer:
    """Places the partitions of one topic. Starts at a random rack and broker, to spread topics as
    well."""

    def __init__(self, brokers: Iterable[BrokerRegistration], dice: Dice) -> None:
        self._dice = dice
        self._racks: list[_Rack] = []
        self._place_in_turn = 0
        by_rack: dict[str | None, list[BrokerRegistration]] = {}
        self._broker_count = self._unfenced_count = 0
        for broker in sorted(brokers, key=lambda each: each.id):
            if not broker.in_controlled_shutdown:
                by_rack.setdefault(broker.rack, []).append(broker)
                self._broker_count += 1
                self._unfenced_count += not broker.fenced
        for _, members in sorted(by_rack.items(), key=lambda item: item[0] or ""):
            self._racks.append(_Rack(members, dice))
        self._first_rack = dice.below(len(self._racks)) if self._racks else 0

    def check(self, replication_factor: int) -> None:
        """Raises KafkaError if this many replicas cannot be placed."""
        if replication_factor <= 0:
            raise _refused(
                f"Invalid replication factor {replication_factor}: "
                "the replication factor must be positive."
            )
        if self._unfenced_count == 0:
            raise _refused("All brokers are currently fenced.")
        if replication_factor > self._broker_count:
            raise _refused(
                f"The target replication factor of {replication_factor} cannot be reached because "
                f"only {self._broker_count} broker(s) are registered."
            )

    def place(self, replication_factor: int) -> list[int]:
        """The brokers of the next partition, the leader first. Call `check` before."""
        if self._place_in_turn == self._unfenced_count > 1:
            # Every broker has been leader once. Shuffle, so that not all partitions that a broker
            # leads have the same followers.
            self._dice.shuffle(self._racks)
            for rack in self._racks:
                rack.shuffle(self._dice)
            self._place_in_turn = 0
        self._place_in_turn += 1
        count = len(self._racks)
        racks = [self._racks[(self._first_rack + step) % count] for step in range(count)]
        self._first_rack = (self._first_rack + 1) % count
        for rack in racks:
            rack.begin_partition()
        leading = next(index for index, rack in enumerate(racks) if rack.has_unfenced)
        placed = [racks[leading].next_unfenced()]
        turn = leading + 1
        while len(placed) < replication_factor:
            broker = racks[turn % count].next_any()
            if broker is not None:
                placed.append(broker)
            turn += 1
        return placed


class _Rack:
    """The brokers of a rack, taken in turn."""

    __slots__ = ("_fenced", "_offset", "_taken", "_unfenced")

    def __init__(self, brokers: list[BrokerRegistration], dice: Dice) -> None:
        self._unfenced = [broker.id for broker in brokers if not broker.fenced]
        self._fenced = [broker.id for broker in brokers if broker.fenced]
        self._offset = dice.below(len(brokers))
        self._taken = 0

    @property
    def has_unfenced(self) -> bool:
        return bool(self._unfenced)

    def shuffle(self, dice: Dice) -> None:
        dice.shuffle(self._unfenced)
        dice.shuffle(self._fenced)

    def begin_partition(self) -> None:
        self._offset += 1
        self._taken = 0

    def next_unfenced(self) -> int:
        broker = self.next_any()
        assert broker is not None
        return broker

    def next_any(self) -> int | None:
        """The next broker for this partition: unfenced ones, then fenced ones, then none."""
        index, self._taken = self._taken, self._taken + 1
        if index < len(self._unfenced):
            return self._unfenced[(index + self._offset) % len(self._unfenced)]
        index -= len(self._unfenced)
        if index < len(self._fenced):
            return self._fenced[(index + self._offset) % len(self._fenced)]
        return None


def _refused(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
