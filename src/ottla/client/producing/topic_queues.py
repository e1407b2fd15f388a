"""The partitions of one topic, and which of them a record goes to.

By default as Kafka's own producer: the murmur2 hash of the key; without a key one partition at a
time, until it has got a batch of bytes (KIP-480, KIP-794). The next one is drawn by chance, rather
one with a short queue, and only among partitions that have a leader.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import Final

from ottla.client.errors import ClientError
from ottla.client.producing.partition_queue import PartitionQueue
from ottla.client.settings.producer import ChoosePartition
from ottla.runtime.dice import Dice
from ottla.wire.records.murmur2 import murmur2

_POSITIVE: Final = 0x7FFFFFFF
# Hashing in Python costs more than the rest of a record, and keys repeat.
_KEYS_REMEMBERED_MAX: Final = 50_000


class PartitionChoiceError(ClientError, ValueError):
    """A record names a partition that the topic does not have, or its partitioner chose one."""


class TopicQueues:
    """The queues of one topic. `sticky` has the queue for records without a key."""

    def __init__(
        self,
        topic: str,
        queues: list[PartitionQueue],
        dice: Dice,
        has_leader: Callable[[PartitionQueue], bool],
        *,
        batch_size: int,
        chooser: ChoosePartition | str | None,
        ignores_keys: bool,
        is_adaptive: bool,
    ) -> None:
        self.topic = topic
        self.queues = queues
        self.last_used = 0.0
        self._dice = dice
        self._has_leader = has_leader
        self._batch_size = batch_size
        self._chooser = chooser
        self._ignores_keys = ignores_keys
        self._is_adaptive = is_adaptive
        self._by_key: dict[bytes, PartitionQueue] = {}
        self._sticky_bytes = 0
        self._turn = 0
        self.sticky = self._drawn()
        # Whether `sticky` and `by_key` are all that is needed.
        self.is_plain = chooser is None

    def grow(self, queues: list[PartitionQueue]) -> None:
        """The topic has got more partitions."""
        self.queues = queues
        self._by_key.clear()

    def by_key(self, key: bytes) -> PartitionQueue:
        found = self._by_key.get(key)
        if found is None:
            if len(self._by_key) >= _KEYS_REMEMBERED_MAX:
                self._by_key.clear()
            found = self.queues[(murmur2(key) & _POSITIVE) % len(self.queues)]
            self._by_key[key] = found
        return found

    def choose(self, key: bytes | None, partition: int | None) -> PartitionQueue:
        """Raises PartitionChoiceError."""
        if partition is None:
            if self._chooser is None:
                if key is None or self._ignores_keys:
                    return self.sticky
                return self.by_key(key)
            if isinstance(self._chooser, str):
                return self._next_in_turn()
            partition = self._chooser(self.topic, key, len(self.queues))
        if not 0 <= partition < len(self.queues):
            raise PartitionChoiceError(
                f"{self.topic} has no partition {partition}; it has {len(self.queues)}"
            )
        return self.queues[partition]

    def batch_closed(self, queue: PartitionQueue, size: int, *, is_full: bool) -> None:
        """Counts the bytes of the sticky partition, and moves on when they are a batch."""
        if queue is self.sticky:
            self._sticky_bytes += size
            if is_full or self._sticky_bytes >= self._batch_size:
                self._sticky_bytes = 0
                self.sticky = self._drawn()

    def _drawn(self) -> PartitionQueue:
        able = [queue for queue in self.queues if self._has_leader(queue)] or self.queues
        if len(able) == 1 or not self._is_adaptive:
            return self._dice.choice(able)
        lengths = [len(queue) for queue in able]
        longest = max(lengths) + 1
        sums = list(accumulate(longest - length for length in lengths))
        return able[bisect_right(sums, self._dice.below(sums[-1]))]

    def _next_in_turn(self) -> PartitionQueue:
        able = [queue for queue in self.queues if self._has_leader(queue)] or self.queues
        self._turn += 1
        return able[self._turn % len(able)]
