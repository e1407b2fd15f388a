"""`Admin` administers Apache Kafka and Ottla alike: the same tests against both."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest

from benchmarks.versus.servers import KafkaServer, fresh
from ottla.client.administration.admin import Admin
from ottla.client.administration.cluster import FeatureUpgrade
from ottla.client.administration.offsets import OffsetSpec
from ottla.client.administration.topics import NewTopic, PartitionCount
from ottla.client.administration.users import ScramDeletion, ScramPassword
from ottla.client.errors import (
    ApiError,
    ClientError,
    GroupIdNotFoundError,
    InvalidPartitionsError,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
)
from ottla.client.records import OffsetAndMetadata
from ottla.configs import ConfigAlteration, ConfigOperation, ConfigResource, ConfigResourceType
from ottla.configs.entry import ConfigSource
from ottla.model import ErrorCode, TopicPartition
from ottla.security.acls.acl import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from ottla.security.acls.acl_filter import AclFilter
from ottla.security.sasl.scram_credential import ScramMechanism
from tests.conformance.administration.activity import (
    caught,
    consuming,
    open_transaction,
    produce,
    until,
)
from tests.conformance.kafka.process import reason_unavailable
from tests.support.nodes.nodes import running_node

T = TypeVar("T")
SECONDS_MAX = 30
SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "4",
}

Run = Callable[[Callable[[Admin], Awaitable[T]]], T]


@pytest.fixture(scope="module", params=["ottla", pytest.param("kafka", marks=pytest.mark.java)])
def bootstrap(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    if request.param == "ottla":
        with running_node(tmp_path_factory.mktemp("node"), settings=SETTINGS) as node:
            yield node.bootstrap
        return
    if reason := reason_unavailable():
        pytest.skip(reason)
    with fresh(KafkaServer, SETTINGS) as server:
        server.start()
        yield server.address


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    name: str = request.node.originalname
    return name.removeprefix("test_").replace("_", "-")


def administered(bootstrap: str, work: Callable[[Admin], Awaitable[T]]) -> T:
    async def run() -> T:
        async with Admin(bootstrap_servers=bootstrap) as admin:
            return await work(admin)

    return asyncio.run(asyncio.wait_for(run(), SECONDS_MAX))


def test_topics_are_created_grown_described_and_deleted(bootstrap: str, topic: str) -> None:
    async def work(admin: Admin) -> None:
        created = await admin.create_topics(
            [
                NewTopic(topic, 2, 1, {"retention.ms": "60000"}),
                NewTopic(f"{topic}-assigned", assignment={0: [1], 1: [1], 2: [1]}),
                NewTopic("not a name"),
            ]
        )
        assert created[topic].partitions == 2
        assert created[f"{topic}-assigned"].partitions == 3
        error = created.error("not a name")
        assert isinstance(error, ApiError)
        assert error.code is ErrorCode.INVALID_TOPIC_EXCEPTION
        with pytest.raises(TopicAlreadyExistsError):
            await admin.create_topic(topic)
        checked = await admin.create_topics([NewTopic(f"{topic}-no", 1, 1)], validate_only=True)
        assert checked[f"{topic}-no"].partitions == 1

        grown = await admin.create_partitions({topic: 3, f"{topic}-assigned": PartitionCount(2)})
        assert grown[topic] is None
        with pytest.raises(InvalidPartitionsError):
            grown.all()
        described = await until(
            lambda: admin.describe_topic(topic), lambda found: len(found.partitions) == 3
        )
        assert [each.partition for each in described.partitions] == [0, 1, 2]
        assert {each.leader for each in described.partitions} == {1}
        assert created[topic].topic_id == described.topic_id
        by_id = await admin.describe_topics([described.topic_id, "missing"])
        assert by_id[described.topic_id].name == topic
        assert isinstance(by_id.error("missing"), UnknownTopicOrPartitionError)
        (with_leaders,) = (await admin.describe_eligible_leaders([topic])).all().values()
        assert with_leaders.partitions[2].eligible_leaders in ((), None)
        allowed = await admin.describe_topics([topic], include_authorized_operations=True)
        assert AclOperation.ALTER_CONFIGS in (allowed[topic].authorized_operations or ())

        assert topic in await admin.list_topics()
        deleted = await admin.delete_topics([described.topic_id, f"{topic}-assigned", "missing"])
        assert set(deleted.succeeded) == {described.topic_id, f"{topic}-assigned"}
        assert isinstance(deleted.error("missing"), UnknownTopicOrPartitionError)
        await until(admin.list_topics, lambda found: topic not in found)

    administered(bootstrap, work)


def test_configs_of_every_kind_of_resource(bootstrap: str, topic: str) -> None:
    of_topic = ConfigResource(ConfigResourceType.TOPIC, topic)
    of_broker = ConfigResource(ConfigResourceType.BROKER, "1")
    of_brokers = ConfigResource(ConfigResourceType.BROKER, "")
    of_group = ConfigResource(ConfigResourceType.GROUP, f"{topic}-group")

    async def work(admin: Admin) -> None:
        await admin.create_topic(topic, partitions=1, replication_factor=1)
        changed = await admin.alter_configs(
            {
                of_topic: {"retention.ms": "5000", "cleanup.policy": "compact"},
                of_broker: {"background.threads": "5"},
                of_brokers: {"log.cleaner.threads": "2"},
                of_group: {"consumer.session.timeout.ms": "50000"},
            }
        )
        changed.all()
        operations = [
            ConfigAlteration("cleanup.policy", ConfigOperation.APPEND, "delete"),
            ConfigAlteration("retention.ms", ConfigOperation.DELETE, None),
        ]
        (await admin.alter_configs({of_topic: operations})).all()
        refused = await admin.alter_configs(
            {of_topic: {"retention.ms": "soon"}}, validate_only=True
        )
        assert "retention.ms" in str(refused.error(of_topic))

        async def described() -> dict[ConfigResource, object]:
            found = await admin.describe_configs([of_topic, of_broker, of_group])
            return {
                of_topic: found[of_topic]["cleanup.policy"].value,
                of_broker: found[of_broker]["background.threads"].value,
                of_group: found[of_group]["consumer.session.timeout.ms"].value,
            }

        wanted = {of_topic: "compact,delete", of_broker: "5", of_group: "50000"}
        await until(described, lambda found: found == wanted)
        chosen = (await admin.describe_configs([of_topic], names=["retention.ms"]))[of_topic]
        assert chosen.keys() == {"retention.ms"}
        assert chosen["retention.ms"].is_default
        full = await admin.describe_configs(
            [of_topic], include_synonyms=True, include_documentation=True
        )
        policy = full[of_topic]["cleanup.policy"]
        assert policy.source is ConfigSource.DYNAMIC_TOPIC_CONFIG
        assert policy.synonyms[-1].source is ConfigSource.DEFAULT_CONFIG
        assert policy.documentation
        resources = await admin.list_config_resources([ConfigResourceType.TOPIC])
        assert of_topic in resources
        missing = ConfigResource(ConfigResourceType.TOPIC, "missing")
        unknown = await admin.describe_configs([missing, of_topic])
        assert isinstance(unknown.error(missing), UnknownTopicOrPartitionError)
        assert unknown.get(of_topic) is not None

    administered(bootstrap, work)


def test_offsets_are_listed_and_the_oldest_records_deleted(bootstrap: str, topic: str) -> None:
    names = [TopicPartition(topic, number) for number in range(2)]

    async def work(admin: Admin) -> None:
        await admin.create_topic(topic, partitions=2, replication_factor=1)
        produce(bootstrap, topic, [(0, 1_000), (0, 2_000), (0, 3_000)])
        latest = (await admin.list_offsets(dict.fromkeys(names, OffsetSpec.LATEST))).all()
        assert [each.offset for each in latest.values() if each] == [3, 0]
        places = {names[0]: 2_000, names[1]: 2_000}
        at_time = await admin.list_offsets(places)
        found = at_time[names[0]]
        assert found is not None
        assert (found.offset, found.timestamp) == (1, 2_000)
        assert at_time[names[1]] is None
        newest = await admin.list_offsets({names[0]: OffsetSpec.MAX_TIMESTAMP})
        assert newest[names[0]] == (2, 3_000, found.leader_epoch)
        stable = await admin.list_offsets({names[0]: OffsetSpec.LATEST}, read_committed=True)
        assert stable[names[0]] == latest[names[0]]

        deleted = await admin.delete_records({names[0]: 2, names[1]: 5})
        assert deleted[names[0]] == 2
        error = deleted.error(names[1])
        assert isinstance(error, ApiError)
        assert error.code is ErrorCode.OFFSET_OUT_OF_RANGE
        earliest = await admin.list_offsets({names[0]: OffsetSpec.EARLIEST})
        assert earliest[names[0]] == (2, -1, found.leader_epoch)

    administered(bootstrap, work)


def test_groups_and_their_offsets(bootstrap: str, topic: str) -> None:
    group = f"{topic}-group"
    names = [TopicPartition(topic, number) for number in range(2)]

    async def work(admin: Admin) -> None:
        await admin.create_topic(topic, partitions=2, replication_factor=1)
        with pytest.raises(GroupIdNotFoundError):
            await admin.describe_group(group)
        moved = await admin.alter_group_offsets(
            group, {names[0]: 0, names[1]: OffsetAndMetadata(0, metadata="why")}
        )
        moved.all()
        found = await admin.list_group_offsets([group, "another"])
        assert found[group] == {names[0]: (0, -1, ""), names[1]: (0, -1, "why")}
        assert found["another"] == {}
        chosen = await admin.list_group_offsets({group: [names[1]]}, require_stable=True)
        assert list(chosen[group]) == [names[1]]
        listed = await admin.list_groups(states=["Empty"], types=["classic"])
        assert [each.type for each in listed if each.id == group] == ["classic"]
        described = await admin.describe_group(group)
        assert (described.state, described.members) == ("Empty", ())

        (await admin.delete_group_offsets(group, [names[0]])).all()
        assert list((await admin.list_group_offsets([group]))[group]) == [names[1]]
        deleted = await admin.delete_groups([group, "another"])
        assert deleted.error(group) is None
        assert isinstance(deleted.error("another"), GroupIdNotFoundError)

    administered(bootstrap, work)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_of_groups(bootstrap: str, topic: str, protocol: str) -> None:
    topic = f"{topic}-{protocol}"
    group = f"{topic}-group"

    async def work(admin: Admin) -> None:
        await admin.create_topic(topic, partitions=2, replication_factor=1)
        with consuming(bootstrap, topic, group, protocol):
            groups = await until(
                lambda: admin.describe_groups([group]),
                lambda found: group in found.succeeded and found[group].state == "Stable",
            )
            found = groups[group]
            (member,) = found.members
            assert found.type == protocol
            assert member.assigned == (TopicPartition(topic, 0), TopicPartition(topic, 1))
            assert member.client_id == "a-client"
            assert (member.target is None) == (protocol == "classic")
            assert isinstance((await admin.delete_groups([group])).error(group), ClientError)
            if protocol == "classic":
                removed = await admin.remove_group_members(group, [member.id])
                assert removed[member.id] is None

    administered(bootstrap, work)


def test_the_cluster_its_features_and_its_quorum(bootstrap: str) -> None:
    async def work(admin: Admin) -> None:
        cluster = await admin.describe_cluster(
            include_fenced_brokers=True, include_authorized_operations=True
        )
        assert [(each.id, f"{each.host}:{each.port}") for each in cluster.brokers] == [
            (1, bootstrap)
        ]
        assert AclOperation.ALTER in (cluster.authorized_operations or ())
        features = await admin.describe_features()
        level = features.finalized["metadata.version"]
        versions = features.supported["metadata.version"]
        assert versions.lowest <= level <= versions.highest
        refused = await caught(admin.update_features({"metadata.version": versions.highest + 1}))
        assert refused is not None
        same = await admin.update_features(
            {"metadata.version": level}, upgrade=FeatureUpgrade.UPGRADE, validate_only=True
        )
        same.all()
        quorum = await admin.describe_quorum()
        assert quorum.leader_id == 1
        assert [(each.id, each.role, each.lag) for each in quorum.replicas] == [(1, "leader", 0)]
        assert await caught(admin.unregister_broker(77)) is not None

    administered(bootstrap, work)


def test_elections_reassignments_and_log_directories(bootstrap: str, topic: str) -> None:
    name = TopicPartition(topic, 0)

    async def work(admin: Admin) -> None:
        await admin.create_topic(topic, partitions=1, replication_factor=1)
        elected = await admin.elect_leaders([name, TopicPartition("missing", 0)])
        assert not elected[name].was_needed
        assert isinstance(elected.error(TopicPartition("missing", 0)), UnknownTopicOrPartitionError)
        moves = await admin.alter_partition_reassignments({name: [99]})
        error = moves.error(name)
        assert isinstance(error, ApiError)
        assert error.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
        assert await admin.list_partition_reassignments() == {}
        cancelled = await admin.alter_partition_reassignments({name: None})
        error = cancelled.error(name)
        assert isinstance(error, ApiError)
        assert error.code is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS

        found = await until(
            admin.describe_log_dirs,
            lambda found: topic in {replica.topic for replica in found[1][0].replicas},
        )
        (directory,) = found[1]
        assert directory.error is None
        (only,) = (await admin.describe_log_dirs([1], partitions=[name]))[1]
        assert [(each.topic, each.partition) for each in only.replicas] == [name]
        placed = await admin.alter_replica_log_dirs(1, {name: "/no/such/directory"})
        error = placed.error(name)
        assert isinstance(error, ApiError)
        assert error.code is ErrorCode.LOG_DIR_NOT_FOUND
        unknown = await admin.describe_log_dirs([1, 42])
        assert set(unknown.succeeded) == {1}

    administered(bootstrap, work)


def test_transactions_are_listed_described_and_aborted(bootstrap: str, topic: str) -> None:
    name = TopicPartition(topic, 0)
    transactional_id = f"{topic}-id"

    async def work(admin: Admin) -> None:
        await admin.create_topic(topic, partitions=1, replication_factor=1)
        with open_transaction(bootstrap, topic, transactional_id):
            listed = await admin.list_transactions(states=["Ongoing"])
            (opened,) = [each for each in listed if each.id == transactional_id]
            (described,) = (await admin.describe_transactions([transactional_id])).all().values()
            assert described.state == "Ongoing"
            assert described.partitions == (name,)
            assert described.producer_id == opened.producer_id
            (producer,) = (await admin.describe_producers([name]))[name]
            assert (producer.producer_id, producer.start_offset) == (opened.producer_id, 0)
            assert not await admin.list_transactions(pattern="nothing.*")
            with pytest.raises(ApiError, match="no state Odd"):
                await admin.list_transactions(states=["Odd"])
            (await admin.fence_producers([transactional_id])).all()
            await until(
                lambda: admin.describe_producers([name]),
                lambda found: all(each.start_offset is None for each in found[name]),
            )

    administered(bootstrap, work)


def test_a_hanging_transaction_is_aborted_by_its_marker(bootstrap: str, topic: str) -> None:
    name = TopicPartition(topic, 0)

    async def work(admin: Admin) -> None:
        await admin.create_topic(topic, partitions=1, replication_factor=1)
        with open_transaction(bootstrap, topic, f"{topic}-id"):
            (producer,) = (await admin.describe_producers([name]))[name]
            await admin.abort_transaction(name, producer)
            (after,) = (await admin.describe_producers([name]))[name]
            assert after.start_offset is None

    administered(bootstrap, work)


def test_scram_users(bootstrap: str) -> None:
    async def work(admin: Admin) -> None:
        one = ScramPassword("alice", "secret of alice", iterations=4096)
        (await admin.alter_user_scram_credentials([one])).all()
        other = ScramPassword("alice", "another one", ScramMechanism.SCRAM_SHA_256)
        (await admin.alter_user_scram_credentials([other])).all()

        async def described() -> object:
            return (await admin.describe_user_scram_credentials()).get("alice")

        wanted = ((ScramMechanism.SCRAM_SHA_256, 8192), (ScramMechanism.SCRAM_SHA_512, 4096))
        await until(described, lambda found: found == wanted)
        for mechanism in ScramMechanism:
            (await admin.alter_user_scram_credentials([ScramDeletion("alice", mechanism)])).all()

        async def missing() -> bool:
            found = await admin.describe_user_scram_credentials(["alice"])
            error = found.error("alice")
            return isinstance(error, ApiError) and error.code is ErrorCode.RESOURCE_NOT_FOUND

        await until(missing, bool)

    administered(bootstrap, work)


def test_acls(bootstrap: str, topic: str) -> None:
    bindings = [
        AclBinding(
            ResourcePattern(ResourceType.TOPIC, topic, PatternType.PREFIXED),
            AccessControlEntry("User:bob", "*", operation, Permission.ALLOW),
        )
        for operation in (AclOperation.READ, AclOperation.WRITE)
    ]
    of_bob = AclFilter(principal="User:bob")

    async def work(admin: Admin) -> None:
        (await admin.create_acls(bindings)).all()
        await until(lambda: admin.describe_acls(of_bob), lambda found: found == bindings)
        writes = AclFilter(operation=AclOperation.WRITE, principal="User:bob")
        deleted = await admin.delete_acls([writes, AclFilter(name="nothing")])
        assert deleted[writes] == (bindings[1],)
        assert deleted[AclFilter(name="nothing")] == ()
        await until(lambda: admin.describe_acls(of_bob), lambda found: found == bindings[:1])

    administered(bootstrap, work)


def test_tokens_are_refused_on_a_plaintext_listener(bootstrap: str) -> None:
    async def work(admin: Admin) -> None:
        error = await caught(admin.create_delegation_token())
        assert isinstance(error, ApiError)
        assert error.code in (
            ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED,
            ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        )

    administered(bootstrap, work)
