"""The cluster as the clients of one listener see it.

A client reaches every broker through the listener name it is connected to. A broker without that
listener is unreachable for it: partitions led there have the error LISTENER_NOT_FOUND.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.metadata import NO_LEADER, BrokerRegistration, Endpoint, MetadataImage
from ottla.metadata.partition import (
    MIGRATING_DIRECTORY,
    UNASSIGNED_DIRECTORY,
    PartitionRegistration,
)
from ottla.model import ErrorCode, Uuid

# Reserved ids that name no real directory.
_ALWAYS_ONLINE = (MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY)


class ReachableBroker(NamedTuple):
    """A broker and its endpoint on this listener."""

    broker: BrokerRegistration
    endpoint: Endpoint


class ListenerView:
    """Created for one response, because the metadata image is replaced at any time."""

    __slots__ = ("_offline", "_registered", "_suspects", "all_brokers")

    def __init__(
        self, image: MetadataImage, listener: str, *, suspects: frozenset[int] = frozenset()
    ) -> None:
        """`suspects` are nodes that probably died; no client is sent to them."""
        self._suspects = suspects
        self._registered = image.brokers
        self.all_brokers = {
            broker.id: ReachableBroker(broker, endpoint)
            for broker in image.brokers.values()
            for endpoint in broker.endpoints
            if endpoint.name == listener
        }
        # Cached by replica list: a cluster has few different ones.
        self._offline: dict[tuple[tuple[int, ...], tuple[Uuid, ...]], list[int]] = {}

    @property
    def brokers(self) -> list[ReachableBroker]:
        """The unfenced brokers."""
        return self.brokers_and(frozenset())

    def brokers_and(self, others: frozenset[int]) -> list[ReachableBroker]:
        """The unfenced brokers, and those of `others` even if they are fenced."""
        return [
            each
            for each in self.all_brokers.values()
            if not each.broker.fenced or each.broker.id in others
        ]

    def is_reachable(self, broker_id: int) -> bool:
        found = self.all_brokers.get(broker_id)
        return found is not None and not found.broker.fenced

    def leader_of(self, partition: PartitionRegistration) -> int:
        return partition.leader if partition.leader in self.all_brokers else NO_LEADER

    def leader_error(self, partition: PartitionRegistration) -> ErrorCode:
        if partition.leader in self._suspects:
            return ErrorCode.LEADER_NOT_AVAILABLE
        if partition.leader in self.all_brokers:
            return ErrorCode.NONE
        if partition.leader in self._registered:
            return ErrorCode.LISTENER_NOT_FOUND
        return ErrorCode.LEADER_NOT_AVAILABLE

    def offline_replicas(self, partition: PartitionRegistration) -> list[int]:
        key = (partition.replicas, partition.directories)
        found = self._offline.get(key)
        if found is None:
            found = self._offline[key] = [
                replica
                for replica, directory in zip(*key, strict=True)
                if not self._is_online(replica, directory)
            ]
        return found

    def _is_online(self, replica: int, directory: Uuid) -> bool:
        if not self.is_reachable(replica):
            return False
        # Brokers older than KIP-858 register without directory ids.
        log_dirs = self._registered[replica].log_dirs
        return directory in _ALWAYS_ONLINE or not log_dirs or directory in log_dirs
