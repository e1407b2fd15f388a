"""Topics: create, delete, grow, list and describe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ottla.client.administration.authorized import authorized_operations
from ottla.client.administration.requests import (
    AdminRequests,
    Outcomes,
    node_error,
    outcome,
)
from ottla.client.administration.results import Results
from ottla.client.errors import ClientError
from ottla.model import ZERO_UUID, ErrorCode, Uuid
from ottla.security.acls.acl import AclOperation
from ottla.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

_BY_CLUSTER: Final = -1
_NOBODY: Final = -1


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to create. None leaves a number to the cluster's configs. `assignment` has the
    brokers of each partition, the preferred leader first, and excludes the two numbers."""

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    configs: Mapping[str, str | None] = field(default_factory=dict)
    assignment: Mapping[int, Sequence[int]] | None = None


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """What the cluster made, or would make. None is what an old cluster, or one that does not show
    this client the topic's configs, leaves out."""

    name: str
    topic_id: Uuid | None
    partitions: int | None
    replication_factor: int | None
    configs: Mapping[str, str | None] | None


@dataclass(frozen=True, slots=True)
class PartitionCount:
    """How many partitions a topic shall have. `assignment` has the brokers of each new one."""

    partitions: int
    assignment: Sequence[Sequence[int]] | None = None


@dataclass(frozen=True, slots=True)
class TopicPartitionDescription:
    """A partition; `leader` is None if it has none. The last two (KIP-966) are None if the cluster
    does not say."""

    partition: int
    leader: int | None
    leader_epoch: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    offline: tuple[int, ...]
    eligible_leaders: tuple[int, ...] | None = None
    last_known_eligible_leaders: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """`partitions` are in order. `authorized_operations` is None unless requested."""

    name: str
    topic_id: Uuid
    is_internal: bool
    partitions: tuple[TopicPartitionDescription, ...]
    authorized_operations: frozenset[AclOperation] | None = None


