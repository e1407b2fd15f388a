"""The partitions of a restored cluster."""

from __future__ import annotations

from ottla.cli.restore.restored_metadata import restored_image, restored_partition
from ottla.controller.operations.delete_topics import delete_topics
from ottla.metadata import NO_LEADER, PartitionRegistration
from ottla.metadata.partition import UNASSIGNED_DIRECTORY
from ottla.model import Uuid
from ottla.wire.messages.delete_topics import DeleteTopicsRequest
from tests.support.controller.cluster_images import applied, context, one_broker, topic

BEFORE = PartitionRegistration(
    replicas=(3, 1, 4),
    isr=(3,),
    leader=3,
    leader_epoch=5,
    partition_epoch=9,
    directories=(Uuid(bytes(16)),) * 3,
    removing_replicas=(1,),
    adding_replicas=(4,),
)


def test_every_replica_may_lead_in_a_new_epoch() -> None:
    after = restored_partition(BEFORE, has_eligible_leader_replicas=True)
    assert (after.leader, after.leader_epoch, after.partition_epoch) == (NO_LEADER, 6, 10)
    assert (after.isr, after.eligible_leader_replicas) == ((), (1, 3))
    assert after.directories == (UNASSIGNED_DIRECTORY,) * 2


def test_without_eligible_leader_replicas_all_are_in_sync() -> None:
    after = restored_partition(BEFORE, has_eligible_leader_replicas=False)
    assert (after.isr, after.eligible_leader_replicas) == ((3, 1), ())


def test_a_reassignment_is_cancelled() -> None:
    after = restored_partition(BEFORE, has_eligible_leader_replicas=True)
    assert after.replicas == (3, 1)
    assert not after.adding_replicas
    assert not after.removing_replicas


def test_deleted_topics_are_left_out() -> None:
    image = one_broker(topic("orders", [1]), topic("kept", [1]))
    records, _ = delete_topics(image, DeleteTopicsRequest(topic_names=["orders"]), context())
    image = applied(image, records)
    assert len(image.deleted_topics) == 1
    after = restored_image(image)
    assert not after.deleted_topics.by_id
    assert not [resource for resource in after.configs if "~" in resource.name]
    assert list(after.topics.by_name) == ["kept"]
