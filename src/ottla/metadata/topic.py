"""Topics, by id and by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ottla.metadata.partition import PartitionRegistration, SharedTuples
from ottla.model import Uuid


@dataclass(slots=True)
class TopicImage:
    """A topic with its partitions. Changed in place as records are applied."""

    id: Uuid
    name: str
    partitions: dict[int, PartitionRegistration] = field(default_factory=dict)
    # The user that created it; empty if a node did, or if it is not known.
    owner: str = ""

    def copy(self) -> TopicImage:
        return TopicImage(self.id, self.name, self.partitions.copy(), self.owner)


@dataclass(slots=True)
class Topics:
    """All topics. Owned by an image."""

    by_id: dict[Uuid, TopicImage] = field(default_factory=dict)
    by_name: dict[str, TopicImage] = field(default_factory=dict)
    # Names that are equal in metrics, which replace dots by underscores.
    _alike: dict[str, list[str]] = field(default_factory=dict)
    shared_tuples: SharedTuples = field(default_factory=dict, compare=False, repr=False)

    def __iter__(self) -> Iterator[TopicImage]:
        return iter(self.by_id.values())

    def __len__(self) -> int:
        return len(self.by_id)

    def add(self, topic: TopicImage) -> None:
        assert topic.id not in self.by_id
        assert topic.name not in self.by_name
        self.by_id[topic.id] = self.by_name[topic.name] = topic
        if _can_collide(topic.name):
            self._alike.setdefault(_unified(topic.name), []).append(topic.name)

    def remove(self, topic: TopicImage) -> None:
        del self.by_id[topic.id], self.by_name[topic.name]
        if _can_collide(topic.name):
            alike = self._alike[_unified(topic.name)]
            alike.remove(topic.name)
            if not alike:
                del self._alike[_unified(topic.name)]

    def collision_with(self, name: str) -> str | None:
        """An existing topic whose name is equal to this one if dots and underscores are
        equivalent."""
        return next(iter(self._alike.get(_unified(name), ())), None) if _can_collide(name) else None

    def copy(self) -> Topics:
        copies = [topic.copy() for topic in self]
        return Topics(
            {topic.id: topic for topic in copies},
            {topic.name: topic for topic in copies},
            {unified: names.copy() for unified, names in self._alike.items()},
            self.shared_tuples,
        )


def _can_collide(name: str) -> bool:
    return "." in name or "_" in name


def _unified(name: str) -> str:
    return name.replace(".", "_")
