"""Access control entries, the resources they are for, and filters over them.

The codes are Kafka's. A code that this version does not know is read as UNKNOWN, which matches
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from ottla.model import ErrorCode, Uuid
from ottla.wire.stored.cluster_metadata.security import AccessControlEntryRecord

ANY_NAME: Final = "*"
ANY_HOST: Final = "*"
# Matches every principal, also those of other types.
ANY_PRINCIPAL: Final = "User:*"
# The only resource of type CLUSTER.
CLUSTER_NAME: Final = "kafka-cluster"


class ResourceType(IntEnum):
    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7

    # Enums hash by name, in Python code; authorization checks use these as keys.
    __hash__ = int.__hash__

    @classmethod
    def _missing_(cls, value: object) -> ResourceType:  # noqa: ARG003 - any other value
        return cls.UNKNOWN


class AclOperation(IntEnum):
    """The codes are also the bit positions of authorized operations."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15

    __hash__ = int.__hash__

    @classmethod
    def _missing_(cls, value: object) -> AclOperation:  # noqa: ARG003 - any other value
        return cls.UNKNOWN


class PatternType(IntEnum):
    """ANY and MATCH are for filters only."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4

    @classmethod
    def _missing_(cls, value: object) -> PatternType:  # noqa: ARG003 - any other value
        return cls.UNKNOWN


class Permission(IntEnum):
    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3

    @classmethod
    def _missing_(cls, value: object) -> Permission:  # noqa: ARG003 - any other value
        return cls.UNKNOWN


# The operations whose ALLOW entries also allow another one. DENY entries imply nothing.
IMPLIED_BY: Final[Mapping[AclOperation, frozenset[AclOperation]]] = {
    AclOperation.DESCRIBE: frozenset(
        {AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER}
    ),
    AclOperation.DESCRIBE_CONFIGS: frozenset({AclOperation.ALTER_CONFIGS}),
}
_NOTHING: Final[frozenset[AclOperation]] = frozenset()

SUPPORTED_OPERATIONS: Final[Mapping[ResourceType, tuple[AclOperation, ...]]] = {
    ResourceType.TOPIC: (
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.CREATE,
        AclOperation.DELETE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
    ),
    ResourceType.GROUP: (
        AclOperation.READ,
        AclOperation.DELETE,
        AclOperation.DESCRIBE,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
    ),
    ResourceType.CLUSTER: (
        AclOperation.CREATE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        AclOperation.CLUSTER_ACTION,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
        AclOperation.IDEMPOTENT_WRITE,
    ),
    ResourceType.TRANSACTIONAL_ID: (
        AclOperation.WRITE,
        AclOperation.DESCRIBE,
        AclOperation.TWO_PHASE_COMMIT,
    ),
    ResourceType.DELEGATION_TOKEN: (AclOperation.DESCRIBE,),
    ResourceType.USER: (AclOperation.CREATE_TOKENS, AclOperation.DESCRIBE_TOKENS),
}

AUTHORIZATION_ERRORS: Final[Mapping[ResourceType, ErrorCode]] = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ResourceType.DELEGATION_TOKEN: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    # Rights on users are needed only for their tokens.
    ResourceType.USER: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
}


class ResourcePattern(NamedTuple):
    """The resources of a type that an entry is for: one, all, or those with a prefix."""

    resource_type: ResourceType
    name: str
    pattern_type: PatternType = PatternType.LITERAL

    def matches(self, name: str) -> bool:
        if self.pattern_type is PatternType.PREFIXED:
            return name.startswith(self.name)
        return self.pattern_type is PatternType.LITERAL and self.name in (name, ANY_NAME)


class AccessControlEntry(NamedTuple):
    principal: str
    host: str
    operation: AclOperation
    permission: Permission

    def applies(self, host: str, operation: AclOperation) -> bool:
        """Whether the entry decides about an operation from that host, given its principal."""
        if self.host not in (ANY_HOST, host):
            return False
        if self.operation in (operation, AclOperation.ALL):
            return True
        is_implied = self.operation in IMPLIED_BY.get(operation, _NOTHING)
        return is_implied and self.permission is Permission.ALLOW


class AclBinding(NamedTuple):
    pattern: ResourcePattern
    entry: AccessControlEntry

    @classmethod
    def of_record(cls, record: AccessControlEntryRecord) -> AclBinding:
        return cls(
            ResourcePattern(
                ResourceType(record.resource_type),
                record.resource_name,
                PatternType(record.pattern_type),
            ),
            AccessControlEntry(
                record.principal,
                record.host,
                AclOperation(record.operation),
                Permission(record.permission_type),
            ),
        )

    def to_record(self, acl_id: Uuid) -> AccessControlEntryRecord:
        return AccessControlEntryRecord(
            id=acl_id,
            resource_type=self.pattern.resource_type,
            resource_name=self.pattern.name,
            pattern_type=self.pattern.pattern_type,
            principal=self.entry.principal,
            host=self.entry.host,
            operation=self.entry.operation,
            permission_type=self.entry.permission,
        )
