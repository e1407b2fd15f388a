"""A program that administers a cluster, checked by mypy in strict mode. It never runs."""

from __future__ import annotations

from typing import assert_type

from ottla import KafkaError
from ottla.client import ClientError, OffsetAndMetadata, TopicPartition, sync
from ottla.client.administration import (
    EVERY_ACL,
    AccessControlEntry,
    AclBinding,
    AclFilter,
    AclOperation,
    ActiveProducer,
    Admin,
    BrokerDescription,
    ClusterDescription,
    ConfigAlteration,
    ConfigOperation,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    ConfigSynonym,
    ConfigType,
    CreatedTopic,
    DescribedConfig,
    DescribedQuorum,
    ElectedLeader,
    FeaturesDescription,
    FeatureUpgrade,
    FeatureVersions,
    GroupDescription,
    LeaderElection,
    ListedGroup,
    ListedOffset,
    ListedTransaction,
    LogDir,
    LogDirReplica,
    MemberDescription,
    NewTopic,
    OffsetSpec,
    PartitionCount,
    Password,
    PatternType,
    Permission,
    Principal,
    QuorumReplica,
    Reassignment,
    ResourcePattern,
    ResourceType,
    Results,
    ScramCredentialInfo,
    ScramDeletion,
    ScramMechanism,
    ScramPassword,
    TokenDescription,
    TopicDescription,
    TopicPartitionDescription,
    TransactionDescription,
    Uuid,
    exact_filter,
    uuid_from_text,
    uuid_to_text,
)

NAMES = (
    AccessControlEntry,
    AclBinding,
    AclFilter,
    AclOperation,
    ActiveProducer,
    Admin,
    BrokerDescription,
    ClusterDescription,
    ConfigAlteration,
    ConfigOperation,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    ConfigSynonym,
    ConfigType,
    CreatedTopic,
    DescribedConfig,
    DescribedQuorum,
    EVERY_ACL,
    ElectedLeader,
    FeatureUpgrade,
    FeatureVersions,
    FeaturesDescription,
    GroupDescription,
    LeaderElection,
    ListedGroup,
    ListedOffset,
    ListedTransaction,
    LogDir,
    LogDirReplica,
    MemberDescription,
    NewTopic,
    OffsetSpec,
    PartitionCount,
    Password,
    PatternType,
    Permission,
    Principal,
    QuorumReplica,
    Reassignment,
    ResourcePattern,
    ResourceType,
    Results,
    ScramCredentialInfo,
    ScramDeletion,
    ScramMechanism,
    ScramPassword,
    TokenDescription,
    TopicDescription,
    TopicPartitionDescription,
    TransactionDescription,
    Uuid,
    exact_filter,
    uuid_from_text,
    uuid_to_text,
)


async def administer() -> None:
    async with Admin({"bootstrap.servers": "127.0.0.1:9092"}, client_id="me") as admin:
        created = await admin.create_topics([NewTopic("orders", partitions=3)], timeout=5.0)
        assert_type(created, Results[str, CreatedTopic])
        assert_type(created["orders"], CreatedTopic)
        assert_type(created.failed, dict[str, ClientError])
        for error in created.failed.values():
            if isinstance(error, KafkaError) and not error.retriable:
                print(error.code.name)
        place = TopicPartition("orders", 0)
        offsets = (await admin.list_offsets({place: OffsetSpec.LATEST})).all()
        assert_type(offsets, dict[TopicPartition, ListedOffset | None])
        orders = ConfigResource(ConfigResourceType.TOPIC, "orders")
        await admin.alter_configs({orders: {"retention.ms": "1", "cleanup.policy": None}})
        configs = (await admin.describe_configs([orders]))[orders]
        assert_type(configs["retention.ms"], DescribedConfig)
        groups = await admin.list_groups(types=["consumer"])
        found = await admin.list_group_offsets(group.id for group in groups)
        assert_type(found, Results[str, dict[TopicPartition, OffsetAndMetadata]])


def administer_without_a_loop() -> None:
    with sync.Admin(bootstrap_servers="127.0.0.1:9092", security_protocol="SSL") as admin:
        assert_type(admin.create_topic("orders", partitions=3), CreatedTopic)
        assert_type(admin.describe_topic("orders").partitions[0].leader, int | None)
        assert_type(admin.list_topics(include_internal=False), dict[str, TopicDescription])
        admin.create_topic(partitions=3)  # type: ignore[call-arg]
