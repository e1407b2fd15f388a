"""What requests of administrators need. The controller listener serves some of them too."""

from __future__ import annotations

from typing import Final

from ottla.model import ErrorCode
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.wire.apis import ApiKey
from ottla.wire.messages import (
    add_raft_voter,
    alter_configs,
    alter_partition_reassignments,
    alter_replica_log_dirs,
    alter_user_scram_credentials,
    create_acls,
    create_delegation_token,
    create_partitions,
    create_topics,
    delete_acls,
    delete_topics,
    describe_acls,
    describe_client_quotas,
    describe_configs,
    describe_log_dirs,
    describe_quorum,
    describe_user_scram_credentials,
    elect_leaders,
    incremental_alter_configs,
    list_config_resources,
    list_partition_reassignments,
    remove_raft_voter,
    unregister_broker,
    update_features,
)
from ottla.wire.schema import Message
from tests.support.authorization.authorized_api import (
    ERROR_CODE,
    GROUP,
    NEW_TOPIC,
    TOPIC,
    USER,
    AuthorizedApi,
    Needed,
    cluster,
    on_cluster,
    on_group,
    on_topic,
)
from tests.support.authorization.data_apis import TOPICS
from tests.support.nodes.one_node import NODE_ID, OneNode
from tests.support.quotas.quota_changes import quota_change

ALTER, CREATE, DELETE, DESCRIBE = (
    AclOperation.ALTER,
    AclOperation.CREATE,
    AclOperation.DELETE,
    AclOperation.DESCRIBE,
)
ALTER_CONFIGS, DESCRIBE_CONFIGS = AclOperation.ALTER_CONFIGS, AclOperation.DESCRIBE_CONFIGS
RESPONSES: Final = "responses.error_code"
RESULTS: Final = "results.error_code"
TOPIC_RESOURCE, BROKER_RESOURCE, LOGGER_RESOURCE, GROUP_RESOURCE = 2, 4, 8, 32
_NO_NODE: Final = 99
_UNREGISTERED: Final = frozenset({ErrorCode.BROKER_ID_NOT_REGISTERED})


def _create_topics(_node: OneNode) -> Message:
    topic = create_topics.CreatableTopic(name=NEW_TOPIC, num_partitions=1, replication_factor=1)
    return create_topics.CreateTopicsRequest(topics=[topic])


def _delete_topics(_node: OneNode) -> Message:
    return delete_topics.DeleteTopicsRequest(topics=[delete_topics.DeleteTopicState(name=TOPIC)])


def _delete_topics_by_id(node: OneNode) -> Message:
    topic = delete_topics.DeleteTopicState(topic_id=node.image.topics.by_name[TOPIC].id)
    return delete_topics.DeleteTopicsRequest(topics=[topic])


def _create_partitions(_node: OneNode) -> Message:
    topic = create_partitions.CreatePartitionsTopic(name=TOPIC, count=3, assignments=None)
    return create_partitions.CreatePartitionsRequest(topics=[topic], timeout_ms=1_000)


def _describe_configs(kind: int, name: str) -> Message:
    resource = describe_configs.DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=None
    )
    return describe_configs.DescribeConfigsRequest(resources=[resource])


def _alter_configs(kind: int, name: str, config: str, value: str) -> Message:
    resource = alter_configs.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[alter_configs.AlterableConfig(name=config, value=value)],
    )
    return alter_configs.AlterConfigsRequest(resources=[resource])


def _increment(kind: int, name: str, config: str, value: str) -> Message:
    resource = incremental_alter_configs.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[incremental_alter_configs.AlterableConfig(name=config, value=value)],
    )
    return incremental_alter_configs.IncrementalAlterConfigsRequest(resources=[resource])


def _move_replica(_node: OneNode) -> Message:
    topic = alter_replica_log_dirs.AlterReplicaLogDirTopic(name=TOPIC, partitions=[0])
    directory = alter_replica_log_dirs.AlterReplicaLogDir(path="/data", topics=[topic])
    return alter_replica_log_dirs.AlterReplicaLogDirsRequest(dirs=[directory])


def _create_acls(_node: OneNode) -> Message:
    creation = create_acls.AclCreation(
        resource_type=ResourceType.TOPIC,
        resource_name=TOPIC,
        principal=USER,
        host="*",
        operation=AclOperation.READ,
        permission_type=3,
    )
    return create_acls.CreateAclsRequest(creations=[creation])


def _delete_acls(_node: OneNode) -> Message:
    unknown = delete_acls.DeleteAclsFilter(
        resource_type_filter=ResourceType.TOPIC,
        resource_name_filter="unknown",
        operation=AclOperation.ANY,
        permission_type=1,
    )
    return delete_acls.DeleteAclsRequest(filters=[unknown])


def _describe_acls(_node: OneNode) -> Message:
    return describe_acls.DescribeAclsRequest(
        resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1
    )


