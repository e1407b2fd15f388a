"""What is true of any delta that leads from one image to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ottla.configs.resource import ConfigResource, ConfigResourceType
from ottla.metadata import MetadataDelta, MetadataImage

K = TypeVar("K")
V = TypeVar("V")

_KINDS = {
    "client_quotas_changed": "client_quotas",
    "access_control_changed": "access_control_entries",
    "scram_credentials_changed": "scram_credentials",
    "delegation_tokens_changed": "delegation_tokens",
    "producer_ids_changed": "next_producer_id",
}


def assert_leads(before: MetadataImage, delta: MetadataDelta, after: MetadataImage) -> None:
    """That a delta contains every change with its previous value, and nothing else.

    It may contain what was changed and changed back.
    """
    _assert_changes(before.brokers, delta.brokers_changed, after.brokers)
    _assert_changes(before.controllers, delta.controllers_changed, after.controllers)
    _assert_changes(before.features, delta.features_changed, after.features)
    _assert_topics(before, delta, after)
    _assert_configs(before, delta, after)
    for changed, name in _KINDS.items():
        assert getattr(delta, changed) or getattr(before, name) == getattr(after, name), name


def _assert_changes(
    before: Mapping[K, V], changed: Mapping[K, V | None], after: Mapping[K, V]
) -> None:
    for key, value in changed.items():
        assert value == before.get(key), f"{key} was something else"
    for key in {**before, **after}:
        assert key in changed or before.get(key) == after.get(key), f"the delta lacks {key}"


def _assert_topics(before: MetadataImage, delta: MetadataDelta, after: MetadataImage) -> None:
    old, new = before.topics.by_id, after.topics.by_id
    assert delta.topics_created == {each: new[each] for each in new.keys() - old.keys()}
    assert delta.topics_removed.keys() == old.keys() - new.keys()
    assert delta.partitions_changed.keys() <= new.keys()
    for topic_id, topic in new.items():
        known = old[topic_id].partitions if topic_id in old else {}
        _assert_changes(known, delta.partitions_changed.get(topic_id, {}), topic.partitions)


def _assert_configs(before: MetadataImage, delta: MetadataDelta, after: MetadataImage) -> None:
    gone = {topic.name for topic in delta.topics_removed.values()}
    for resource in {**before.configs, **after.configs}:
        is_gone = _is_topic(resource) and resource.name in gone
        old, new = {} if is_gone else before.configs_of(resource), after.configs_of(resource)
        changed = {name for name in {**old, **new} if old.get(name) != new.get(name)}
        assert changed <= delta.configs_changed.get(resource, set())


def _is_topic(resource: ConfigResource) -> bool:
    return resource.type is ConfigResourceType.TOPIC
