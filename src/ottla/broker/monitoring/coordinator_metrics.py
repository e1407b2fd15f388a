"""Metrics of the groups and transactions that this node coordinates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from ottla.broker.broker import Broker
from ottla.broker.monitoring.group_lag import GroupLag
from ottla.metrics import Metrics, Sample
from ottla.metrics.table import coordinators as table
from ottla.model import TopicPartition

if TYPE_CHECKING:
    from ottla.coordinator.runtime.shard import Shard

_STEP: Final = 200
_SECONDS_MAX: Final = 1.0


class CoordinatorMetrics:
    """Registers its sources when it is made. Call `refresh` before they are read."""

    def __init__(self, metrics: Metrics, broker: Broker) -> None:
        self._broker = broker
        clock = broker.clock
        self._lag = GroupLag(
            broker.cluster,
            broker.partitions,
            broker.peers,
            clock,
            self._committed,
            lambda: clock.sleep(0),
            seconds_max=_SECONDS_MAX,
        )
        for family, source in (
            (table.COORDINATOR_PARTITIONS, self._shards),
            (table.GROUPS, self._groups),
            (table.GROUP_MEMBERS, self._members),
            (table.GROUP_COMMITTED_OFFSET, self._offsets),
            (table.GROUP_LAG_RECORDS, self._lag_records),
            (table.GROUP_LAG_SECONDS, self._lag_seconds),
            (table.TRANSACTIONS, self._transactions),
        ):
            metrics.measure(family, source)

    async def refresh(self) -> None:
        await self._lag.refresh()

    def _shards(self) -> Iterator[Sample]:
        for name, shards in (
            ("group", self._broker.groups.all),
            ("transaction", self._broker.transactions.all),
            ("share", self._broker.coordinators.shares.all),
        ):
            loading = sum(shard.is_loading for shard in shards)
            yield (name, "loading"), loading
            yield (name, "active"), len(shards) - loading

    # ---- groups

    def _groups(self) -> Iterator[Sample | None]:
        counts: Counter[tuple[str, str]] = Counter()
        for shard in _loaded(self._broker.groups.all):
            for number, group in enumerate(list(shard.machine.groups)):
                counts[group.type.value, group.state_name] += 1
                if number % _STEP == 0:
                    yield None
        yield from counts.items()

    def _members(self) -> Iterator[Sample | None]:
        for shard in _loaded(self._broker.groups.all):
            for group in list(shard.machine.groups):
                yield (group.id,), len(group.members)

    def _committed(self) -> Iterator[tuple[str, TopicPartition, int] | None]:
        for shard in _loaded(self._broker.groups.all):
            offsets = shard.machine.offsets
            for group_id in offsets.group_ids:
                for topic, partitions in list(offsets.of_group(group_id).items()):
                    for number, (index, committed) in enumerate(list(partitions.items())):
                        yield group_id, TopicPartition(topic, index), committed.offset
                        if number % _STEP == 0:
                            yield None

    def _offsets(self) -> Iterator[Sample | None]:
        for each in self._committed():
            if each is None:
                yield None
            else:
                group_id, (topic, index), offset = each
                yield (group_id, topic, str(index)), offset

    def _lag_records(self) -> Iterator[Sample | None]:
        for each in self._committed():
            if each is None:
                yield None
                continue
            group_id, name, offset = each
            lag = self._lag.records(name, offset)
            if lag is not None:
                yield (group_id, name.topic, str(name.partition)), lag

    def _lag_seconds(self) -> Iterator[Sample | None]:
        for each in self._committed():
            if each is None:
                yield None
                continue
            group_id, name, offset = each
            lag = self._lag.seconds(name, offset)
            if lag is not None:
                yield (group_id, name.topic, str(name.partition)), lag

    # ---- transactions

    def _transactions(self) -> Iterator[Sample | None]:
        counts: Counter[str] = Counter()
        for shard in _loaded(self._broker.transactions.all):
            for number, transaction in enumerate(list(shard.machine.transactions)):
                counts[transaction.state.title] += 1
                if number % _STEP == 0:
                    yield None
        for state, count in counts.items():
            yield (state,), count


def _loaded(shards: list[Shard[Any]]) -> Iterator[Shard[Any]]:
    return (shard for shard in shards if not shard.is_loading)
