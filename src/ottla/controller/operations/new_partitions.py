"""The partitions of a topic that is created or grows: replicas, directories, the first leader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ottla.controller.operation import Context
from ottla.controller.operations.placement import ReplicaPlacer
from ottla.metadata import BrokerRegistration, MetadataImage, PartitionRegistration
from ottla.metadata.partition import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY
from ottla.model import ErrorCode, KafkaError, Uuid

# As many as Kafka makes for one request.
PARTITIONS_PER_REQUEST_MAX: Final = 10_000


def check_partition_count(count: int) -> None:
    if count > PARTITIONS_PER_REQUEST_MAX:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )


def place_partitions(
    image: MetadataImage, context: Context, *, count: int, replication_factor: int
) -> list[PartitionRegistration]:
    """New partitions on brokers of the controller's choice."""
    placer = ReplicaPlacer(image.brokers.values(), context.dice)
    times = f"Unable to replicate the partition {replication_factor} time(s)"
    try:
        placer.check(replication_factor)
    except KafkaError as error:
        raise KafkaError(error.code, f"{times}: {error.message}") from None
    placed = []
    for _ in range(count):
        partition = _partition(image, placer.place(replication_factor))
        if partition is None:
            raise KafkaError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"{times}: All brokers are currently fenced or in controlled shutdown.",
            )
        placed.append(partition)
    return placed


def assign_partition(
    image: MetadataImage,
    partition_id: int,
    broker_ids: Sequence[int],
    *,
    replication_factor: int | None,
) -> PartitionRegistration:
    """A new partition on brokers that the client named."""
    _check_assignment(image, broker_ids, replication_factor)
    partition = _partition(image, broker_ids)
    if partition is None:
        raise _invalid_assignment(
            "All brokers specified in the manual partition assignment for "
            f"partition {partition_id} are fenced or in controlled shutdown."
        )
    return partition


def _partition(image: MetadataImage, replicas: Sequence[int]) -> PartitionRegistration | None:
    """None if no replica could lead."""
    isr = tuple(broker_id for broker_id in replicas if image.is_active(broker_id))
    if not isr:
        return None
    return PartitionRegistration(
        replicas=tuple(replicas),
        isr=isr,
        leader=isr[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=tuple(_directory(image.brokers[broker_id]) for broker_id in replicas),
    )


def _directory(broker: BrokerRegistration) -> Uuid:
    """A broker with one usable directory uses that; one with several chooses for itself."""
    if not broker.log_dirs:
        return MIGRATING_DIRECTORY
    usable = [each for each in broker.log_dirs if each not in (broker.cordoned_log_dirs or ())]
    return usable[0] if len(usable) == 1 else UNASSIGNED_DIRECTORY


def _check_assignment(
    image: MetadataImage, broker_ids: Sequence[int], replication_factor: int | None
) -> None:
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
