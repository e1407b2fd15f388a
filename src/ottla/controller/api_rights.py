"""The rights that the controller checks, by API: each API that it handles declares them here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import NO_RIGHTS, Right
from ottla.wire.apis import ApiKey

# The operation on the cluster that these requests need as a whole: `ControllerService` requires it.
CLUSTER_OPERATIONS: Final[Mapping[int, AclOperation]] = {
    # Of other nodes: a client cannot pose as one.
    ApiKey.VOTE: AclOperation.CLUSTER_ACTION,
    ApiKey.BEGIN_QUORUM_EPOCH: AclOperation.CLUSTER_ACTION,
    ApiKey.END_QUORUM_EPOCH: AclOperation.CLUSTER_ACTION,
    ApiKey.FETCH: AclOperation.CLUSTER_ACTION,
    ApiKey.FETCH_SNAPSHOT: AclOperation.CLUSTER_ACTION,
    ApiKey.UPDATE_RAFT_VOTER: AclOperation.CLUSTER_ACTION,
    ApiKey.CONTROLLER_REGISTRATION: AclOperation.CLUSTER_ACTION,
    ApiKey.BROKER_REGISTRATION: AclOperation.CLUSTER_ACTION,
    ApiKey.BROKER_HEARTBEAT: AclOperation.CLUSTER_ACTION,
    ApiKey.ALTER_PARTITION: AclOperation.CLUSTER_ACTION,
    ApiKey.ALLOCATE_PRODUCER_IDS: AclOperation.CLUSTER_ACTION,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: AclOperation.CLUSTER_ACTION,
    # Of administrators.
    ApiKey.ADD_RAFT_VOTER: AclOperation.ALTER,
    ApiKey.REMOVE_RAFT_VOTER: AclOperation.ALTER,
    ApiKey.UNREGISTER_BROKER: AclOperation.ALTER,
    ApiKey.UPDATE_FEATURES: AclOperation.ALTER,
    ApiKey.DESCRIBE_QUORUM: AclOperation.DESCRIBE,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: AclOperation.DESCRIBE,
}

_ALTER_CLUSTER: Final = (Right(AclOperation.ALTER, ResourceType.CLUSTER),)
_ALTER_QUOTAS: Final = (Right(AclOperation.ALTER_CONFIGS, ResourceType.CLUSTER),)
_ALTER_CONFIGS: Final = (
    Right(AclOperation.ALTER_CONFIGS, ResourceType.TOPIC),
    Right(AclOperation.ALTER_CONFIGS, ResourceType.CLUSTER),
    Right(AclOperation.ALTER_CONFIGS, ResourceType.GROUP),
)
# Of CreateTopics, on the deleted topic that it restores.
UNDELETE_RIGHTS: Final = (
    Right(AclOperation.DESCRIBE, ResourceType.TOPIC),
    Right(AclOperation.DELETE, ResourceType.TOPIC),
    Right(AclOperation.DELETE, ResourceType.CLUSTER),
    Right(AclOperation.READ, ResourceType.TOPIC),
)
RIGHTS: Final[Mapping[int, tuple[Right, ...]]] = {
    **{
        key: (Right(operation, ResourceType.CLUSTER),)
        for key, operation in CLUSTER_OPERATIONS.items()
    },
    # The operations check these themselves: for each topic, resource, entry or token.
    ApiKey.CREATE_TOPICS: (
        Right(AclOperation.CREATE, ResourceType.TOPIC),
        Right(AclOperation.CREATE, ResourceType.CLUSTER),
        Right(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC),
        *UNDELETE_RIGHTS,
    ),
    ApiKey.DELETE_TOPICS: (
        Right(AclOperation.DESCRIBE, ResourceType.TOPIC),
        Right(AclOperation.DELETE, ResourceType.CLUSTER),
        Right(AclOperation.DELETE, ResourceType.TOPIC),
    ),
    ApiKey.CREATE_PARTITIONS: (Right(AclOperation.ALTER, ResourceType.TOPIC),),
    ApiKey.ALTER_CONFIGS: _ALTER_CONFIGS,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _ALTER_CONFIGS,
    ApiKey.ELECT_LEADERS: _ALTER_CLUSTER,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _ALTER_CLUSTER,
    ApiKey.CREATE_ACLS: _ALTER_CLUSTER,
    ApiKey.DELETE_ACLS: _ALTER_CLUSTER,
    ApiKey.ALTER_CLIENT_QUOTAS: _ALTER_QUOTAS,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _ALTER_CLUSTER,
    ApiKey.CREATE_DELEGATION_TOKEN: (Right(AclOperation.CREATE_TOKENS, ResourceType.USER),),
    # Only the owner and the renewers of a token may do these.
    ApiKey.RENEW_DELEGATION_TOKEN: NO_RIGHTS,
    ApiKey.EXPIRE_DELEGATION_TOKEN: NO_RIGHTS,
}
