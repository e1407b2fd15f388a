"""Metadata, versions 0 to 13: brokers, topics, and the leaders of their partitions.

Version 0 requests all topics with an empty list, later versions with a null list. From version 12
on topics can be requested by id; if any is, names are ignored. Missing topics are created if the
request and the broker both allow it, and the response waits for them.

Version 0 omits unreachable replicas and returns REPLICA_NOT_AVAILABLE. Up to version 5 a leader
without the client's listener gives LEADER_NOT_AVAILABLE. Errors per topic:
TOPIC_AUTHORIZATION_FAILED (also instead of the creation; a request for all topics gets only those
that the client may describe), UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID,
INVALID_TOPIC_EXCEPTION, INVALID_REQUEST, and those of a failed creation. Per partition:
LEADER_NOT_AVAILABLE, LISTENER_NOT_FOUND, REPLICA_NOT_AVAILABLE. Recently fenced brokers are still
listed (control/departures.py).
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable

from ottla.broker.administration.authorized_operations import (
    NOT_REQUESTED,
    TOPIC_OPERATIONS,
    cluster_operations,
)
from ottla.broker.administration.topic_creation import auto_create_topics
from ottla.broker.administration.topic_names import is_valid_topic_name, unknown_topic_error
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.departures import Departures
from ottla.broker.control.suspects import Suspects
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.listener_view import ListenerView
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.metadata import NO_LEADER, PartitionRegistration, TopicImage
from ottla.model import ZERO_UUID, ErrorCode
from ottla.model.internal_topics import is_internal_topic
from ottla.runtime.dice import Dice
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

_NULL_IS_ALL_VERSION = 1
_LISTENER_ERROR_VERSION = 6
_TOPIC_ID_VERSION = 12


@handles(
    ApiKey.METADATA,
    rights=(
        Right(AclOperation.DESCRIBE, ResourceType.TOPIC),
        Right(AclOperation.CREATE, ResourceType.TOPIC),
        Right(AclOperation.CREATE, ResourceType.CLUSTER),
        Right(AclOperation.DESCRIBE, ResourceType.CLUSTER),
    ),
)
def metadata(
    context: RequestContext,
    request: MetadataRequest,
    *,
    cluster: ClusterView,
    changes: MetadataChanges,
    departures: Departures,
    dice: Dice,
    suspects: Suspects,
) -> MetadataResponse | Awaitable[MetadataResponse]:
    description = _Description(cluster, suspects, departures, dice, context, request)
    if description.is_malformed:
        return MetadataResponse(topics=description.refusals())
    if request.allow_auto_topic_creation and cluster.config.auto_create_topics_enable:
        missing = description.missing_topics()
        if missing:
            return _create_and_describe(
                cluster, changes, departures, dice, suspects, context, request, missing
            )
    return description.response({})


async def _create_and_describe(
    cluster: ClusterView,
    changes: MetadataChanges,
    departures: Departures,
    dice: Dice,
    suspects: Suspects,
    context: RequestContext,
    request: MetadataRequest,
    missing: list[str],
) -> MetadataResponse:
    rights = context.rights
    names = missing
    if not rights.allows_quietly(AclOperation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME):
        allowed = rights.allowed(AclOperation.CREATE, ResourceType.TOPIC, missing)
        names = [name for name in missing if name in allowed]
    errors = dict.fromkeys(missing, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    for name in names:
        del errors[name]
    if names:
        errors |= await auto_create_topics(changes, names, rights, context.client_id)
    return _Description(cluster, suspects, departures, dice, context, request).response(errors)


class _Description:
    """Builds one response."""

    def __init__(
        self,
        cluster: ClusterView,
        suspects: Suspects,
        departures: Departures,
        dice: Dice,
        context: RequestContext,
        request: MetadataRequest,
    ) -> None:
        self._cluster_id = cluster.cluster_id
        self._rights = context.rights
        self._dice = dice
        self._departed = departures.recent()
        self._request = request
        self._version = context.api_version
        self._topics = cluster.image.topics
        self._view = ListenerView(cluster.image, context.listener, suspects=suspects.current())
        # In a large cluster many partitions with the same index have equal registrations.
        self._known: dict[tuple[int, PartitionRegistration], MetadataResponsePartition] = {}
        topics = request.topics
        self._is_all = topics is None or (not topics and self._version < _NULL_IS_ALL_VERSION)
        requested = topics or []
        self._ids = list(
            dict.fromkeys(topic.topic_id for topic in requested if topic.topic_id != ZERO_UUID)
        )
        self._names = list(
            dict.fromkeys(topic.name for topic in requested if topic.name is not None)
        )
        # The requested names that the client may not describe.
        self._refused: frozenset[str] = frozenset()
        if not self._rights.is_unrestricted and not self._is_all and not self._ids:
            self._refused = frozenset(self._names) - self._describable(self._names)

    @property
    def is_malformed(self) -> bool:
        """Whether a topic is requested by id below version 12: versions 10 and 11 have the field
        but do not support it."""
        return self._version < _TOPIC_ID_VERSION and any(
            topic.name is None or topic.topic_id != ZERO_UUID
            for topic in self._request.topics or ()
        )

    def refusals(self) -> list[MetadataResponseTopic]:
        return [
            MetadataResponseTopic(
                error_code=ErrorCode.INVALID_REQUEST, name=topic.name or "", topic_id=topic.topic_id
            )
            for topic in self._request.topics or ()
        ]

    def missing_topics(self) -> list[str]:
        """Requested topics that do not exist and can be created automatically: with a valid name,
        and not internal. Coordinators create internal topics themselves."""
        if self._is_all or self._ids:
            return []
        return [
            name
            for name in self._names
            if name not in self._topics.by_name
            and name not in self._refused
            and is_valid_topic_name(name)
            and not is_internal_topic(name)
        ]

    def response(self, creation_errors: dict[str, ErrorCode]) -> MetadataResponse:
        request = self._request
        if self._is_all:
            topics = [self._describe(topic) for topic in self._all_topics()]
        elif self._ids:
            topics = self._describe_by_id()
        else:
            topics = self._describe_by_name(creation_errors)
        if request.include_topic_authorized_operations:
            self._add_operations(topics)
        alive = self._view.brokers
        is_requested = request.include_cluster_authorized_operations
        return MetadataResponse(
            brokers=[
                MetadataResponseBroker(
                    node_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack
                )
                for broker, endpoint in self._view.brokers_and(self._departed)
            ],
            cluster_id=self._cluster_id,
            # Clients cannot reach the controller; any broker forwards requests to it.
            controller_id=self._dice.choice(alive).broker.id if alive else -1,
            topics=topics,
            cluster_authorized_operations=cluster_operations(self._rights)
            if is_requested
            else NOT_REQUESTED,
        )

    def _describable(self, names: Iterable[str], *, is_audited: bool = True) -> set[str]:
        return self._rights.allowed(
            AclOperation.DESCRIBE, ResourceType.TOPIC, names, is_audited=is_audited
        )

    def _all_topics(self) -> Iterable[TopicImage]:
        if self._rights.is_unrestricted:
            return self._topics
        visible = self._describable(self._topics.by_name, is_audited=False)
        return (topic for topic in self._topics if topic.name in visible)

    def _add_operations(self, topics: list[MetadataResponseTopic]) -> None:
        rights = self._rights
        for topic in topics:
            if rights.is_unrestricted:
                topic.topic_authorized_operations = TOPIC_OPERATIONS
            elif topic.name and topic.error_code != ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                topic.topic_authorized_operations = rights.operations(
                    ResourceType.TOPIC, topic.name
                )

    def _describe_by_id(self) -> list[MetadataResponseTopic]:
        by_id = self._topics.by_id
        unknown = [
            MetadataResponseTopic(
                error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=topic_id
            )
            for topic_id in self._ids
            if topic_id not in by_id
        ]
        known = [by_id[topic_id] for topic_id in self._ids if topic_id in by_id]
        refused: list[MetadataResponseTopic] = []
        if not self._rights.is_unrestricted:
            visible = self._describable(topic.name for topic in known)
            refused = [
                MetadataResponseTopic(
                    error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=None, topic_id=topic.id
                )
                for topic in known
                if topic.name not in visible
            ]
            known = [topic for topic in known if topic.name in visible]
        return unknown + refused + [self._describe(topic) for topic in known]

    def _describe_by_name(
        self, creation_errors: dict[str, ErrorCode]
    ) -> list[MetadataResponseTopic]:
        described = []
        for name in self._names:
            if name in self._refused:
                described.append(
                    MetadataResponseTopic(
                        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
                        name=name,
                        is_internal=is_internal_topic(name),
                    )
                )
                continue
            topic = self._topics.by_name.get(name)
            if topic is not None:
                described.append(self._describe(topic))
                continue
            error = creation_errors.get(name) or unknown_topic_error(name)
            described.append(
                MetadataResponseTopic(
                    error_code=error, name=name, is_internal=is_internal_topic(name)
                )
            )
        return described

    def _describe(self, topic: TopicImage) -> MetadataResponseTopic:
        return MetadataResponseTopic(
            name=topic.name,
            topic_id=topic.id,
            is_internal=is_internal_topic(topic.name),
            partitions=[
                self._known.get(item) or self._describe_partition(item)
                for item in topic.partitions.items()
            ],
        )

    def _describe_partition(
        self, item: tuple[int, PartitionRegistration]
    ) -> MetadataResponsePartition:
        index, partition = item
        error = self._view.leader_error(partition)
        if error == ErrorCode.LISTENER_NOT_FOUND and self._version < _LISTENER_ERROR_VERSION:
            error = ErrorCode.LEADER_NOT_AVAILABLE
        described = self._known[item] = MetadataResponsePartition(
            error_code=error,
            partition_index=index,
            leader_id=NO_LEADER if error else partition.leader,
            leader_epoch=partition.leader_epoch,
            replica_nodes=list(partition.replicas),
            isr_nodes=list(partition.isr),
            offline_replicas=self._view.offline_replicas(partition),
        )
        if self._version == 0:
            self._leave_out_unreachable(described)
        return described

    def _leave_out_unreachable(self, described: MetadataResponsePartition) -> None:
        """Removes unreachable replicas: version 0 has no field for offline replicas."""
        for replicas in (described.replica_nodes, described.isr_nodes):
            reachable = [replica for replica in replicas if self._view.is_reachable(replica)]
            if len(reachable) < len(replicas) and not described.error_code:
                described.error_code = ErrorCode.REPLICA_NOT_AVAILABLE
            replicas[:] = reachable
