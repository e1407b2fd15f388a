"""All shared partitions of a node, by group, topic and partition. A `LeadershipListener`."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.sharing.dead_letters import DeadLetters
from ottla.broker.sharing.group_delivery import GroupDeliveries
from ottla.broker.sharing.share_metrics import ShareMetrics
from ottla.broker.sharing.shared_partition import SharedPartition, SharingContext
from ottla.broker.sharing.start_offsets import StartOffsets
from ottla.model import Uuid
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.runtime.clock import Clock
from ottla.shares.share_key import ShareKey

if TYPE_CHECKING:
    from ottla.broker.coordinators.share_states import ShareStates


class SharedPartitions:
    """Owned by the node's loop."""

    def __init__(
        self,
        cluster: ClusterView,
        partitions: Partitions,
        states: ShareStates,
        deliveries: GroupDeliveries,
        start_offsets: StartOffsets,
        metrics: ShareMetrics,
        dead_letters: DeadLetters,
        clock: Clock,
    ) -> None:
        self._cluster = cluster
        self._partitions = partitions
        self._context = SharingContext(
            clock, states, deliveries, start_offsets, metrics, dead_letters, self._closed
        )
        self._by_key: dict[ShareKey, SharedPartition] = {}
        self._by_group: defaultdict[str, dict[ShareKey, None]] = defaultdict(dict)
        self._by_partition: defaultdict[tuple[Uuid, int], dict[ShareKey, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._by_key)

    @property
    def all(self) -> list[SharedPartition]:
        return list(self._by_key.values())

    def get(self, key: ShareKey) -> SharedPartition | None:
        return self._by_key.get(key)

    def of_group(self, group_id: str) -> list[SharedPartition]:
        return [self._by_key[key] for key in self._by_group.get(group_id, ())]

    def get_or_load(self, key: ShareKey) -> SharedPartition:
        """Raises `KafkaError` if this node does not lead the partition."""
        partition = self._partitions.by_id(key.topic_id, key.partition)
        partition.require_leader()
        partition.require_log()
        found = self._by_key.get(key)
        if found is not None:
            found.use()
            return found
        found = self._by_key[key] = SharedPartition(key, partition, self._context)
        self._by_group[key.group_id][key] = None
        self._by_partition[key.topic_id, key.partition][key] = None
        found.load()
        return found

    def close_group(self, group_id: str) -> None:
        """The group has no sessions on this node any more. Its state is loaded again with the next
        one: it may be changed in between."""
        for shared in self.of_group(group_id):
            shared.close_unused()

    def _closed(self, shared: SharedPartition) -> None:
        key = shared.key
        if self._by_key.get(key) is not shared:
            return
        del self._by_key[key]
        keys = self._by_group[key.group_id]
        del keys[key]
        if not keys:
            del self._by_group[key.group_id]
        keys = self._by_partition[key.topic_id, key.partition]
        del keys[key]
        if not keys:
            del self._by_partition[key.topic_id, key.partition]

    # ---- leadership

    def follow(self, partition: Partition) -> None:
        """Closes what was loaded in an earlier leader epoch."""
        for shared in self._of(partition):
            if not partition.is_leader or partition.leader_epoch != shared.leader_epoch:
                shared.close(partition.not_leader())

    def forget(self, partition: Partition) -> None:
        for shared in self._of(partition):
            # The replica may be gone altogether: the client looks up the leader again.
            shared.close(partition.not_leader())

    def _of(self, partition: Partition) -> list[SharedPartition]:
        keys = self._by_partition.get((partition.topic_id, partition.name.partition), ())
        return [self._by_key[key] for key in list(keys)]

    def close(self) -> None:
        """At shutdown."""
        for shared in self.all:
            shared.close(shared.partition.not_leader())
