"""The partitions of a new or growing topic: their replicas, directories and first leaders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ottla.controller.operation import Context
from ottla.controller.operations.placement import ReplicaPlacer
from ottla.metadata import BrokerRegistration, MetadataImage, PartitionRegistration
from ottla.metadata.partition import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY
from ottla.model import ErrorCode, KafkaError, Uuid

# The same limit as in Kafka.
PARTITIONS_PER_REQUEST_MAX: Final = 10_000


def check_partition_count(count: int) -> None:
    if count > PARTITIONS_PER_REQUEST_MAX:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )


class NewPartitions:
    """Creates the new partitions of one operation. Partitions on the same brokers share one value:
    there may be thousands of them, but few distinct placements."""

    def __init__(self, image: MetadataImage, context: Context) -> None:
        self._image = image
        self._dice = context.dice
        self._made: dict[tuple[int, ...], PartitionRegistration | None] = {}

    def place(self, *, count: int, replication_factor: int) -> list[PartitionRegistration]:
        """The partitions of a topic, on brokers chosen by the controller."""
        placer = ReplicaPlacer(self._image.brokers.values(), self._dice)
        times = f"Unable to replicate the partition {replication_factor} time(s)"
        try:
            placer.check(replication_factor)
        except KafkaError as error:
            raise KafkaError(error.code, f"{times}: {error.message}") from None
        placed = []
        for _ in range(count):
            partition = self._on(placer.place(replication_factor))
            if partition is None:
                raise KafkaError(
                    ErrorCode.INVALID_REPLICATION_FACTOR,
                    f"{times}: All brokers are currently fenced or in controlled shutdown.",
                )
            placed.append(partition)
        return placed

    def assign(
        self, partition_id: int, broker_ids: Sequence[int], *, replication_factor: int | None
    ) -> PartitionRegistration:
        """A partition on brokers chosen by the client."""
        check_assignment(self._image, broker_ids, replication_factor)
        partition = self._on(broker_ids)
        if partition is None:
            raise _invalid_assignment(
                "All brokers specified in the manual partition assignment for "
                f"partition {partition_id} are fenced or in controlled shutdown."
            )
        return partition

    def _on(self, broker_ids: Sequence[int]) -> PartitionRegistration | None:
        replicas = tuple(broker_ids)
        if replicas not in self._made:
            self._made[replicas] = _partition(self._image, replicas)
        return self._made[replicas]


def _partition(image: MetadataImage, replicas: tuple[int, ...]) -> PartitionRegistration | None:
    """None if no replica can lead."""
    isr = tuple(broker_id for broker_id in replicas if image.is_active(broker_id))
    if not isr:
        return None
    return PartitionRegistration(
        replicas=replicas,
        isr=isr,
        leader=isr[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=tuple(default_directory(image.brokers[broker_id]) for broker_id in replicas),
    )


def default_directory(broker: BrokerRegistration) -> Uuid:
    """If a broker has exactly one usable directory, that one; otherwise the broker chooses."""
    if not broker.log_dirs:
        return MIGRATING_DIRECTORY
    usable = [each for each in broker.log_dirs if each not in (broker.cordoned_log_dirs or ())]
    return usable[0] if len(usable) == 1 else UNASSIGNED_DIRECTORY


def check_assignment(
    image: MetadataImage, broker_ids: Sequence[int], replication_factor: int | None = None
) -> None:
    """Raises KafkaError for an invalid list of replicas."""
    if not broker_ids:
        raise _invalid_assignment("The manual partition assignment includes an empty replica list.")
    for broker_id in sorted(broker_ids):
        if broker_id not in image.brokers:
            raise _invalid_assignment(
                f"The manual partition assignment includes broker {broker_id}, "
                "but no such broker is registered."
            )
        if broker_ids.count(broker_id) > 1:
            raise _invalid_assignment(
                f"The manual partition assignment includes the broker {broker_id} more than once."
            )
    if replication_factor is not None and len(broker_ids) != replication_factor:
        raise _invalid_assignment(
            f"The manual partition assignment includes a partition with {len(broker_ids)} "
            "replica(s), but this is not consistent with previous partitions, "
            f"which have {replication_factor} replica(s)."
        )


def _invalid_assignment(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
