"""The metadata of a restored cluster.

The nodes of the old cluster are left out: those of the new one register themselves. Every partition
keeps its replicas and has none as its leader yet, in a new leader epoch; the first replica that
registers is elected, as after a power failure of the whole cluster. All replicas are in sync,
because they are restored from the same files.
"""

from __future__ import annotations

from ottla.metadata import NO_LEADER, MetadataImage, PartitionRegistration
from ottla.metadata.partition import RECOVERED, UNASSIGNED_DIRECTORY


def restored_image(image: MetadataImage) -> MetadataImage:
    found = image.copy()
    found.brokers.clear()
    found.controllers.clear()
    for topic in found.topics:
        topic.partitions = {
            index: restored_partition(partition) for index, partition in topic.partitions.items()
        }
    return found


def restored_partition(partition: PartitionRegistration) -> PartitionRegistration:
    """A reassignment that was under way is cancelled."""
    replicas = tuple(each for each in partition.replicas if each not in partition.adding_replicas)
    return partition._replace(
        replicas=replicas,
        isr=replicas,
        leader=NO_LEADER,
        leader_epoch=partition.leader_epoch + 1,
        partition_epoch=partition.partition_epoch + 1,
        directories=(UNASSIGNED_DIRECTORY,) * len(replicas),
        removing_replicas=(),
        adding_replicas=(),
        leader_recovery_state=RECOVERED,
        eligible_leader_replicas=(),
        last_known_elr=(),
    )
