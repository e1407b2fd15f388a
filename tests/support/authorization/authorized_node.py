"""A node with an authorizer, and a client that may do what its ACLs allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ottla.security.acls.acl import AclBinding
from ottla.security.acls.rights import Rights
from ottla.security.principal import Principal
from ottla.wire.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.schema import Message, Struct
from tests.support.authorization.authorized_api import TOPIC, TRANSACTIONAL_ID, Allowed
from tests.support.authorization.group_apis import commit_offset, find
from tests.support.authorization.transaction_apis import init_producer
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.security.acls import ALICE, AUTHORIZER_CLASS, HOST, acl

CONFIGS: Final = {
    "authorizer.class.name": AUTHORIZER_CLASS,
    "super.users": "User:admin",
    "delegation.token.secret.key": "a secret of all nodes",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}


def start_authorized_node(start_node: StartNode) -> OneNode:
    """With a topic with one record, a group with a committed offset, and a transactional id."""
    node = start_node(configs=CONFIGS)
    node.create_topic(TOPIC, partitions=2)
    node.send_request(find(0), 6)
    node.send_request(find(1, TRANSACTIONAL_ID), 6)
    assert node.send_request(init_producer(node), 5).error_code == 0
    node.send_request(commit_offset(node), 9)
    return node


def allow(node: OneNode, *acls: AclBinding) -> None:
    """Adds ACLs through the controller, as an administrator does."""
    request = CreateAclsRequest(
        creations=[
            AclCreation(
                resource_type=pattern.resource_type,
                resource_name=pattern.name,
                resource_pattern_type=pattern.pattern_type,
                principal=entry.principal,
                host=entry.host,
                operation=entry.operation,
                permission_type=entry.permission,
            )
            for pattern, entry in acls
        ]
    )
    response = node.send_request(request, 3)
    assert [each.error_code for each in response.results] == [0] * len(acls)


def allowing(*rights: Allowed) -> list[AclBinding]:
    return [acl(*right) for right in rights]


def rights_of(node: OneNode, principal: Principal = ALICE, host: str = HOST) -> Rights:
    return node.broker.authorizer.rights_of(principal, host)


def effects(node: OneNode) -> Any:
    """What requests change: the metadata, the logs and the groups."""
    logs = {
        each.name: (each.require_log().log_start_offset, each.require_log().log_end_offset)
        for each in node.broker.partitions
    }
    groups = node.send_request(ListGroupsRequest(), 5).groups
    states = sorted((group.group_id, group.group_type, group.group_state) for group in groups)
    return node.controller.quorum.log.log_end_offset, logs, states


def error_codes(response: Message) -> dict[str, set[int]]:
    """The error codes in a response, by the path of their field."""
    found: dict[str, set[int]] = {}
    for path, code in _error_codes(response, ""):
        found.setdefault(path, set()).add(code)
    return found


def _error_codes(message: Struct, path: str) -> Iterator[tuple[str, int]]:
    for name in message.field_options:
        value = getattr(message, name)
        if name.endswith("error_code"):
            yield f"{path}{name}", value
        elif isinstance(value, Struct):
            yield from _error_codes(value, f"{path}{name}.")
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, Struct):
                    yield from _error_codes(each, f"{path}{name}.")
