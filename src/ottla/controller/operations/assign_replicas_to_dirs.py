"""AssignReplicasToDirs, version 0: a broker reports the log directories of its replicas (KIP-858).

For the whole request: UNSUPPORTED_VERSION if the metadata.version has no log directories,
STALE_BROKER_EPOCH. Per partition: UNKNOWN_TOPIC_ID, UNKNOWN_TOPIC_OR_PARTITION,
NOT_LEADER_OR_FOLLOWER if the broker is not a replica of it.
"""

from __future__ import annotations

from typing import Final

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.broker_epochs import current_broker
from ottla.controller.operations.leadership import PartitionChanges
from ottla.metadata import BrokerRegistration, MetadataImage, PartitionRegistration
from ottla.model import ErrorCode, KafkaError, Uuid
from ottla.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsRequestDirectoryData,
    AssignReplicasToDirsRequestTopicData,
    AssignReplicasToDirsResponse,
    AssignReplicasToDirsResponseDirectoryData,
    AssignReplicasToDirsResponsePartitionData,
    AssignReplicasToDirsResponseTopicData,
)
from ottla.wire.schema import Message

# 3.7-IV2, the first metadata.version whose records have directories.
_LOG_DIRECTORIES: Final = 17


def assign_replicas_to_dirs(
    image: MetadataImage, request: AssignReplicasToDirsRequest, context: Context
) -> OperationOutcome[AssignReplicasToDirsResponse]:
    if image.metadata_version < _LOG_DIRECTORIES:
        return _refused(ErrorCode.UNSUPPORTED_VERSION)
    try:
        broker = current_broker(image, request.broker_id, request.broker_epoch)
    except KafkaError as error:
        return _refused(error.code)
    assigning = _Assigning(image, broker, context)
    directories = [
        AssignReplicasToDirsResponseDirectoryData(
            id=directory.id,
            topics=[assigning.assign(directory, topic) for topic in directory.topics],
        )
        for directory in request.directories
    ]
    return OperationOutcome(
        assigning.records, AssignReplicasToDirsResponse(directories=directories)
    )


class _Assigning:
    """Processes one request and collects its records."""

    def __init__(self, image: MetadataImage, broker: BrokerRegistration, context: Context) -> None:
        self.records: list[Message] = []
        self._image = image
        self._broker = broker
        self._changes = PartitionChanges(image, context)

    def assign(
        self,
        directory: AssignReplicasToDirsRequestDirectoryData,
        requested: AssignReplicasToDirsRequestTopicData,
    ) -> AssignReplicasToDirsResponseTopicData:
        results = [
            AssignReplicasToDirsResponsePartitionData(
                partition_index=partition.partition_index,
                error_code=self._assign(
                    directory.id, requested.topic_id, partition.partition_index
                ),
            )
            for partition in requested.partitions
        ]
        return AssignReplicasToDirsResponseTopicData(
            topic_id=requested.topic_id, partitions=results
        )

    def _assign(self, directory: Uuid, topic_id: Uuid, partition_id: int) -> ErrorCode:
        topic = self._image.topics.by_id.get(topic_id)
        if topic is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        partition = topic.partitions.get(partition_id)
        if partition is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if self._broker.id not in partition.replicas:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        target = self._assigned(partition, directory)
        record = self._changes.retarget(topic, partition_id, target)
        if record is not None:
            self.records.append(record)
        return ErrorCode.NONE

    def _assigned(self, partition: PartitionRegistration, directory: Uuid) -> PartitionRegistration:
        """A replica in a directory that is not online leaves the ISR."""
        broker = self._broker
        directories = tuple(
            directory if replica == broker.id else each
            for replica, each in zip(partition.replicas, partition.directories, strict=True)
        )
        isr = partition.isr
        if directory not in broker.log_dirs:
            isr = tuple(each for each in isr if each != broker.id)
        return partition._replace(directories=directories, isr=isr)


def _refused(code: int) -> OperationOutcome[AssignReplicasToDirsResponse]:
    return OperationOutcome([], AssignReplicasToDirsResponse(error_code=code))
