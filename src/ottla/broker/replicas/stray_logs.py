"""Stray logs: logs on disk that belong to no partition of this node.

A log belongs to a partition if the topic ids match. A topic that was deleted, or deleted and
recreated, while the node was down leaves strays. As in Kafka they are renamed, not removed, so that
an operator can inspect them; `stray_expiry.py` removes them later. A log of a deleted topic that
can be restored is no stray, nor is one of a topic that was restored under another name. Only an
empty log without a topic id is removed at once: it is left by a crash during its creation.
"""

from __future__ import annotations

from ottla.broker.replicas.removed_logs import kept_logs
from ottla.metadata import MetadataImage
from ottla.model import TopicPartition, Uuid
from ottla.runtime.dice import Dice
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_store import LogStore
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.file_names import DirectoryState


def set_strays_aside(
    directory: LogDirectory, image: MetadataImage, *, node_id: int, dice: Dice
) -> None:
    strays: dict[TopicPartition, Uuid] = {}
    restorable: dict[TopicPartition, Uuid | None] = {}
    unfinished: dict[TopicPartition, Uuid] = {}
    for partition in (*directory.logs, *directory.offline):
        topic_id = _topic_id(directory, partition)
        if topic_id is None and _is_empty(directory, partition):
            unfinished[partition] = dice.uuid()
        elif _has_replica(image, partition, topic_id, node_id=node_id):
            continue
        elif topic_id is not None and _may_return(image, topic_id, partition.partition, node_id):
            restorable[partition] = topic_id
        else:
            strays[partition] = dice.uuid()
    if unfinished:
        for path in directory.set_aside(unfinished, DirectoryState.DELETE):
            directory.purge(path)
    if restorable:
        kept = kept_logs(directory, image, restorable)
        directory.let_go(restorable)
        directory.deleted.add(directory.deleted.keep(kept))
    if strays:
        directory.set_aside(strays, DirectoryState.STRAY)


def set_copies_aside(
    logs: LogStore, directory: LogDirectory, image: MetadataImage, node_id: int, dice: Dice
) -> None:
    """A crash during a move can leave a partition's log in two directories. The log in the
    directory that the metadata names is kept; the other one becomes a stray."""
    others = [each for each in logs.directories if each is not directory]
    copies: dict[TopicPartition, Uuid] = {}
    for partition in directory.logs:
        elsewhere = [each for each in others if partition in each.logs]
        if elsewhere and _assigned(image, partition, node_id) != directory.id:
            copies[partition] = dice.uuid()
    if copies:
        directory.set_aside(copies, DirectoryState.STRAY)


def _assigned(image: MetadataImage, partition: TopicPartition, node_id: int) -> Uuid | None:
    topic = image.topics.by_name.get(partition.topic)
    registration = None if topic is None else topic.partitions.get(partition.partition)
    if registration is None or node_id not in registration.replicas:
        return None
    return registration.directory_of(node_id)


def _topic_id(directory: LogDirectory, partition: TopicPartition) -> Uuid | None:
    try:
        return directory.topic_id(partition)
    except CorruptCheckpointError:
        return None


def _is_empty(directory: LogDirectory, partition: TopicPartition) -> bool:
    log = directory.logs.get(partition)
    return log is not None and log.log_end_offset == 0


def _may_return(image: MetadataImage, topic_id: Uuid, index: int, node_id: int) -> bool:
    """Whether the topic has a replica here, deleted or under another name."""
    topic = image.topics.by_id.get(topic_id) or image.deleted_topics.by_id.get(topic_id)
    registration = None if topic is None else topic.partitions.get(index)
    return registration is not None and node_id in registration.replicas


def _has_replica(
    image: MetadataImage, partition: TopicPartition, topic_id: Uuid | None, *, node_id: int
) -> bool:
    topic = image.topics.by_name.get(partition.topic)
    if topic is None or topic.id != topic_id:
        return False
    registration = topic.partitions.get(partition.partition)
    return registration is not None and node_id in registration.replicas
