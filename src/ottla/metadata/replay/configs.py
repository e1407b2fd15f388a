"""Records of configs and client quotas."""

from __future__ import annotations

from ottla.configs.resource import ConfigResource, ConfigResourceType
from ottla.metadata.deleted_topic import SEPARATOR, DeletedTopic, parse_deleted_name
from ottla.metadata.delta import MetadataDelta
from ottla.metadata.image import MetadataImage
from ottla.metadata.replay.registry import applies
from ottla.wire.stored.cluster_metadata.configs import ClientQuotaRecord, ConfigRecord


@applies(ConfigRecord)
def apply_config(image: MetadataImage, record: ConfigRecord, delta: MetadataDelta) -> None:
    resource = ConfigResource(ConfigResourceType(record.resource_type), record.resource_name)
    configs = image.configs.setdefault(resource, {})
    if record.value is None:
        configs.pop(record.name, None)
    else:
        configs[record.name] = record.value
    if not configs:
        del image.configs[resource]
    delta.configs_changed.setdefault(resource, set()).add(record.name)
    if resource.type is ConfigResourceType.TOPIC and SEPARATOR in resource.name:
        _apply_deleted_topic(image, resource, record, delta)


def _apply_deleted_topic(
    image: MetadataImage, resource: ConfigResource, record: ConfigRecord, delta: MetadataDelta
) -> None:
    """A deleted topic can be restored as long as it has configs."""
    parsed = parse_deleted_name(resource.name)
    if parsed is None:
        return
    name, topic_id = parsed
    delta.deleted_topics_changed[topic_id] = name
    by_id = image.deleted_topics.by_id
    if resource not in image.configs:
        by_id.pop(topic_id, None)
        return
    topic = by_id.get(topic_id)
    if topic is None:
        topic = by_id[topic_id] = DeletedTopic(topic_id, name)
    topic.take(record.name, record.value)


@applies(ClientQuotaRecord)
def apply_client_quota(
    image: MetadataImage, record: ClientQuotaRecord, delta: MetadataDelta
) -> None:
    parts = [(part.entity_type, part.entity_name) for part in record.entity]
    entity = tuple(sorted(parts, key=lambda part: part[0]))
    quotas = image.client_quotas.setdefault(entity, {})
    if record.remove:
        quotas.pop(record.key, None)
    else:
        quotas[record.key] = record.value
    if not quotas:
        del image.client_quotas[entity]
    delta.client_quotas_changed = True
