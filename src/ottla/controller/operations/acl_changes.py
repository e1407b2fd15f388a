"""What creating and deleting access control entries have in common."""

from __future__ import annotations

from typing import Final

from ottla.configs import NodeConfig
from ottla.controller.operation import Context
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.transactions import NoOpRecord

# Kafka's limit for the records of one request.
ACL_CHANGES_MAX: Final = 10_000


def check_acl_changes(context: Context) -> None:
    """Raises KafkaError if the sender of a request may not change the entries."""
    context.rights.require(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME)
    require_authorizer(context.node)


def confirmed(records: list[Message]) -> list[Message]:
    """The records, or one that changes nothing.

    Without a record the response would be sent at once: by a controller that was deposed and does
    not know it yet, which may lack an entry that it reports as deleted. It cannot commit a record.
    """
    return records or [NoOpRecord()]


def require_authorizer(node: NodeConfig) -> None:
    if not node.authorizer_class_name:
        raise KafkaError(
            ErrorCode.SECURITY_DISABLED,
            "this node has no authorizer, so there are no ACLs; set authorizer.class.name",
        )


def invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
