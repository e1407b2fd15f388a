"""Sees the whole cluster at once, as nobody in it can, and holds replicas against each other.

What is committed is on every in-sync replica, at every moment and not only once all is healed: a
replica that is in the ISR and lacks something is one election away from losing it. How far a
partition is committed is the most that any node or client has ever known; who is in its ISR, the
active controller's.
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
    """Of some partitions of a cluster, from `start` on."""

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
        # The latest of the quorum.
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
                # Before it has registered, nobody elects it, whatever the ISR says of it.
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
            # Who is in an ISR, only a controller knows that nobody has deposed.
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
        """The end of each log, and in which epoch the last committed record was written."""
        committed = self._committed[name]
        epochs = {}
        for node_id, log in logs.items():
            if node_id not in isr:
                continue
            if log.log_end_offset < committed:
                self._tell(
                    name,
                    f"{committed} is committed, node-{node_id} is in the ISR and "
                    f"ends at {log.log_end_offset}",
                )
            elif log.log_start_offset < committed:
                epochs[node_id] = log.epochs.epoch_for_offset(committed - 1)
        if len(set(epochs.values())) > 1:
            self._tell(name, f"offset {committed - 1} is of different epochs: {epochs}")

    def _tell(self, name: TopicPartition, what: str) -> None:
        self._world.record(InSyncReplicaLacks("world", name, what))
