"""The deleted topics that can be restored, as a client lists them: as the configs of the topic `~`.

No API of Kafka lists them, and one of our own would be out of reach for other clients.
"""

from __future__ import annotations

import json

from ottla.configs import ConfigEntry, ConfigResource, ConfigResourceType, ConfigSource, ConfigType
from ottla.metadata import DeletedTopic, MetadataImage
from ottla.metadata.deleted_topic import SEPARATOR
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Rights


def is_deleted_listing(resource: ConfigResource) -> bool:
    return resource.type is ConfigResourceType.TOPIC and resource.name.endswith(SEPARATOR)


def deleted_entries(image: MetadataImage, listing: str, rights: Rights) -> list[ConfigEntry]:
    """Those whose names begin as the listing's, and that the client may describe. A tenant's client
    has its prefix there, and gets names without it."""
    prefix = listing.removesuffix(SEPARATOR)
    return [
        _entry(topic, prefix)
        for topic in sorted(image.deleted_topics, key=_order)
        if topic.name.startswith(prefix)
        and rights.allows_quietly(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic.name)
    ]


def _order(topic: DeletedTopic) -> tuple[str, int]:
    return topic.name, topic.deleted_ms


def _entry(topic: DeletedTopic, prefix: str) -> ConfigEntry:
    value = {
        "deleted_ms": topic.deleted_ms,
        "until_ms": topic.until_ms,
        "partitions": len(topic.partitions),
    }
    return ConfigEntry(
        topic.resource_name.removeprefix(prefix),
        json.dumps(value),
        ConfigType.STRING,
        ConfigSource.DYNAMIC_TOPIC_CONFIG,
        is_read_only=True,
        is_sensitive=False,
        synonyms=(),
    )
