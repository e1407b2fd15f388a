"""The metadata in a backup: one snapshot file in Kafka's format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from crc32c import crc32c

from ottla.cli.backup.manifest import SavedFile
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.client.administration.admin import Admin
from ottla.client.errors import TopicAuthorizationError, UnknownTopicOrPartitionError
from ottla.configs import ConfigResource, ConfigResourceType
from ottla.controller.snapshot_file import Snapshot, SnapshotId
from ottla.metadata import MetadataImage
from ottla.runtime.disk import Disk
from ottla.storage.files.durable_file import read_file

_POLICY: Final = "cleanup.policy"


def save_metadata(
    disk: Disk, directory: str, snapshot_id: SnapshotId, image: MetadataImage, *, now_ms: int
) -> SavedFile:
    disk.make_directories(directory)
    path = f"{directory}/{snapshot_id.file_name}"
    Snapshot(
        disk=disk,
        path=path,
        id=snapshot_id,
        records=image,
        metadata_version=image.metadata_version,
        voters=None,
        last_contained_log_timestamp=now_ms,
        now_ms=now_ms,
    ).write()
    content = read_file(disk, path)
    assert content is not None
    return SavedFile(snapshot_id.file_name, len(content), crc32c(content))


async def compacted_topics(admin: Admin, topics: Sequence[str]) -> set[str]:
    """A topic without the right to describe its configs counts as compacted."""
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic) for topic in topics]
    with doing("describe the configs of topics"):
        results = await admin.describe_configs(resources, names=[_POLICY])
    found = set()
    for resource, error in results.failed.items():
        if isinstance(error, UnknownTopicOrPartitionError):
            continue
        if not isinstance(error, TopicAuthorizationError):
            raise refused(f"describe the configs of topic {resource.name}", error)
        found.add(resource.name)
    for resource, configs in results.succeeded.items():
        if any("compact" in (config.value or "") for config in configs.values()):
            found.add(resource.name)
    return found
