"""The metadata in a backup: one snapshot file in Kafka's format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from crc32c import crc32c

from ottla.cli.backup.manifest import SavedFile
from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.configs import ConfigResourceType
from ottla.controller.snapshot_file import Snapshot, SnapshotId
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode
from ottla.runtime.disk import Disk
from ottla.storage.files.durable_file import read_file
from ottla.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource

_POLICY: Final = "cleanup.policy"
_TOPICS_PER_REQUEST: Final = 1_000


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


async def compacted_topics(admin: ClusterAdmin, topics: Sequence[str]) -> set[str]:
    """A topic without the right to describe its configs counts as compacted."""
    found = set()
    for first in range(0, len(topics), _TOPICS_PER_REQUEST):
        some = topics[first : first + _TOPICS_PER_REQUEST]
        response = await admin.send_request(
            DescribeConfigsRequest(
                resources=[
                    DescribeConfigsResource(
                        resource_type=ConfigResourceType.TOPIC,
                        resource_name=topic,
                        configuration_keys=[_POLICY],
                    )
                    for topic in some
                ]
            )
        )
        for result in response.results:
            if result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                continue
            if result.error_code not in (
                ErrorCode.NONE,
                ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            ):
                raise refusal(
                    f"describe the configs of topic {result.resource_name}",
                    result.error_code,
                    result.error_message,
                )
            policies = [config.value or "" for config in result.configs]
            if result.error_code or any("compact" in policy for policy in policies):
                found.add(result.resource_name)
    return found
