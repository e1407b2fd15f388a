"""What the requests of simulated clients need, and where their responses have the refusal.

From Kafka's documentation ("Operations and resources on protocols"), not from the handlers: a
handler that forgets a check has to be found. Each simulated request has one topic, group or
transactional id, so a response has an authorization error for all of it or for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ottla.model import Uuid, uuid_from_text, uuid_to_text
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.simulation.clients.refusals import is_refusal
from ottla.simulation.history.security_events import Need, NeededRight
from ottla.wire.apis import ApiKey

_Needs = tuple[Need, ...]
# No topic's name begins with it.
_ID: Final = "id "


class ApiNeeds(NamedTuple):
    """`needs` must all be allowed; it is called before the request is handled, and returns None
    for a request that does not say what it is about. `errors` are the paths of the error codes in
    the response."""

    needs: Callable[[Any], _Needs | None]
    errors: tuple[str, ...] = ("error_code",)

    def is_refused(self, response: Any) -> bool:
        return any(
            is_refusal(code) for path in self.errors for code in _values(response, path.split("."))
        )


def _values(value: Any, path: list[str]) -> Iterator[int]:
    if isinstance(value, list):
        for each in value:
            yield from _values(each, path)
    elif path:
        # A field of another version of the API may be absent.
        yield from _values(getattr(value, path[0]), path[1:])
    elif value is not None:
        yield value


def named_by_id(needs: _Needs, names: Callable[[Uuid], str | None]) -> _Needs | None:
    """With names for topics that the request has by id; None if one of them is not known."""
    found = []
    for need in needs:
        right = need[0]
        if right.name is not None and right.name.startswith(_ID):
            name = names(uuid_from_text(right.name.removeprefix(_ID)))
            if name is None:
                return None
            need = (right._replace(name=name),)
        found.append(need)
    return tuple(found)


def _id_text(topic: Any) -> str:
    return _ID + uuid_to_text(topic.topic_id)


def _topic(operation: AclOperation, name: str) -> Need:
    return (NeededRight(operation, ResourceType.TOPIC, name),)


def _group(operation: AclOperation, name: str) -> Need:
    return (NeededRight(operation, ResourceType.GROUP, name),)


def _transaction(operation: AclOperation, name: str) -> Need:
    return (NeededRight(operation, ResourceType.TRANSACTIONAL_ID, name),)


def _cluster(*operations: AclOperation) -> Need:
    return tuple(NeededRight(each, ResourceType.CLUSTER, CLUSTER_NAME) for each in operations)


def _on_cluster(*operations: AclOperation) -> Callable[[Any], _Needs]:
    need = _cluster(*operations)
    return lambda _request: (need,)


_READ, _WRITE, _DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
_CLUSTER_ACTION = _on_cluster(AclOperation.CLUSTER_ACTION)
_ALTER_CLUSTER = _on_cluster(AclOperation.ALTER)


def _produce(request: Any) -> _Needs:
    needs = [_topic(_WRITE, topic.name or _id_text(topic)) for topic in request.topic_data]
    if request.transactional_id is not None:
        needs.append(_transaction(_WRITE, request.transactional_id))
    return tuple(needs)


def _fetch(request: Any) -> _Needs | None:
    state = request.replica_state
    if request.replica_id >= 0 or (state is not None and state.replica_id >= 0):
        return (_cluster(AclOperation.CLUSTER_ACTION),)
    if request.session_epoch > 0:
        # The topics are those of the session, and only changes are named.
        return None
    return tuple(_topic(_READ, topic.topic or _id_text(topic)) for topic in request.topics)


def _find_coordinator(request: Any) -> _Needs:
    kind = (_group, _transaction)[request.key_type]
    return tuple(kind(_DESCRIBE, key) for key in request.coordinator_keys)


def _init_producer_id(request: Any) -> _Needs:
    if request.transactional_id is not None:
        return (_transaction(_WRITE, request.transactional_id),)
    any_topic = NeededRight(_WRITE, ResourceType.TOPIC, None)
    return ((*_cluster(AclOperation.IDEMPOTENT_WRITE), any_topic),)


def _add_partitions(request: Any) -> _Needs:
    if request.transactions:
        return (_cluster(AclOperation.CLUSTER_ACTION),)
    topics = (_topic(_WRITE, topic.name) for topic in request.v3_and_below_topics)
    return (_transaction(_WRITE, request.v3_and_below_transactional_id), *topics)


def _add_offsets(request: Any) -> _Needs:
    return (_transaction(_WRITE, request.transactional_id), _group(_READ, request.group_id))


def _commit_in_transaction(request: Any) -> _Needs:
    return (*_add_offsets(request), *(_topic(_READ, topic.name) for topic in request.topics))


def _commit(request: Any) -> _Needs:
    topics = (_topic(_READ, topic.name or _id_text(topic)) for topic in request.topics)
    return (_group(_READ, request.group_id), *topics)


def _fetch_offsets(request: Any) -> _Needs:
    (group,) = request.groups
    topics = (_topic(_DESCRIBE, topic.name or _id_text(topic)) for topic in group.topics or ())
    return (_group(_DESCRIBE, group.group_id), *topics)


def _heartbeat_of_consumer(request: Any) -> _Needs:
    names = request.subscribed_topic_names or ()
    return (_group(_READ, request.group_id), *(_topic(_DESCRIBE, name) for name in names))


def _in_group(request: Any) -> _Needs:
    return (_group(_READ, request.group_id),)


def _describe_topics(request: Any) -> _Needs:
    return tuple(_topic(_DESCRIBE, topic.name) for topic in request.topics or ())


def _create_topics(request: Any) -> _Needs:
    (name,) = (topic.name for topic in request.topics)
    on_topic = NeededRight(AclOperation.CREATE, ResourceType.TOPIC, name)
    return ((*_cluster(AclOperation.CREATE), on_topic),)


def _create_token(request: Any) -> _Needs:
    if not request.owner_principal_name:
        return ()
    owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
    return ((NeededRight(AclOperation.CREATE_TOKENS, ResourceType.USER, owner),),)


BROKER_NEEDS: Final[Mapping[int, ApiNeeds]] = {
    ApiKey.PRODUCE: ApiNeeds(_produce, ("responses.partition_responses.error_code",)),
    ApiKey.FETCH: ApiNeeds(_fetch, ("responses.partitions.error_code",)),
    ApiKey.METADATA: ApiNeeds(_describe_topics, ("topics.error_code",)),
    ApiKey.LIST_OFFSETS: ApiNeeds(_describe_topics, ("topics.partitions.error_code",)),
    ApiKey.FIND_COORDINATOR: ApiNeeds(_find_coordinator, ("coordinators.error_code",)),
    ApiKey.INIT_PRODUCER_ID: ApiNeeds(_init_producer_id),
    ApiKey.ADD_PARTITIONS_TO_TXN: ApiNeeds(
        _add_partitions,
        ("results_by_topic_v3_and_below.results_by_partition.partition_error_code",),
    ),
    ApiKey.ADD_OFFSETS_TO_TXN: ApiNeeds(_add_offsets),
    ApiKey.END_TXN: ApiNeeds(lambda request: (_transaction(_WRITE, request.transactional_id),)),
    ApiKey.TXN_OFFSET_COMMIT: ApiNeeds(_commit_in_transaction, ("topics.partitions.error_code",)),
    ApiKey.OFFSET_COMMIT: ApiNeeds(_commit, ("topics.partitions.error_code",)),
    ApiKey.OFFSET_FETCH: ApiNeeds(
        _fetch_offsets, ("groups.error_code", "groups.topics.partitions.error_code")
    ),
    ApiKey.JOIN_GROUP: ApiNeeds(_in_group),
    ApiKey.SYNC_GROUP: ApiNeeds(_in_group),
    ApiKey.HEARTBEAT: ApiNeeds(_in_group),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: ApiNeeds(_heartbeat_of_consumer),
    ApiKey.WRITE_TXN_MARKERS: ApiNeeds(
        _on_cluster(AclOperation.ALTER, AclOperation.CLUSTER_ACTION),
        ("markers.topics.partitions.error_code",),
    ),
    ApiKey.DESCRIBE_ACLS: ApiNeeds(_on_cluster(_DESCRIBE)),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: ApiNeeds(_on_cluster(_DESCRIBE)),
}
# Of requests that a controller's listener serves, without those that it forwards.
CONTROLLER_NEEDS: Final[Mapping[int, ApiNeeds]] = {
    key: ApiNeeds(_CLUSTER_ACTION)
    for key in (
        ApiKey.ENVELOPE,
        ApiKey.FETCH,
        ApiKey.VOTE,
        ApiKey.BROKER_HEARTBEAT,
        ApiKey.ALTER_PARTITION,
        ApiKey.ALLOCATE_PRODUCER_IDS,
    )
}
# Of requests that the active controller handles, whichever node received them.
FORWARDED_NEEDS: Final[Mapping[int, ApiNeeds]] = {
    ApiKey.CREATE_TOPICS: ApiNeeds(_create_topics, ("topics.error_code",)),
    ApiKey.CREATE_ACLS: ApiNeeds(_ALTER_CLUSTER, ("results.error_code",)),
    ApiKey.DELETE_ACLS: ApiNeeds(_ALTER_CLUSTER, ("filter_results.error_code",)),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: ApiNeeds(_ALTER_CLUSTER, ("results.error_code",)),
    ApiKey.ELECT_LEADERS: ApiNeeds(
        _ALTER_CLUSTER, ("error_code", "replica_election_results.partition_result.error_code")
    ),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: ApiNeeds(_ALTER_CLUSTER),
    ApiKey.CREATE_DELEGATION_TOKEN: ApiNeeds(_create_token),
    ApiKey.RENEW_DELEGATION_TOKEN: ApiNeeds(lambda _request: ()),
    ApiKey.EXPIRE_DELEGATION_TOKEN: ApiNeeds(lambda _request: ()),
}