def _create_token(_node: OneNode) -> Message:
    kind, _, name = USER.partition(":")
    return create_delegation_token.CreateDelegationTokenRequest(
        owner_principal_type=kind, owner_principal_name=name, max_lifetime_ms=-1
    )


def _elect_leaders(_node: OneNode) -> Message:
    partitions = elect_leaders.TopicPartitions(topic=TOPIC, partitions=[0])
    return elect_leaders.ElectLeadersRequest(topic_partitions=[partitions])


def _reassign(_node: OneNode) -> Message:
    partition = alter_partition_reassignments.ReassignablePartition(replicas=[NODE_ID])
    topic = alter_partition_reassignments.ReassignableTopic(name=TOPIC, partitions=[partition])
    return alter_partition_reassignments.AlterPartitionReassignmentsRequest(topics=[topic])


def _set_credential(_node: OneNode) -> Message:
    upsertion = alter_user_scram_credentials.ScramCredentialUpsertion(
        name="bob", mechanism=1, iterations=4096, salt=b"salt", salted_password=bytes(32)
    )
    return alter_user_scram_credentials.AlterUserScramCredentialsRequest(upsertions=[upsertion])


def _describe_quorum(_node: OneNode) -> Message:
    topic = describe_quorum.DescribeQuorumRequestTopicData(
        topic_name="__cluster_metadata",
        partitions=[describe_quorum.DescribeQuorumRequestPartitionData()],
    )
    return describe_quorum.DescribeQuorumRequest(topics=[topic])


def _update_features(_node: OneNode) -> Message:
    update = update_features.FeatureUpdateKey(
        feature="transaction.version", max_version_level=1, upgrade_type=2
    )
    return update_features.UpdateFeaturesRequest(feature_updates=[update])


