"""A cluster that lives through whatever may happen to brokers and partitions, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ottla.controller.operation import Context
from ottla.controller.operations.alter_partition import alter_partition
from ottla.controller.operations.alter_partition_reassignments import alter_partition_reassignments
from ottla.controller.operations.assign_replicas_to_dirs import assign_replicas_to_dirs
from ottla.controller.operations.elect_leaders import elect_leaders
from ottla.controller.operations.fence_broker import fence_broker
from ottla.controller.operations.heartbeat import heartbeat
from ottla.controller.operations.leadership import can_lead
from ottla.controller.operations.register_broker import register_broker
from ottla.controller.operations.unregister_broker import unregister_broker
from ottla.controller.periodic_elections import preferred_elections, unclean_elections
from ottla.metadata import NO_LEADER, SUPPORTED_FEATURES, MetadataImage, PartitionRegistration
from ottla.metadata.broker import feature_structs
from ottla.metadata.partition import RECOVERING
from ottla.model import Uuid
from ottla.wire.messages import alter_partition as altering
from ottla.wire.messages import alter_partition_reassignments as reassigning
from ottla.wire.messages import assign_replicas_to_dirs as assigning
from ottla.wire.messages import broker_registration as registration
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.elect_leaders import ElectLeadersRequest
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from tests.support.controller.cluster_images import (
    CLUSTER_ID,
    applied,
    broker,
    context,
    features,
    image_of,
    node_config,
    topic,
    uuid,
)

BROKERS = (1, 2, 3, 4)
TOPICS = ("orders", "returns")


class Step(NamedTuple):
    """What happens, to which broker and topic, and the replicas that are named where any are."""

    name: str
    broker_id: int
    topic: str
    replicas: tuple[int, ...]
    flag: bool


class PartitionHistory:
    """Holds the image as of the last step; every step checks what must always hold."""

    def __init__(self, *, has_elr: bool, min_isr: int, unclean: bool) -> None:
        self.image: MetadataImage = image_of(
            features(eligible_leader_replicas_version=int(has_elr)),
            *(broker(each, log_dirs=_directories(each)) for each in BROKERS),
            topic("orders", [1, 2, 3], [2, 3, 4], [4]),
            topic("returns", [3, 1], [4, 2]),
            ConfigRecord(
                resource_type=2,
                resource_name="returns",
                name="unclean.leader.election.enable",
                value=str(unclean).lower(),
            ),
        )
        self._node = node_config(min_insync_replicas=str(min_isr))
        self._offset = 1000

    def take(self, step: Step) -> None:
        self._offset += 100
        scope = context(self._node, next_offset=self._offset)
        records = _STEPS[step.name](self.image, step, scope)
        before, self.image = self.image, applied(self.image, records)
        for was, now in _pairs(before, self.image):
            self._check(now)
            check_change(was, now, may_be_new_in_sync=step.name == "alter_isr")

    def _check(self, partition: PartitionRegistration) -> None:
        replicas, isr = partition.replicas, partition.isr
        eligible = partition.eligible_leader_replicas
        assert len(set(replicas)) == len(replicas) == len(partition.directories)
        assert len(set(isr)) == len(isr)
        assert set(isr).issubset(replicas)
        assert set(eligible).issubset(replicas)
        assert not set(isr).intersection(eligible)
        assert set(partition.adding_replicas).issubset(replicas)
        assert set(partition.removing_replicas).issubset(replicas)
        if self.image.has_eligible_leader_replicas:
            assert all(self.image.is_active(replica) for replica in isr)
        else:
            assert not eligible
            assert isr
        if partition.leader != NO_LEADER:
            assert partition.leader in isr
            assert can_lead(self.image, partition, partition.leader)
            assert not partition.last_known_elr
        else:
            assert not any(can_lead(self.image, partition, replica) for replica in isr)


def check_change(
    was: PartitionRegistration, now: PartitionRegistration, *, may_be_new_in_sync: bool
) -> None:
    assert now.partition_epoch >= was.partition_epoch
    assert now.leader_epoch >= was.leader_epoch
    if was.leader != now.leader:
        assert now.leader_epoch > was.leader_epoch
    if was._replace(partition_epoch=0) != now._replace(partition_epoch=0):
        assert now.partition_epoch > was.partition_epoch
    if now.leader not in (was.leader, NO_LEADER) and not may_be_new_in_sync:
        # A leader that is new has everything, or it is known that it may not.
        complete = {*was.isr, *was.eligible_leader_replicas}
        assert now.leader in complete or now.leader_recovery_state == RECOVERING


def _pairs(
    before: MetadataImage, after: MetadataImage
) -> Iterator[tuple[PartitionRegistration, PartitionRegistration]]:
    for name in TOPICS:
        now = after.topics.by_name[name].partitions
        for partition_id, was in before.topics.by_name[name].partitions.items():
            yield was, now[partition_id]


def _beat(
    *, want_fence: bool = False, want_shut_down: bool = False
) -> Callable[[MetadataImage, Step, Context], list[Message]]:
    def beat(image: MetadataImage, step: Step, scope: Context) -> list[Message]:
        requested = BrokerHeartbeatRequest(
            broker_id=step.broker_id,
            broker_epoch=_epoch(image, step),
            current_metadata_offset=scope.next_offset,
            want_fence=want_fence,
            want_shut_down=want_shut_down,
        )
        return heartbeat(image, requested, scope).records

    return beat


def _directories(broker_id: int) -> list[Uuid]:
    """The first may fail."""
    return [uuid(500 + broker_id), uuid(600 + broker_id)]


def _epoch(image: MetadataImage, step: Step) -> int:
    known = image.brokers.get(step.broker_id)
    return -1 if known is None else known.epoch


def _fence(image: MetadataImage, step: Step, scope: Context) -> list[Message]:
    requested = BrokerHeartbeatRequest(broker_id=step.broker_id, broker_epoch=_epoch(image, step))
    return fence_broker(image, requested, scope).records


def _register(image: MetadataImage, step: Step, scope: Context) -> list[Message]:
    """Anew, and cleanly if the flag says so. Its first directory comes back if it had failed."""
    requested = registration.BrokerRegistrationRequest(
        broker_id=step.broker_id,
        cluster_id=CLUSTER_ID,
        incarnation_id=uuid(scope.next_offset),
        features=feature_structs(registration.Feature, SUPPORTED_FEATURES),
        log_dirs=_directories(step.broker_id),
        previous_broker_epoch=_epoch(image, step) if step.flag else -1,
    )
    return register_broker(image, requested, scope).records


def _lose_directory(image: MetadataImage, step: Step, scope: Context) -> list[Message]:
    requested = BrokerHeartbeatRequest(
        broker_id=step.broker_id,
        broker_epoch=_epoch(image, step),
        offline_log_dirs=_directories(step.broker_id)[:1],
    )
    return heartbeat(image, requested, scope).records


def _unregister(image: MetadataImage, step: Step, scope: Context) -> list[Message]:
    requested = UnregisterBrokerRequest(broker_id=step.broker_id)
    return unregister_broker(image, requested, scope).records


def _alter_isr(image: MetadataImage, step: Step, scope: Context) -> list[Message]:
    """Every partition that the broker leads wants the named replicas it has to be in sync."""
    found = image.topics.by_name[step.topic]
    partitions = [
        altering.AlterPartitionRequestPartitionData(
            partition_index=partition_id,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.partition_epoch,
            new_isr=[
                each
                for each in partition.replicas
                if each in step.replicas or each == partition.leader
            ],
        )
        for partition_id, partition in found.partitions.items()
        if partition.leader == step.broker_id
    ]
    requested = altering.AlterPartitionRequest(
        broker_id=step.broker_id,
        broker_epoch=_epoch(image, step),
        topics=[altering.AlterPartitionRequestTopicData(topic_id=found.id, partitions=partitions)],
    )
    return alter_partition(image, requested, scope).records


def _reassign(image: MetadataImage, step: Step, scope: Context) -> list[Message]:
    """Moves all partitions of a topic, or takes their moves back."""
    requested = [
        reassigning.ReassignablePartition(
            partition_index=partition_id, replicas=None if step.flag else list(step.replicas)
        )
        for partition_id in image.topics.by_name[step.topic].partitions
    ]
    request = reassigning.AlterPartitionReassignmentsRequest(
        topics=[reassigning.ReassignableTopic(name=step.topic, partitions=requested)]
    )
    return alter_partition_reassignments(image, request, scope).records


def _assign_directory(image: MetadataImage, step: Step, scope: Context) -> list[Message]:
    found = image.topics.by_name[step.topic]
    partitions = [
        assigning.AssignReplicasToDirsRequestPartitionData(partition_index=partition_id)
        for partition_id in found.partitions
    ]
    topics = [
        assigning.AssignReplicasToDirsRequestTopicData(topic_id=found.id, partitions=partitions)
    ]
    directory = _directories(step.broker_id)[step.flag]
    requested = assigning.AssignReplicasToDirsRequest(
        broker_id=step.broker_id,
        broker_epoch=_epoch(image, step),
        directories=[
            assigning.AssignReplicasToDirsRequestDirectoryData(id=directory, topics=topics)
        ],
    )
    return assign_replicas_to_dirs(image, requested, scope).records


def _elect(image: MetadataImage, step: Step, scope: Context) -> list[Message]:
    requested = ElectLeadersRequest(election_type=int(step.flag), topic_partitions=None)
    return elect_leaders(image, requested, scope).records


def _elect_periodically(image: MetadataImage, step: Step, scope: Context) -> list[Message]:
    """An election that the controller proposes succeeds for every partition."""
    proposed = unclean_elections(image, scope.node) if step.flag else preferred_elections(image)
    if proposed is None:
        return []
    records, response = elect_leaders(image, proposed, scope)
    for result in response.replica_election_results:
        assert all(each.error_code == 0 for each in result.partition_result)
    return records


_STEPS: dict[str, Callable[[MetadataImage, Step, Context], list[Any]]] = {
    "fence": _fence,
    "serve": _beat(),
    "shut_down": _beat(want_shut_down=True),
    "ask_to_be_fenced": _beat(want_fence=True),
    "register": _register,
    "unregister": _unregister,
    "lose_directory": _lose_directory,
    "alter_isr": _alter_isr,
    "reassign": _reassign,
    "assign_directory": _assign_directory,
    "elect": _elect,
    "elect_periodically": _elect_periodically,
}
STEP_NAMES = tuple(_STEPS)
