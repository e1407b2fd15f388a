"""Deleted topics, which Ottla keeps for `ottla.delete.retention.ms`: list, restore and purge."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ottla.client.administration.configs import ConfigOperations
from ottla.client.administration.results import Results
from ottla.client.administration.topics import CreatedTopic, NewTopic, TopicOperations
from ottla.configs import ConfigResource, ConfigResourceType
from ottla.model import Uuid, uuid_from_text, uuid_to_text

# A deleted topic is named `orders~<topic id>`; the name `~` lists all of them.
_SEPARATOR: Final = "~"
_LISTING: Final = ConfigResource(ConfigResourceType.TOPIC, _SEPARATOR)
_UNDELETE: Final = "ottla.undelete"


@dataclass(frozen=True, slots=True)
class DeletedTopicDescription:
    """A deleted topic that can be restored until a time, in milliseconds since 1970."""

    name: str
    topic_id: Uuid
    partitions: int
    deleted_ms: int
    until_ms: int

    @property
    def resource_name(self) -> str:
        """Its name in requests to purge it, and in the descriptions of log directories."""
        return f"{self.name}{_SEPARATOR}{uuid_to_text(self.topic_id)}"


class DeletedTopicOperations(TopicOperations, ConfigOperations):
    """The methods of `Admin` for deleted topics. Only clusters of Ottla keep them."""

    async def list_deleted_topics(
        self, *, timeout: float | None = None
    ) -> list[DeletedTopicDescription]:
        """Those that can be restored and that this client may describe, in order of their names
        and of their deletion."""
        described = await self.describe_configs([_LISTING], timeout=timeout)
        return [_parsed(name, config.value or "{}") for name, config in described[_LISTING].items()]

    async def undelete_topic(
        self,
        deleted: DeletedTopicDescription,
        *,
        name: str | None = None,
        timeout: float | None = None,
    ) -> CreatedTopic:
        """Restores a deleted topic, with its records, id and configs, under its own name or another
        one. Raises TopicAlreadyExistsError, UnknownTopicIdError and others."""
        new_name = name or deleted.name
        new = NewTopic(new_name, configs={_UNDELETE: uuid_to_text(deleted.topic_id)})
        return (await self.create_topics([new], timeout=timeout))[new_name]

    async def purge_deleted_topics(
        self, deleted: Iterable[DeletedTopicDescription], *, timeout: float | None = None
    ) -> Results[str | Uuid, None]:
        """Removes deleted topics with all their records, before their time. The results have the
        `resource_name` of each."""
        return await self.delete_topics([each.resource_name for each in deleted], timeout=timeout)


def _parsed(resource_name: str, value: str) -> DeletedTopicDescription:
    name, _, topic_id = resource_name.rpartition(_SEPARATOR)
    fields = json.loads(value)
    return DeletedTopicDescription(
        name,
        uuid_from_text(topic_id),
        partitions=fields.get("partitions", 0),
        deleted_ms=fields.get("deleted_ms", 0),
        until_ms=fields.get("until_ms", 0),
    )