class TopicOperations(AdminRequests):
    """The methods of `Admin` for topics."""

    async def create_topics(
        self,
        topics: Iterable[NewTopic],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[str, CreatedTopic]:
        """Creates topics, or only checks whether it could."""
        by_name = {topic.name: topic for topic in topics}
        deadline = self._deadline(timeout)

        async def send(names: Sequence[str]) -> Outcomes[str, CreatedTopic]:
            request = CreateTopicsRequest(
                topics=[creatable(by_name[name]) for name in names],
                timeout_ms=self._remaining_ms(deadline),
                validate_only=validate_only,
            )
            answer = await self._cluster.send_to_controller(request)
            return {
                each.name: outcome(_created(each), each.error_code, each.error_message)
                for each in answer.topics
            }

        return await self._in_requests("create topics", by_name, send, timeout)

    async def create_topic(
        self,
        name: str,
        *,
        partitions: int | None = None,
        replication_factor: int | None = None,
        configs: Mapping[str, str | None] | None = None,
        assignment: Mapping[int, Sequence[int]] | None = None,
        timeout: float | None = None,
    ) -> CreatedTopic:
        """Creates one topic. Raises TopicAlreadyExistsError and others."""
        new = NewTopic(name, partitions, replication_factor, configs or {}, assignment)
        return (await self.create_topics([new], timeout=timeout))[name]

    async def delete_topics(
        self, topics: Iterable[str | Uuid], *, timeout: float | None = None
    ) -> Results[str | Uuid, None]:
        """Deletes topics with all their records, by name or by id."""
        deadline = self._deadline(timeout)

        async def send(keys: Sequence[str | Uuid]) -> Outcomes[str | Uuid, None]:
            request = DeleteTopicsRequest(
                topics=[
                    DeleteTopicState(name=key)
                    if isinstance(key, str)
                    else DeleteTopicState(topic_id=key)
                    for key in keys
                ],
                topic_names=[key for key in keys if isinstance(key, str)],
                timeout_ms=self._remaining_ms(deadline),
            )
            answer = await self._cluster.send_to_controller(request)
            wanted = set(keys)
            return {
                each.name if each.name in wanted else each.topic_id: outcome(
                    None, each.error_code, each.error_message
                )
                for each in answer.responses
            }

        return await self._in_requests("delete topics", topics, send, timeout)

    async def delete_topic(self, topic: str | Uuid, *, timeout: float | None = None) -> None:
        """Deletes one topic. Raises UnknownTopicOrPartitionError and others."""
        (await self.delete_topics([topic], timeout=timeout)).all()

    async def create_partitions(
        self,
        counts: Mapping[str, int | PartitionCount],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Adds partitions, until each topic has this number of them."""
        deadline = self._deadline(timeout)

        async def send(names: Sequence[str]) -> Outcomes[str, None]:
            request = CreatePartitionsRequest(
                topics=[_grown(name, counts[name]) for name in names],
                timeout_ms=self._remaining_ms(deadline),
                validate_only=validate_only,
            )
            answer = await self._cluster.send_to_controller(request)
            return {
                each.name: outcome(None, each.error_code, each.error_message)
                for each in answer.results
            }

        return await self._in_requests("create partitions", counts, send, timeout)

    async def list_topics(
        self, *, include_internal: bool = True, timeout: float | None = None
    ) -> dict[str, TopicDescription]:
        """All topics that this client may describe, in order of their names."""
        request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
        answer = await self._ask_any("list the topics", request, timeout)
        found = (_described(topic) for topic in answer.topics if not topic.error_code)
        return {
            topic.name: topic
            for topic in sorted(found, key=lambda each: each.name)
            if include_internal or not topic.is_internal
        }

    async def describe_topics(
        self,
        topics: Iterable[str | Uuid],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str | Uuid, TopicDescription]:
        """Describes topics, by name or by id."""

        async def describe(
            wanted: Sequence[MetadataRequestTopic],
        ) -> Outcomes[str | Uuid, TopicDescription]:
            request = MetadataRequest(
                topics=list(wanted),
                allow_auto_topic_creation=False,
                include_topic_authorized_operations=include_authorized_operations,
            )
            answer = await self._cluster.send_to_any(request)
            by_id = wanted[0].name is None
            return {
                each.topic_id if by_id else each.name: _described_or_error(each)
                for each in answer.topics
            }

        async def send(keys: Sequence[str | Uuid]) -> Outcomes[str | Uuid, TopicDescription]:
            """A request with an id ignores names."""
            by_name = [MetadataRequestTopic(name=key) for key in keys if isinstance(key, str)]
            by_id = [
                MetadataRequestTopic(name=None, topic_id=key)
                for key in keys
                if not isinstance(key, str)
            ]
            found: dict[str | Uuid, TopicDescription | ClientError] = {}
            for wanted in filter(None, (by_name, by_id)):
                found.update(await describe(wanted))
            return found

        return await self._in_requests("describe topics", topics, send, timeout)

    async def describe_topic(
        self, topic: str | Uuid, *, timeout: float | None = None
    ) -> TopicDescription:
        """Describes one topic. Raises UnknownTopicOrPartitionError and others."""
        return (await self.describe_topics([topic], timeout=timeout))[topic]

    async def describe_eligible_leaders(
        self, topics: Iterable[str], *, timeout: float | None = None
    ) -> Results[str, TopicDescription]:
        """Like `describe_topics`, with the eligible leader replicas of each partition (KIP-966).
        Needs Kafka 4.0 or newer."""

        async def send(names: Sequence[str]) -> Outcomes[str, TopicDescription]:
            found: dict[str, TopicDescription | ClientError] = {}
            cursor: Cursor | None = None
            while True:
                request = DescribeTopicPartitionsRequest(
                    topics=[TopicRequest(name=name) for name in sorted(names)], cursor=cursor
                )
                answer = await self._cluster.send_to_any(request)
                for each in answer.topics:
                    found[each.name] = _joined(found.get(each.name), _described_or_error(each))
                cursor = answer.next_cursor
                if cursor is None:
                    return found

        return await self._in_requests("describe topics", topics, send, timeout)


def creatable(topic: NewTopic) -> CreatableTopic:
    has_places = topic.assignment is not None
    return CreatableTopic(
        name=topic.name,
        num_partitions=_BY_CLUSTER if has_places else topic.partitions or _BY_CLUSTER,
        replication_factor=_BY_CLUSTER if has_places else topic.replication_factor or _BY_CLUSTER,
        assignments=[
            CreatableReplicaAssignment(partition_index=partition, broker_ids=list(brokers))
            for partition, brokers in sorted((topic.assignment or {}).items())
        ],
        configs=[
            CreatableTopicConfig(name=name, value=value) for name, value in topic.configs.items()
        ],
    )


def _created(result: CreatableTopicResult) -> CreatedTopic:
    is_hidden = result.topic_config_error_code != 0 or result.num_partitions < 0
    return CreatedTopic(
        result.name,
        None if result.topic_id == ZERO_UUID else result.topic_id,
        None if is_hidden else result.num_partitions,
        None if is_hidden else result.replication_factor,
        None if is_hidden else {each.name: each.value for each in result.configs or ()},
    )


def _grown(name: str, wanted: int | PartitionCount) -> CreatePartitionsTopic:
    count = PartitionCount(wanted) if isinstance(wanted, int) else wanted
    return CreatePartitionsTopic(
        name=name,
        count=count.partitions,
        assignments=None
        if count.assignment is None
        else [CreatePartitionsAssignment(broker_ids=list(ids)) for ids in count.assignment],
    )


def _described_or_error(topic: Any) -> TopicDescription | ClientError:
    """Of the answers of Metadata and of DescribeTopicPartitions."""
    if topic.error_code:
        is_unknown = topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return node_error(topic.error_code, "there is no such topic" if is_unknown else None)
    return _described(topic)


def _described(topic: Any) -> TopicDescription:
    return TopicDescription(
        topic.name,
        topic.topic_id,
        topic.is_internal,
        tuple(sorted(map(_partition, topic.partitions), key=lambda each: each.partition)),
        authorized_operations(topic.topic_authorized_operations),
    )


def _partition(partition: Any) -> TopicPartitionDescription:
    eligible = getattr(partition, "eligible_leader_replicas", None)
    last_known = getattr(partition, "last_known_elr", None)
    return TopicPartitionDescription(
        partition.partition_index,
        None if partition.leader_id == _NOBODY else partition.leader_id,
        partition.leader_epoch,
        tuple(partition.replica_nodes),
        tuple(partition.isr_nodes),
        tuple(partition.offline_replicas),
        None if eligible is None else tuple(eligible),
        None if last_known is None else tuple(last_known),
    )


def _joined(
    before: TopicDescription | ClientError | None, page: TopicDescription | ClientError
) -> TopicDescription | ClientError:
    """A topic may be on several pages of an answer."""
    if isinstance(before, TopicDescription) and isinstance(page, TopicDescription):
        return replace(before, partitions=before.partitions + page.partitions)
    return page
