"""The metadata of a restored cluster.

The registrations of controllers are left out. Those of brokers stay, fenced: the restored nodes
prove with the epoch in their clean-shutdown files that their logs are complete. Then any replica of
a partition may become its leader: each is restored from the same files. So they are all eligible
leader replicas (KIP-966), or all in sync if the cluster does not have that feature. No partition
has a leader until its first replica registers, in a new leader epoch. Deleted topics are left out:
a backup does not contain their logs.
"""

from __future__ import annotations

from ottla.configs import ConfigResource, ConfigResourceType
from ottla.metadata import NO_LEADER, MetadataImage, PartitionRegistration
from ottla.metadata.partition import RECOVERED, UNASSIGNED_DIRECTORY


def restored_image(image: MetadataImage) -> MetadataImage:
    found = image.copy()
    found.controllers.clear()
    for deleted in found.deleted_topics:
        resource = ConfigResource(ConfigResourceType.TOPIC, deleted.resource_name)
        found.configs.pop(resource, None)
    found.deleted_topics.by_id.clear()
    for broker_id, broker in found.brokers.items():
        found.brokers[broker_id] = broker._replace(fenced=True, in_controlled_shutdown=False)
    has_elr = image.has_eligible_leader_replicas
    for topic in found.topics:
        topic.partitions = {
            index: restored_partition(partition, has_eligible_leader_replicas=has_elr)
            for index, partition in topic.partitions.items()
        }
    return found


def restored_partition(
    partition: PartitionRegistration, *, has_eligible_leader_replicas: bool
) -> PartitionRegistration:
    """A reassignment that was under way is cancelled."""
    replicas = tuple(each for each in partition.replicas if each not in partition.adding_replicas)
    return partition._replace(
        replicas=replicas,
        isr=() if has_eligible_leader_replicas else replicas,
        leader=NO_LEADER,
        leader_epoch=partition.leader_epoch + 1,
        partition_epoch=partition.partition_epoch + 1,
        directories=(UNASSIGNED_DIRECTORY,) * len(replicas),
        removing_replicas=(),
        adding_replicas=(),
        leader_recovery_state=RECOVERED,
        eligible_leader_replicas=tuple(sorted(replicas)) if has_eligible_leader_replicas else (),
        last_known_elr=(),
    )
