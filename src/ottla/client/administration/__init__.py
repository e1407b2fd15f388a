"""`Admin`: what an operator may ask of a cluster, one module per noun.

Values and arguments are frozen. A method for many items returns `Results`, with the value or the
error of each; a method for one item raises.
"""

from typing import TYPE_CHECKING

from ottla.exports import lazy_names

if TYPE_CHECKING:
    from ottla.client.administration.acls import EVERY_ACL, exact_filter
    from ottla.client.administration.admin import Admin
    from ottla.client.administration.cluster import (
        BrokerDescription,
        ClusterDescription,
        FeaturesDescription,
        FeatureUpgrade,
        FeatureVersions,
    )
    from ottla.client.administration.configs import DescribedConfig
    from ottla.client.administration.groups import GroupDescription, ListedGroup, MemberDescription
    from ottla.client.administration.log_dirs import LogDir, LogDirReplica
    from ottla.client.administration.offsets import ListedOffset, OffsetSpec
    from ottla.client.administration.placement import ElectedLeader, LeaderElection, Reassignment
    from ottla.client.administration.quorum import DescribedQuorum, QuorumReplica
    from ottla.client.administration.results import Results
    from ottla.client.administration.tokens import TokenDescription
    from ottla.client.administration.topics import (
        CreatedTopic,
        NewTopic,
        PartitionCount,
        TopicDescription,
        TopicPartitionDescription,
    )
    from ottla.client.administration.transactions import (
        ActiveProducer,
        ListedTransaction,
        TransactionDescription,
    )
    from ottla.client.administration.users import ScramCredentialInfo, ScramDeletion, ScramPassword
    from ottla.configs.alteration import ConfigAlteration, ConfigOperation
    from ottla.configs.entry import ConfigSource, ConfigSynonym
    from ottla.configs.resource import ConfigResource, ConfigResourceType
    from ottla.configs.value import ConfigType, Password
    from ottla.model.uuids import Uuid, uuid_from_text, uuid_to_text
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
    from ottla.security.principal import Principal
    from ottla.security.sasl.scram_credential import ScramMechanism
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "AccessControlEntry": "ottla.security.acls.acl",
            "AclBinding": "ottla.security.acls.acl",
            "AclFilter": "ottla.security.acls.acl_filter",
            "AclOperation": "ottla.security.acls.acl",
            "ActiveProducer": "ottla.client.administration.transactions",
            "Admin": "ottla.client.administration.admin",
            "BrokerDescription": "ottla.client.administration.cluster",
            "ClusterDescription": "ottla.client.administration.cluster",
            "ConfigAlteration": "ottla.configs.alteration",
            "ConfigOperation": "ottla.configs.alteration",
            "ConfigResource": "ottla.configs.resource",
            "ConfigResourceType": "ottla.configs.resource",
            "ConfigSource": "ottla.configs.entry",
            "ConfigSynonym": "ottla.configs.entry",
            "ConfigType": "ottla.configs.value",
            "CreatedTopic": "ottla.client.administration.topics",
            "DescribedConfig": "ottla.client.administration.configs",
            "DescribedQuorum": "ottla.client.administration.quorum",
            "EVERY_ACL": "ottla.client.administration.acls",
            "ElectedLeader": "ottla.client.administration.placement",
            "FeatureUpgrade": "ottla.client.administration.cluster",
            "FeatureVersions": "ottla.client.administration.cluster",
            "FeaturesDescription": "ottla.client.administration.cluster",
            "GroupDescription": "ottla.client.administration.groups",
            "LeaderElection": "ottla.client.administration.placement",
            "ListedGroup": "ottla.client.administration.groups",
            "ListedOffset": "ottla.client.administration.offsets",
            "ListedTransaction": "ottla.client.administration.transactions",
            "LogDir": "ottla.client.administration.log_dirs",
            "LogDirReplica": "ottla.client.administration.log_dirs",
            "MemberDescription": "ottla.client.administration.groups",
            "NewTopic": "ottla.client.administration.topics",
            "OffsetSpec": "ottla.client.administration.offsets",
            "PartitionCount": "ottla.client.administration.topics",
            "Password": "ottla.configs.value",
            "PatternType": "ottla.security.acls.acl",
            "Permission": "ottla.security.acls.acl",
            "Principal": "ottla.security.principal",
            "QuorumReplica": "ottla.client.administration.quorum",
            "Reassignment": "ottla.client.administration.placement",
            "ResourcePattern": "ottla.security.acls.acl",
            "ResourceType": "ottla.security.acls.acl",
            "Results": "ottla.client.administration.results",
            "ScramCredentialInfo": "ottla.client.administration.users",
            "ScramDeletion": "ottla.client.administration.users",
            "ScramMechanism": "ottla.security.sasl.scram_credential",
            "ScramPassword": "ottla.client.administration.users",
            "TokenDescription": "ottla.client.administration.tokens",
            "TopicDescription": "ottla.client.administration.topics",
            "TopicPartitionDescription": "ottla.client.administration.topics",
            "TransactionDescription": "ottla.client.administration.transactions",
            "Uuid": "ottla.model.uuids",
            "exact_filter": "ottla.client.administration.acls",
            "uuid_from_text": "ottla.model.uuids",
            "uuid_to_text": "ottla.model.uuids",
        },
    )

__all__ = [
    "EVERY_ACL",
    "AccessControlEntry",
    "AclBinding",
    "AclFilter",
    "AclOperation",
    "ActiveProducer",
    "Admin",
    "BrokerDescription",
    "ClusterDescription",
    "ConfigAlteration",
    "ConfigOperation",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSource",
    "ConfigSynonym",
    "ConfigType",
    "CreatedTopic",
    "DescribedConfig",
    "DescribedQuorum",
    "ElectedLeader",
    "FeatureUpgrade",
    "FeatureVersions",
    "FeaturesDescription",
    "GroupDescription",
    "LeaderElection",
    "ListedGroup",
    "ListedOffset",
    "ListedTransaction",
    "LogDir",
    "LogDirReplica",
    "MemberDescription",
    "NewTopic",
    "OffsetSpec",
    "PartitionCount",
    "Password",
    "PatternType",
    "Permission",
    "Principal",
    "QuorumReplica",
    "Reassignment",
    "ResourcePattern",
    "ResourceType",
    "Results",
    "ScramCredentialInfo",
    "ScramDeletion",
    "ScramMechanism",
    "ScramPassword",
    "TokenDescription",
    "TopicDescription",
    "TopicPartitionDescription",
    "TransactionDescription",
    "Uuid",
    "exact_filter",
    "uuid_from_text",
    "uuid_to_text",
]
