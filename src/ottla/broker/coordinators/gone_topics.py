"""The topics whose state coordinators delete.

While a deleted topic can be restored, groups keep what they have of it: offsets, by its name, and
the state of share partitions, by its id. A new topic of the same name must not inherit the offsets.
"""

from __future__ import annotations

from ottla.metadata import MetadataDelta, MetadataImage
from ottla.model import Uuid


def gone_topics(image: MetadataImage, delta: MetadataDelta) -> set[Uuid]:
    """The ids of the topics that can no longer be restored."""
    if not (delta.topics_removed or delta.deleted_topics_changed):
        return set()
    return {
        topic_id
        for topic_id in (*delta.topics_removed, *delta.deleted_topics_changed)
        if topic_id not in image.topics.by_id and topic_id not in image.deleted_topics.by_id
    }


def names_without_offsets(image: MetadataImage, delta: MetadataDelta) -> list[str]:
    """The names of topics whose committed offsets are deleted."""
    removed, deleted = delta.topics_removed, delta.deleted_topics_changed
    names = set()
    for topic_id in gone_topics(image, delta):
        if topic_id in removed:
            names.add(removed[topic_id].name)
        elif deleted[topic_id] not in image.topics.by_name and not image.deleted_topics.has_name(
            deleted[topic_id]
        ):
            # Otherwise the offsets are those of another topic of this name.
            names.add(deleted[topic_id])
    for topic_id, topic in delta.topics_created.items():
        if topic_id not in deleted and image.deleted_topics.has_name(topic.name):
            names.add(topic.name)
    for topic_id, topic in removed.items():
        now = image.topics.by_id.get(topic_id)
        if now is not None and now.name != topic.name:
            # Restored under another name.
            names.add(topic.name)
    return sorted(names)
