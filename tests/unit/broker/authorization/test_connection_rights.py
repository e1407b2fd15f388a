"""A connection's requests have the rights of its session, as they are at the time."""

from __future__ import annotations

from ottla.broker.control.authorizer import Authorizer
from ottla.model import ErrorCode
from ottla.security.acls.acl import AclOperation, Permission, ResourceType
from ottla.security.principal import ANONYMOUS
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from ottla.wire.requests import decode_response
from tests.support.authorization.authorized_api import TOPIC
from tests.support.authorization.authorized_node import (
    CONFIGS,
    allow,
    allowing,
    rights_of,
)
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.nodes.wire_connection import framed
from tests.support.security.acls import acl

VERSION = 13


def error_of(client: ClientStream) -> int:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
    client.feed(framed(request, VERSION, correlation_id=1))
    (answer,) = client.answers()
    _, response = decode_response(answer, 3, VERSION)
    assert isinstance(response, MetadataResponse)
    return response.topics[0].error_code


def test_changed_acls_hold_for_the_next_request(start_node: StartNode) -> None:
    node = start_node(configs=CONFIGS)
    node.create_topic(TOPIC)
    client, elsewhere = ClientStream(node), ClientStream(node, host="192.0.2.9")
    assert error_of(client) == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    describe = (AclOperation.DESCRIBE, ResourceType.TOPIC, TOPIC)
    allow(node, acl(*describe, principal=str(ANONYMOUS), host="192.0.2.1"))
    assert error_of(client) == 0
    assert error_of(elsewhere) == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    allow(node, acl(*describe, principal=str(ANONYMOUS), permission=Permission.DENY))
    assert error_of(client) == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    client.end()
    elsewhere.end()


def test_acls_are_known_after_a_restart(start_node: StartNode) -> None:
    node = start_node(configs=CONFIGS)
    allow(node, *allowing((AclOperation.DESCRIBE, ResourceType.TOPIC, TOPIC)))
    node = start_node(node.crash(), configs=CONFIGS)
    assert rights_of(node).allows(AclOperation.DESCRIBE, ResourceType.TOPIC, TOPIC)
    assert not rights_of(node).allows(AclOperation.READ, ResourceType.TOPIC, TOPIC)


def test_without_an_authorizer_everything_is_allowed(node: OneNode) -> None:
    rights = node.broker.authorizer.rights_of(ANONYMOUS, "::1")
    assert (rights.is_unrestricted, rights.host) == (True, "0:0:0:0:0:0:0:1")
    assert isinstance(node.broker.authorizer, Authorizer)
