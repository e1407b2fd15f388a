"""Purges deleted topics before their time, if their logs need space that other topics need more.

That is when less than `ottla.delete.retention.min.free.percent` of a log directory's disk is free,
when a write has failed because the disk is full, or when the deleted topics in the directory have
more than `ottla.delete.retention.bytes`. The controller purges them from the whole cluster, one at
a time, the one that was deleted first before the others: a replica that is gone must not be elected
after the topic is restored.
"""

from __future__ import annotations

import logging
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.channels import versions
from ottla.metadata import DeletedTopic
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.background import Background
from ottla.security.acls.rights import UNRESTRICTED
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_store import LogStore
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

_log = logging.getLogger(__name__)

_PERCENT: Final = 100


class DeletedSpace:
    """A periodic task of a broker."""

    def __init__(
        self,
        cluster: ClusterView,
        logs: LogStore,
        failures: StorageFailures,
        changes: MetadataChanges,
        background: Background,
    ) -> None:
        self._cluster = cluster
        self._logs = logs
        self._failures = failures
        self._changes = changes
        self._background = background

    async def free(self) -> None:
        for directory in self._logs.directories:
            while len(directory.deleted):
                reason = await self._reason(directory)
                oldest = self._oldest(directory)
                if reason is None or oldest is None:
                    break
                if not await self._purge(oldest, f"{directory.path}: {reason}"):
                    return
        self._failures.full_paths.clear()

    async def _reason(self, directory: LogDirectory) -> str | None:
        config = self._cluster.config
        if 0 <= config.deleted_bytes_max < directory.deleted.size:
            return "deleted topics have more bytes than ottla.delete.retention.bytes"
        if any(each.deleted.purges for each in self._logs.directories):
            # Directories may share a disk. What the last purge frees may be enough.
            return None
        if directory.path in self._failures.full_paths:
            self._failures.full_paths.discard(directory.path)
            return "the disk is full"
        if not config.deleted_free_percent_min:
            return None
        try:
            free, total = await self._background.run(_space, directory)
        except OSError as error:
            self._failures.directory_failed(directory.path, error)
            return None
        if free * _PERCENT >= total * config.deleted_free_percent_min:
            return None
        return "less of the disk is free than ottla.delete.retention.min.free.percent"

    def _oldest(self, directory: LogDirectory) -> DeletedTopic | None:
        by_id = self._cluster.image.deleted_topics.by_id
        here = {each.replica.topic_id for each in directory.deleted}
        topics = [by_id[topic_id] for topic_id in here if topic_id in by_id]
        return min(topics, key=lambda topic: (topic.deleted_ms, topic.id), default=None)

    async def _purge(self, topic: DeletedTopic, reason: str) -> bool:
        """Returns when this node has taken the logs from its directories."""
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=topic.resource_name)])
        try:
            response = await self._changes.request(
                request, versions.DELETE_TOPICS, UNRESTRICTED, is_repeatable=True
            )
            (result,) = response.responses
            if result.error_code not in (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION):
                raise KafkaError(ErrorCode(result.error_code), result.error_message)
        except KafkaError as error:
            _log.warning("cannot purge deleted topic %s, trying again: %s", topic.name, error)
            return False
        _log.warning(
            "purged deleted topic %s (%s) before its time: %s",
            topic.name,
            topic.resource_name,
            reason,
        )
        return True


def _space(directory: LogDirectory) -> tuple[int, int]:
    return directory.usable_bytes, directory.total_bytes