ADMIN_APIS: Final = (
    AuthorizedApi(
        ApiKey.CREATE_TOPICS,
        _create_topics,
        (
            on_topic(CREATE, TOPICS, name=NEW_TOPIC, others=(cluster(CREATE),)),
            Needed(
                (DESCRIBE_CONFIGS, ResourceType.TOPIC, NEW_TOPIC),
                ErrorCode.TOPIC_AUTHORIZATION_FAILED,
                ("topics.topic_config_error_code",),
                has_effect=True,
            ),
        ),
    ),
    AuthorizedApi(
        ApiKey.DELETE_TOPICS,
        _delete_topics,
        (
            on_topic(DESCRIBE, RESPONSES, others=(cluster(DELETE),)),
            on_topic(DELETE, RESPONSES, others=(cluster(DELETE),)),
        ),
    ),
    AuthorizedApi(
        ApiKey.DELETE_TOPICS,
        _delete_topics_by_id,
        (on_topic(DELETE, RESPONSES, others=(cluster(DELETE),)),),
        name="by id",
    ),
    AuthorizedApi(ApiKey.CREATE_PARTITIONS, _create_partitions, (on_topic(ALTER, RESULTS),)),
    AuthorizedApi(
        ApiKey.DESCRIBE_CONFIGS,
        lambda _node: _describe_configs(TOPIC_RESOURCE, TOPIC),
        (on_topic(DESCRIBE_CONFIGS, RESULTS),),
    ),
    AuthorizedApi(
        ApiKey.DESCRIBE_CONFIGS,
        lambda _node: _describe_configs(BROKER_RESOURCE, str(NODE_ID)),
        (on_cluster(DESCRIBE_CONFIGS, RESULTS),),
        name="of a broker",
    ),
    AuthorizedApi(
        ApiKey.DESCRIBE_CONFIGS,
        lambda _node: _describe_configs(LOGGER_RESOURCE, str(NODE_ID)),
        (on_cluster(DESCRIBE_CONFIGS, RESULTS),),
        name="of loggers",
    ),
    AuthorizedApi(
        ApiKey.DESCRIBE_CONFIGS,
        lambda _node: _describe_configs(GROUP_RESOURCE, GROUP),
        (on_group(DESCRIBE_CONFIGS, RESULTS),),
        name="of a group",
    ),
    AuthorizedApi(
        ApiKey.ALTER_CONFIGS,
        lambda _node: _alter_configs(TOPIC_RESOURCE, TOPIC, "retention.ms", "1234"),
        (on_topic(ALTER_CONFIGS, RESPONSES),),
    ),
    AuthorizedApi(
        ApiKey.ALTER_CONFIGS,
        lambda _node: _alter_configs(BROKER_RESOURCE, str(NODE_ID), "log.retention.ms", "1234"),
        (on_cluster(ALTER_CONFIGS, RESPONSES),),
        name="of a broker",
    ),
    AuthorizedApi(
        ApiKey.ALTER_CONFIGS,
        lambda _node: _alter_configs(
            GROUP_RESOURCE, GROUP, "consumer.heartbeat.interval.ms", "5000"
        ),
        (on_group(ALTER_CONFIGS, RESPONSES),),
        name="of a group",
    ),
    AuthorizedApi(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        lambda _node: _increment(TOPIC_RESOURCE, TOPIC, "retention.ms", "1234"),
        (on_topic(ALTER_CONFIGS, RESPONSES),),
    ),
    AuthorizedApi(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        lambda _node: _increment(BROKER_RESOURCE, "", "log.retention.ms", "1234"),
        (on_cluster(ALTER_CONFIGS, RESPONSES),),
        name="of all brokers",
    ),
    AuthorizedApi(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        lambda _node: _increment(GROUP_RESOURCE, GROUP, "consumer.heartbeat.interval.ms", "5000"),
        (on_group(ALTER_CONFIGS, RESPONSES),),
        name="of a group",
    ),
    AuthorizedApi(
        ApiKey.CREATE_ACLS,
        _create_acls,
        (on_cluster(ALTER, RESULTS),),
    ),
    AuthorizedApi(
        ApiKey.DELETE_ACLS,
        _delete_acls,
        (on_cluster(ALTER, "filter_results.error_code"),),
    ),
    AuthorizedApi(ApiKey.DESCRIBE_ACLS, _describe_acls, (on_cluster(DESCRIBE),)),
    AuthorizedApi(
        ApiKey.CREATE_DELEGATION_TOKEN,
        _create_token,
        (
            Needed(
                (AclOperation.CREATE_TOKENS, ResourceType.USER, USER),
                ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
            ),
        ),
    ),
    AuthorizedApi(
        ApiKey.ELECT_LEADERS,
        _elect_leaders,
        (on_cluster(ALTER, ERROR_CODE, "replica_election_results.partition_result.error_code"),),
        served=frozenset({ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED}),
    ),
    AuthorizedApi(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        _reassign,
        (on_cluster(ALTER, ERROR_CODE, "responses.partitions.error_code"),),
    ),
    AuthorizedApi(
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        lambda _node: list_partition_reassignments.ListPartitionReassignmentsRequest(),
        (on_cluster(DESCRIBE),),
    ),
    AuthorizedApi(
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS, _set_credential, (on_cluster(ALTER, RESULTS),)
    ),
    AuthorizedApi(
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        lambda _node: describe_user_scram_credentials.DescribeUserScramCredentialsRequest(),
        (on_cluster(DESCRIBE),),
    ),
    AuthorizedApi(
        ApiKey.ALTER_CLIENT_QUOTAS,
        lambda _node: quota_change({"user": "bob"}, {"producer_byte_rate": 1_000}),
        (on_cluster(ALTER_CONFIGS, "entries.error_code"),),
    ),
    AuthorizedApi(ApiKey.DESCRIBE_QUORUM, _describe_quorum, (on_cluster(DESCRIBE),)),
    AuthorizedApi(ApiKey.UPDATE_FEATURES, _update_features, (on_cluster(ALTER),)),
    AuthorizedApi(
        ApiKey.UNREGISTER_BROKER,
        lambda _node: unregister_broker.UnregisterBrokerRequest(broker_id=_NO_NODE),
        (on_cluster(ALTER),),
        served=_UNREGISTERED,
    ),
    AuthorizedApi(
        ApiKey.ADD_RAFT_VOTER,
        lambda _node: add_raft_voter.AddRaftVoterRequest(voter_id=_NO_NODE),
        (on_cluster(ALTER),),
        served=None,
    ),
    AuthorizedApi(
        ApiKey.REMOVE_RAFT_VOTER,
        lambda _node: remove_raft_voter.RemoveRaftVoterRequest(voter_id=_NO_NODE),
        (on_cluster(ALTER),),
        served=None,
    ),
)
BROKER_ADMIN_APIS: Final = (
    AuthorizedApi(
        ApiKey.DESCRIBE_CLIENT_QUOTAS,
        lambda _node: describe_client_quotas.DescribeClientQuotasRequest(),
        (on_cluster(DESCRIBE_CONFIGS),),
    ),
    AuthorizedApi(
        ApiKey.DESCRIBE_LOG_DIRS,
        lambda _node: describe_log_dirs.DescribeLogDirsRequest(topics=None),
        (on_cluster(DESCRIBE),),
    ),
    AuthorizedApi(
        ApiKey.ALTER_REPLICA_LOG_DIRS,
        _move_replica,
        (on_cluster(ALTER, "results.partitions.error_code"),),
    ),
    AuthorizedApi(
        ApiKey.LIST_CONFIG_RESOURCES,
        lambda _node: list_config_resources.ListConfigResourcesRequest(),
        (on_cluster(DESCRIBE_CONFIGS),),
    ),
    AuthorizedApi(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        lambda _node: _increment(LOGGER_RESOURCE, str(NODE_ID), "root", "INFO"),
        (on_cluster(ALTER_CONFIGS, RESPONSES),),
        name="of loggers",
    ),
)
CONTROLLER_ADMIN_APIS: Final = (
    AuthorizedApi(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        lambda _node: _increment(LOGGER_RESOURCE, str(NODE_ID), "root", "INFO"),
        (on_cluster(AclOperation.CLUSTER_ACTION, RESPONSES),),
        name="of loggers",
    ),
)
