"""Checks that every in-sync replica has all committed records, at any moment of the run.

It compares the logs of all nodes, which no single node can do. A replica that is in the ISR but
lacks a committed record would lose that record once it is elected, so it is an error even if the
replica would have caught up later. A partition counts as committed up to the highest offset that
any node's high watermark or any acknowledgement to a producer has reached. The ISR is the active
controller's.
"""

from __future__ import annotations

from typing import Final

from ottla.model import TopicPartition
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.history.history import Acknowledged, InSyncReplicaLacks
from ottla.simulation.world.world import World
from ottla.storage.log.log import Log

_EVERY_SECONDS: Final = 0.05


class Onlooker:
    """Checks some partitions of a cluster periodically, from `start` on."""

    def __init__(
        self,
        world: World,
        cluster: SimulatedCluster,
        partitions: list[TopicPartition],
    ) -> None:
        self._world = world
        self._cluster = cluster
        self._committed = dict.fromkeys(partitions, 0)
        self._events_seen = 0
        # The latest epoch of the metadata quorum.
        self._epoch = -1

    def start(self) -> None:
        self.look()
        self._world.scheduler.call_later(_EVERY_SECONDS, self.start)

    def look(self) -> None:
        self._note_acknowledged()
        logs: dict[TopicPartition, dict[int, Log]] = {each: {} for each in self._committed}
        image = None
        for node, observer in zip(self._cluster.nodes, self._cluster.observers, strict=True):
            broker = observer.broker
            if broker is None or not node.is_serving:
                # A node that has not registered yet cannot be elected, even if it is in the ISR.
                continue
            controller = broker.service.controller
            epoch = controller.quorum.leader_and_epoch.epoch
            if epoch > self._epoch:
                self._epoch, image = epoch, None
            if epoch == self._epoch and controller.is_active:
                image = broker.cluster.image
            for name, by_node in logs.items():
                partition = broker.partitions.get(name)
                if partition is not None and partition.log is not None:
                    log = by_node[node.id] = partition.log
                    if log.high_watermark > self._committed[name]:
                        self._committed[name] = log.high_watermark
        if image is None:
            # Only the active controller of the latest epoch has the current ISR.
            return
        for name, by_node in logs.items():
            topic = image.topics.by_name.get(name.topic)
            if topic is not None:
                self._compare(name, by_node, frozenset(topic.partitions[name.partition].isr))

    def _note_acknowledged(self) -> None:
        events = self._world.history.events
        for _, event in events[self._events_seen :]:
            if isinstance(event, Acknowledged) and event.partition in self._committed:
                end = max(self._committed[event.partition], event.offset + 1)
                self._committed[event.partition] = end
        self._events_seen = len(events)

    def _compare(self, name: TopicPartition, logs: dict[int, Log], isr: frozenset[int]) -> None:
        """Compares the log end offsets and the leader epoch of the last committed record."""
        committed = self._committed[name]
        epochs = {}
        for node_id, log in logs.items():
            if node_id not in isr:
                continue
            if log.log_end_offset < committed:
                self._record_violation(
                    name,
                    f"{committed} is committed, node-{node_id} is in the ISR and "
                    f"ends at {log.log_end_offset}",
                )
            elif log.log_start_offset < committed:
                epochs[node_id] = log.epochs.epoch_for_offset(committed - 1)
        if len(set(epochs.values())) > 1:
            self._record_violation(name, f"offset {committed - 1} is of different epochs: {epochs}")

    def _record_violation(self, name: TopicPartition, what: str) -> None:
        self._world.record(InSyncReplicaLacks("world", name, what))
