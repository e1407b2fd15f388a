"""Brokers forward requests to the active controller without loss, in every version.

Each API and version goes to each of three nodes, one of which is the active controller: the answers
and the effects must be the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, NamedTuple

import pytest

from ottla.broker.controller_apis import ADMIN_APIS
from ottla.metadata import MetadataImage
from ottla.metadata.partition import PartitionRegistration
from ottla.model import ZERO_UUID, ErrorCode, TopicPartition, Uuid
from ottla.simulation import World
from ottla.simulation.clients import SimulatedAdmin
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.cluster.cluster import SimulatedCluster, start_cluster
from ottla.wire.apis import ApiKey, request_class
from ottla.wire.messages import (
    add_raft_voter,
    alter_configs,
    alter_partition_reassignments,
    alter_user_scram_credentials,
    create_acls,
    create_delegation_token,
    create_partitions,
    create_topics,
    delete_acls,
    delete_topics,
    describe_quorum,
    elect_leaders,
    expire_delegation_token,
    incremental_alter_configs,
    list_partition_reassignments,
    remove_raft_voter,
    renew_delegation_token,
    unregister_broker,
    update_features,
)
from ottla.wire.schema import Message
from tests.support.quotas.quota_changes import quota_change

_TIMEOUT_MS: Final = 5_000
_TOPIC_RESOURCE: Final = 2
_REPLICAS: Final = [1, 2, 3]
_REVERSED: Final = [3, 2, 1]
_FEATURE: Final = "transaction.version"
_LEVEL: Final = 2
_NO_NODE: Final = 99

Play = Callable[[SimulatedAdmin, str], Awaitable[object]]


async def _nothing(_admin: SimulatedAdmin, _topic: str) -> None: ...


async def _create(admin: SimulatedAdmin, topic: str) -> None:
    await admin.create_topic(topic)


async def _prefer_another_leader(admin: SimulatedAdmin, topic: str) -> None:
    await admin.create_topic(topic)
    partition = TopicPartition(topic, 0)
    assert await admin.reassign(partition, _REPLICAS) == 0
    assert await admin.elect_preferred(partition) == 0
    assert await admin.reassign(partition, _REVERSED) == 0


async def _restore_feature(admin: SimulatedAdmin, _topic: str) -> None:
    assert await admin.update_feature(_FEATURE, level=_LEVEL, upgrade_type=1) == 0


class Forwarded(NamedTuple):
    """An API: its request in a version, about a topic, and what every node's metadata shows
    afterwards. `prepare` runs before the request, `restore` after it."""

    request: Callable[[int, str], Message]
    has_effect: Callable[[MetadataImage, str], object] = lambda _image, _topic: True
    prepare: Play = _nothing
    restore: Play = _nothing
    error: ErrorCode = ErrorCode.NONE


def _create_topics(_version: int, topic: str) -> Message:
    wanted = create_topics.CreatableTopic(name=topic, num_partitions=2, replication_factor=3)
    return create_topics.CreateTopicsRequest(topics=[wanted])


def _delete_topics(version: int, topic: str) -> Message:
    if version < 6:
        return delete_topics.DeleteTopicsRequest(topic_names=[topic], timeout_ms=_TIMEOUT_MS)
    named = delete_topics.DeleteTopicState(name=topic)
    return delete_topics.DeleteTopicsRequest(topics=[named], timeout_ms=_TIMEOUT_MS)


def _create_partitions(_version: int, topic: str) -> Message:
    wanted = create_partitions.CreatePartitionsTopic(name=topic, count=2, assignments=None)
    return create_partitions.CreatePartitionsRequest(topics=[wanted], timeout_ms=_TIMEOUT_MS)


def _alter_configs(_version: int, topic: str) -> Message:
    entry = alter_configs.AlterableConfig(name="retention.ms", value="1234")
    return alter_configs.AlterConfigsRequest(
        resources=[
            alter_configs.AlterConfigsResource(
                resource_type=_TOPIC_RESOURCE, resource_name=topic, configs=[entry]
            )
        ]
    )


def _incremental_alter_configs(_version: int, topic: str) -> Message:
    entry = incremental_alter_configs.AlterableConfig(name="retention.ms", value="1234")
    return incremental_alter_configs.IncrementalAlterConfigsRequest(
        resources=[
            incremental_alter_configs.AlterConfigsResource(
                resource_type=_TOPIC_RESOURCE, resource_name=topic, configs=[entry]
            )
        ]
    )


def _downgrade_feature(version: int, _topic: str) -> Message:
    how: dict[str, Any] = {"allow_downgrade": True} if version == 0 else {"upgrade_type": 2}
    update = update_features.FeatureUpdateKey(feature=_FEATURE, max_version_level=_LEVEL - 1, **how)
    return update_features.UpdateFeaturesRequest(feature_updates=[update])


def _elect_leaders(_version: int, topic: str) -> Message:
    wanted = elect_leaders.TopicPartitions(topic=topic, partitions=[0])
    return elect_leaders.ElectLeadersRequest(topic_partitions=[wanted])


def _reassign(_version: int, topic: str) -> Message:
    wanted = alter_partition_reassignments.ReassignablePartition(replicas=[2, 3, 1])
    named = alter_partition_reassignments.ReassignableTopic(name=topic, partitions=[wanted])
    return alter_partition_reassignments.AlterPartitionReassignmentsRequest(topics=[named])


def _describe_quorum(_version: int, _topic: str) -> Message:
    partition = describe_quorum.DescribeQuorumRequestPartitionData()
    wanted = describe_quorum.DescribeQuorumRequestTopicData(
        topic_name="__cluster_metadata", partitions=[partition]
    )
    return describe_quorum.DescribeQuorumRequest(topics=[wanted])


def _set_credential(_version: int, topic: str) -> Message:
    """Of a user with the name of the topic."""
    return alter_user_scram_credentials.AlterUserScramCredentialsRequest(
        upsertions=[
            alter_user_scram_credentials.ScramCredentialUpsertion(
                name=topic, mechanism=1, iterations=4096, salt=b"salt", salted_password=bytes(32)
            )
        ]
    )


def _has_configs(image: MetadataImage, topic: str) -> bool:
    return image.topic_configs(topic) == {"retention.ms": "1234"}


def _partitions(image: MetadataImage, topic: str) -> list[PartitionRegistration]:
    """None while the node does not know the topic yet."""
    found = image.topics.by_name.get(topic)
    return [] if found is None else list(found.partitions.values())


FORWARDED: Final = {
    ApiKey.CREATE_TOPICS: Forwarded(
        _create_topics, lambda image, topic: len(_partitions(image, topic)) == 2
    ),
    ApiKey.DELETE_TOPICS: Forwarded(
        _delete_topics, lambda image, topic: topic not in image.topics.by_name, prepare=_create
    ),
    ApiKey.CREATE_PARTITIONS: Forwarded(
        _create_partitions,
        lambda image, topic: len(_partitions(image, topic)) == 2,
        prepare=_create,
    ),
    ApiKey.ALTER_CONFIGS: Forwarded(_alter_configs, _has_configs, prepare=_create),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: Forwarded(
        _incremental_alter_configs, _has_configs, prepare=_create
    ),
    ApiKey.UPDATE_FEATURES: Forwarded(
        _downgrade_feature,
        lambda image, _topic: image.features[_FEATURE] == _LEVEL - 1,
        restore=_restore_feature,
    ),
    ApiKey.ELECT_LEADERS: Forwarded(
        _elect_leaders,
        lambda image, topic: [each.leader for each in _partitions(image, topic)] == [3],
        prepare=_prefer_another_leader,
    ),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: Forwarded(
        _reassign,
        lambda image, topic: [each.replicas for each in _partitions(image, topic)] == [(2, 3, 1)],
        prepare=_create,
    ),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: Forwarded(
        lambda _version, _topic: list_partition_reassignments.ListPartitionReassignmentsRequest()
    ),
    ApiKey.UNREGISTER_BROKER: Forwarded(
        lambda _version, _topic: unregister_broker.UnregisterBrokerRequest(broker_id=_NO_NODE),
        error=ErrorCode.BROKER_ID_NOT_REGISTERED,
    ),
    ApiKey.DESCRIBE_QUORUM: Forwarded(_describe_quorum),
    ApiKey.ADD_RAFT_VOTER: Forwarded(
        lambda _version, _topic: add_raft_voter.AddRaftVoterRequest(
            cluster_id=None, voter_id=_NO_NODE, timeout_ms=_TIMEOUT_MS
        ),
        error=ErrorCode.INVALID_REQUEST,
    ),
    # Without an authorizer, and with clients that have not authenticated.
    ApiKey.CREATE_ACLS: Forwarded(
        lambda _version, _topic: create_acls.CreateAclsRequest(
            creations=[create_acls.AclCreation()]
        ),
        error=ErrorCode.SECURITY_DISABLED,
    ),
    ApiKey.DELETE_ACLS: Forwarded(
        lambda _version, _topic: delete_acls.DeleteAclsRequest(
            filters=[delete_acls.DeleteAclsFilter()]
        ),
        error=ErrorCode.SECURITY_DISABLED,
    ),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: Forwarded(
        _set_credential, lambda image, topic: (topic, 1) in image.scram_credentials
    ),
    ApiKey.ALTER_CLIENT_QUOTAS: Forwarded(
        lambda _version, topic: quota_change({"user": topic}, {"producer_byte_rate": 1_000}),
        lambda image, topic: (("user", topic),) in image.client_quotas,
    ),
    ApiKey.CREATE_DELEGATION_TOKEN: Forwarded(
        lambda _version, _topic: create_delegation_token.CreateDelegationTokenRequest(),
        error=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
    ),
    ApiKey.RENEW_DELEGATION_TOKEN: Forwarded(
        lambda _version, _topic: renew_delegation_token.RenewDelegationTokenRequest(hmac=b"it"),
        error=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
    ),
    ApiKey.EXPIRE_DELEGATION_TOKEN: Forwarded(
        lambda _version, _topic: expire_delegation_token.ExpireDelegationTokenRequest(hmac=b"it"),
        error=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
    ),
    ApiKey.REMOVE_RAFT_VOTER: Forwarded(
        lambda _version, _topic: remove_raft_voter.RemoveRaftVoterRequest(
            cluster_id=None, voter_id=_NO_NODE, voter_directory_id=Uuid(b"\x01" * 16)
        ),
        error=ErrorCode.VOTER_NOT_FOUND,
    ),
}


def test_every_forwarded_api_is_in_the_table() -> None:
    assert {*ADMIN_APIS, ApiKey.INCREMENTAL_ALTER_CONFIGS} == set(FORWARDED)


@pytest.mark.parametrize("key", FORWARDED, ids=lambda key: key.name)
def test_every_node_answers_and_does_the_same_in_every_version(key: ApiKey) -> None:
    api = FORWARDED[key]

    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        admin, client = cluster.admin(), ClusterClient(world.here, [], name="client")
        stable = request_class(key).stable
        for version in range(stable.lowest, stable.highest + 1):
            answers = []
            for node in cluster.nodes:
                topic = f"topic-{version}-{node.id}"
                await api.prepare(admin, topic)
                request = api.request(version, topic)
                answer = await client.send_to_address(node.address, request, version)
                await world.wait_until(partial(_all_show, cluster, api, topic), seconds=5)
                await api.restore(admin, topic)
                answers.append(_comparable(answer, topic))
            assert answers[0] == answers[1] == answers[2], f"version {version}"
            assert _errors(answer) == {api.error}, f"version {version}: {answer}"

    World(seed=3).run(story)


def _all_show(cluster: SimulatedCluster, api: Forwarded, topic: str) -> bool:
    brokers = [observer.broker for observer in cluster.observers]
    return all(broker and api.has_effect(broker.cluster.image, topic) for broker in brokers)


_OF_THE_MOMENT: Final = {
    "topic_id": ZERO_UUID,
    "high_watermark": 0,
    "log_end_offset": 0,
    "last_fetch_timestamp": 0,
    "last_caught_up_timestamp": 0,
}


def _comparable(value: Any, topic: str) -> Any:
    """An answer without the fields that change with time, and without the topic's name."""
    if isinstance(value, list):
        return [_comparable(each, topic) for each in value]
    if isinstance(value, str):
        return value.replace(topic, "the topic")
    options = getattr(type(value), "field_options", None)
    if options is None:
        return value
    return {
        name: _OF_THE_MOMENT.get(name, _comparable(getattr(value, name), topic)) for name in options
    }


def _errors(value: Any) -> set[int]:
    """The error codes of an answer, at any depth; NONE only if there is no other."""
    found = _error_codes(value)
    return found - {0} or found


def _error_codes(value: Any) -> set[int]:
    if isinstance(value, list):
        return set().union(*map(_error_codes, value))
    options = getattr(type(value), "field_options", {})
    own = {getattr(value, name) for name in options if name == "error_code"}
    return own.union(*(_error_codes(getattr(value, name)) for name in options))
