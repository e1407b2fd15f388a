"""Authorized operations of resources, as bit fields. Without ACLs, all operations are allowed."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class AclOperation(IntEnum):
    """Kafka's operation codes, which are also the bit positions."""

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


def _bits(*operations: AclOperation) -> int:
    return sum(1 << operation for operation in operations)


NOT_REQUESTED: Final = -(2**31)

TOPIC_OPERATIONS: Final = _bits(
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.CREATE,
    AclOperation.DELETE,
    AclOperation.ALTER,
    AclOperation.DESCRIBE,
    AclOperation.DESCRIBE_CONFIGS,
    AclOperation.ALTER_CONFIGS,
)
GROUP_OPERATIONS: Final = _bits(
    AclOperation.READ,
    AclOperation.DELETE,
    AclOperation.DESCRIBE,
    AclOperation.DESCRIBE_CONFIGS,
    AclOperation.ALTER_CONFIGS,
)
CLUSTER_OPERATIONS: Final = _bits(
    AclOperation.CREATE,
    AclOperation.ALTER,
    AclOperation.DESCRIBE,
    AclOperation.CLUSTER_ACTION,
    AclOperation.DESCRIBE_CONFIGS,
    AclOperation.ALTER_CONFIGS,
    AclOperation.IDEMPOTENT_WRITE,
)
