"""AlterPartition, versions 2 and 3: a leader changes the ISR of its partitions (KIP-497).

For the whole request: STALE_BROKER_EPOCH. Per partition: UNKNOWN_TOPIC_ID,
UNKNOWN_TOPIC_OR_PARTITION; NOT_CONTROLLER if the leader's epochs are newer than the controller's;
FENCED_LEADER_EPOCH or INVALID_UPDATE_VERSION if they are older; INELIGIBLE_REPLICA if a replica
must not join the ISR at the moment; INVALID_REQUEST for what no leader should send.
NEW_LEADER_ELECTED means that the change was made: it completed a reassignment, and another replica
now leads.
"""

from __future__ import annotations

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.broker_epochs import current_broker
from ottla.controller.operations.leadership import PartitionChanges
from ottla.metadata import MetadataImage, PartitionRegistration, TopicImage
from ottla.metadata.partition import LEADER_UNCHANGED, RECOVERED, RECOVERING
from ottla.model import ErrorCode, KafkaError
from ottla.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
    BrokerState,
)
from ottla.wire.schema import Message

# Sent by a leader that does not know the follower's broker epoch.
_ANY_EPOCH = -1


def alter_partition(
    image: MetadataImage, request: AlterPartitionRequest, context: Context
) -> OperationOutcome[AlterPartitionResponse]:
    try:
        current_broker(image, request.broker_id, request.broker_epoch)
    except KafkaError as error:
        return OperationOutcome([], AlterPartitionResponse(error_code=error.code))
    changes = PartitionChanges(image, context)
    records: list[Message] = []
    topics = []
    for requested in request.topics:
        topic = image.topics.by_id.get(requested.topic_id)
        if topic is None:
            topics.append(_unknown_topic(requested))
            continue
        results = []
        for partition in requested.partitions:
            try:
                result = _alter(image, request.broker_id, topic, partition, changes, records)
            except KafkaError as error:
                result = _refusal(partition, error.code)
            results.append(result)
        topics.append(AlterPartitionResponseTopicData(topic_id=topic.id, partitions=results))
    return OperationOutcome(records, AlterPartitionResponse(topics=topics))


def _alter(
    image: MetadataImage,
    broker_id: int,
    topic: TopicImage,
    requested: AlterPartitionRequestPartitionData,
    changes: PartitionChanges,
    records: list[Message],
) -> AlterPartitionResponsePartitionData:
    partition = topic.partitions.get(requested.partition_index)
    if partition is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            f"There is no partition {topic.name}-{requested.partition_index}.",
        )
    _check_epochs(partition, requested, broker_id)
    states = requested.new_isr_with_epochs or [
        BrokerState(broker_id=each) for each in requested.new_isr
    ]
    isr = tuple(state.broker_id for state in states)
    _check_isr(partition, isr, requested.leader_recovery_state)
    for state in states:
        _check_eligible(image, state)
    record = changes.record(
        topic,
        requested.partition_index,
        isr=isr,
        leader_recovery_state=requested.leader_recovery_state,
    )
    if record is not None:
        records.append(record)
        if record.leader not in (LEADER_UNCHANGED, broker_id):
            return _refusal(requested, ErrorCode.NEW_LEADER_ELECTED)
        partition = partition.changed_by(record, {})
    return _state(requested.partition_index, partition)


def _check_epochs(
    partition: PartitionRegistration, requested: AlterPartitionRequestPartitionData, broker_id: int
) -> None:
    """Accepts only the leader with the current epochs."""
    leader_epoch, partition_epoch = partition.leader_epoch, partition.partition_epoch
    if requested.leader_epoch > leader_epoch or requested.partition_epoch > partition_epoch:
        raise KafkaError(
            ErrorCode.NOT_CONTROLLER, "The leader has seen a newer state than this controller."
        )
    if requested.leader_epoch < leader_epoch:
        raise KafkaError(
            ErrorCode.FENCED_LEADER_EPOCH,
            f"The current leader epoch is {leader_epoch}, not {requested.leader_epoch}.",
        )
    if broker_id != partition.leader:
        raise _invalid(f"The current leader is {partition.leader}.")
    if requested.partition_epoch < partition_epoch:
        raise KafkaError(
            ErrorCode.INVALID_UPDATE_VERSION,
            f"The current partition epoch is {partition_epoch}, not {requested.partition_epoch}.",
        )


def _check_isr(
    partition: PartitionRegistration, isr: tuple[int, ...], leader_recovery_state: int
) -> None:
    if len(set(isr)) < len(isr) or not set(isr).issubset(partition.replicas):
        raise _invalid(f"The ISR {isr} is not a subset of the replicas {partition.replicas}.")
    if partition.leader not in isr:
        raise _invalid(f"The ISR {isr} does not include the leader.")
    if leader_recovery_state not in (RECOVERED, RECOVERING):
        raise _invalid(f"There is no leader recovery state {leader_recovery_state}.")
    if leader_recovery_state == RECOVERING and len(isr) > 1:
        raise _invalid("Only the leader is in sync until it has recovered.")
    if leader_recovery_state == RECOVERING and partition.leader_recovery_state == RECOVERED:
        raise _invalid("The leader recovery state cannot change from RECOVERED to RECOVERING.")


def _check_eligible(image: MetadataImage, state: BrokerState) -> None:
    """A replica whose broker was fenced since it caught up may have lost records (KIP-903)."""
    broker = image.brokers.get(state.broker_id)
    if broker is None:
        reason = "not registered"
    elif broker.in_controlled_shutdown:
        reason = "shutting down"
    elif broker.fenced:
        reason = "fenced"
    elif state.broker_epoch not in (_ANY_EPOCH, broker.epoch):
        reason = f"registered with broker epoch {broker.epoch}, not {state.broker_epoch}"
    else:
        return
    raise KafkaError(ErrorCode.INELIGIBLE_REPLICA, f"Replica {state.broker_id} is {reason}.")


def _state(
    partition_index: int, partition: PartitionRegistration
) -> AlterPartitionResponsePartitionData:
    return AlterPartitionResponsePartitionData(
        partition_index=partition_index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=list(partition.isr),
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )


def _unknown_topic(requested: AlterPartitionRequestTopicData) -> AlterPartitionResponseTopicData:
    refusals = [
        _refusal(partition, ErrorCode.UNKNOWN_TOPIC_ID) for partition in requested.partitions
    ]
    return AlterPartitionResponseTopicData(topic_id=requested.topic_id, partitions=refusals)


def _refusal(
    requested: AlterPartitionRequestPartitionData, code: int
) -> AlterPartitionResponsePartitionData:
    return AlterPartitionResponsePartitionData(
        partition_index=requested.partition_index, error_code=code
    )


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
