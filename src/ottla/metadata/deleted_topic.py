"""Deleted topics that can still be restored, as dynamic configs in the metadata.

When a topic is deleted, the controller writes Kafka's RemoveTopicRecord, and before it
ConfigRecords of a topic named `orders~<topic id>`, which no topic can have as its name: the configs
of the topic, and what is needed to restore it.

    ottla.deleted.at.ms            when it was deleted
    ottla.deleted.until.ms         when it expires
    ottla.deleted.owner            the user that created it, if that is known
    ottla.deleted.partition.<n>    the partition's registration, as JSON

Restoring, purging and expiry remove these configs. Apache Kafka's controllers and tools read and
keep them like any config; snapshots contain them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from ottla.metadata.partition import PartitionRegistration
from ottla.model import Uuid, uuid_from_text, uuid_to_text

SEPARATOR: Final = "~"
DELETED_CONFIG: Final = "ottla.deleted."
DELETED_AT: Final = "ottla.deleted.at.ms"
DELETED_UNTIL: Final = "ottla.deleted.until.ms"
DELETED_OWNER: Final = "ottla.deleted.owner"
DELETED_PARTITION: Final = "ottla.deleted.partition."


@dataclass(slots=True)
class DeletedTopic:
    """Changed in place as records are applied."""

    id: Uuid
    # The name that it had.
    name: str
    deleted_ms: int = 0
    # When it expires.
    until_ms: int = 0
    partitions: dict[int, PartitionRegistration] = field(default_factory=dict)
    owner: str = ""

    @property
    def resource_name(self) -> str:
        return f"{self.name}{SEPARATOR}{uuid_to_text(self.id)}"

    def copy(self) -> DeletedTopic:
        return DeletedTopic(
            self.id, self.name, self.deleted_ms, self.until_ms, self.partitions.copy(), self.owner
        )

    def take(self, config: str, value: str | None) -> None:
        """Applies one of its configs. Those that cannot be read are ignored: only another version
        of the controller could have written them."""
        if config.startswith(DELETED_PARTITION):
            index = config.removeprefix(DELETED_PARTITION)
            if index.isascii() and index.isdecimal():
                self._take_partition(int(index), value)
        elif config == DELETED_AT:
            self.deleted_ms = _number(value)
        elif config == DELETED_UNTIL:
            self.until_ms = _number(value)
        elif config == DELETED_OWNER:
            self.owner = value or ""

    def _take_partition(self, index: int, value: str | None) -> None:
        registration = None if value is None else decode_partition(value)
        if registration is None:
            self.partitions.pop(index, None)
        else:
            self.partitions[index] = registration


@dataclass(slots=True)
class DeletedTopics:
    """All deleted topics that can be restored. Owned by an image."""

    by_id: dict[Uuid, DeletedTopic] = field(default_factory=dict)

    def __iter__(self) -> Iterator[DeletedTopic]:
        return iter(self.by_id.values())

    def __len__(self) -> int:
        return len(self.by_id)

    def has_name(self, name: str) -> bool:
        return any(topic.name == name for topic in self)

    def copy(self) -> DeletedTopics:
        return DeletedTopics({topic.id: topic.copy() for topic in self})


def parse_deleted_name(resource_name: str) -> tuple[str, Uuid] | None:
    """The name and the id of a deleted topic; None for any other name."""
    name, separator, text = resource_name.rpartition(SEPARATOR)
    if not separator:
        return None
    try:
        return name, uuid_from_text(text)
    except ValueError:
        return None


def own_configs(configs: Mapping[str, str]) -> dict[str, str]:
    """The configs that the topic had, of all those stored for a deleted topic."""
    return {name: value for name, value in configs.items() if not name.startswith(DELETED_CONFIG)}


def encode_partition(partition: PartitionRegistration) -> str:
    rest = _encode_rest(partition[:3], partition[5:])
    epochs = f'"leader_epoch":{partition.leader_epoch},'
    return f'{{{epochs}"partition_epoch":{partition.partition_epoch},{rest}}}'


@lru_cache(maxsize=1_000)
def _encode_rest(placement: tuple[Any, ...], others: tuple[Any, ...]) -> str:
    """All but the epochs, in which most partitions of a topic differ."""
    partition = PartitionRegistration._make((*placement, 0, 0, *others))
    fields = partition._asdict()
    del fields["leader_epoch"], fields["partition_epoch"]
    fields["directories"] = [uuid_to_text(each) for each in partition.directories]
    defaults = PartitionRegistration._field_defaults
    return json.dumps(
        {name: value for name, value in fields.items() if value != defaults.get(name)}
    )[1:-1]


def decode_partition(text: str) -> PartitionRegistration | None:
    """None if the text cannot be read."""
    try:
        fields = json.loads(text)
        for name, value in fields.items():
            if isinstance(value, list):
                fields[name] = tuple(value)
        fields["directories"] = tuple(map(uuid_from_text, fields["directories"]))
        return PartitionRegistration(**fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _number(value: str | None) -> int:
    is_number = value is not None and value.isascii() and value.isdecimal()
    return int(value) if is_number and value is not None else 0
