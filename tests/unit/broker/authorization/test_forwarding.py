"""Requests in an envelope have the rights of the client, not of the node that forwards them."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.model import ErrorCode
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Rights
from ottla.security.client_host import encode_host
from ottla.security.principal import Principal, encode_principal
from ottla.wire.apis import ApiKey
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.envelope import EnvelopeRequest
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from ottla.wire.requests import decode_response
from ottla.wire.schema import Message
from tests.support.authorization.authorized_api import NEW_TOPIC, cluster
from tests.support.authorization.authorized_node import (
    CONFIGS,
    allow,
    allowing,
    rights_of,
)
from tests.support.authorization.node_apis import enveloped
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.security.acls import ALICE, HOST, acl

BROKER = Principal("User", "broker")
CREATION = CreateTopicsRequest(
    topics=[CreatableTopic(name=NEW_TOPIC, num_partitions=1, replication_factor=1)]
)


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    """Only the broker may forward requests."""
    node = start_node(configs=CONFIGS)
    operation, resource_type, name = cluster(AclOperation.CLUSTER_ACTION)
    allow(node, acl(operation, resource_type, name, principal=str(BROKER)))
    return node


def broker_rights(node: OneNode) -> Rights:
    return rights_of(node, BROKER)


def of_alice(request: Message, host: str = HOST) -> EnvelopeRequest:
    return enveloped(request, encode_principal(ALICE), encode_host(host))


def forward(node: OneNode, envelope: EnvelopeRequest, request: Message) -> Any:
    """The response to the request in an envelope."""
    answer = node.send_to_controller(envelope, 0, rights=broker_rights(node))
    assert answer.error_code == 0
    assert request.api_key is not None
    _, response = decode_response(answer.response_data, request.api_key, request.versions.highest)
    return response


def test_client_needs_the_rights_and_not_the_broker(node: OneNode) -> None:
    (refused,) = forward(node, of_alice(CREATION), CREATION).topics
    assert refused.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    allow(node, acl(AclOperation.CREATE, ResourceType.TOPIC, NEW_TOPIC, host=HOST))
    elsewhere = of_alice(CREATION, "10.0.0.2")
    (refused,) = forward(node, elsewhere, CREATION).topics
    assert refused.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    (created,) = forward(node, of_alice(CREATION), CREATION).topics
    assert created.error_code == 0


def test_refused_request_as_a_whole_is_no_error_of_the_envelope(node: OneNode) -> None:
    request = UnregisterBrokerRequest(broker_id=7)
    response = forward(node, of_alice(request), request)
    assert response.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def test_request_without_a_principal_has_the_rights_of_the_node(node: OneNode) -> None:
    (refused,) = forward(node, enveloped(CREATION), CREATION).topics
    assert refused.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    allow(
        node,
        acl(AclOperation.CREATE, ResourceType.TOPIC, NEW_TOPIC, principal=str(BROKER)),
    )
    (created,) = forward(node, enveloped(CREATION), CREATION).topics
    assert created.error_code == 0


def test_client_cannot_forward_requests_even_as_a_super_user(node: OneNode) -> None:
    allow(node, *allowing(cluster(AclOperation.ALTER), cluster(AclOperation.CREATE)))
    posing = enveloped(CREATION, encode_principal(Principal("User", "admin")), encode_host(HOST))
    answer = node.send_to_controller(posing, 0, rights=rights_of(node))
    assert answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert answer.response_data is None
    assert NEW_TOPIC not in node.image.topics.by_name


@pytest.mark.parametrize(
    ("envelope", "error"),
    [
        (enveloped(CREATION, b"x", b""), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        (enveloped(CREATION, encode_principal(ALICE), b"x"), ErrorCode.INVALID_REQUEST),
        (of_alice(BrokerRegistrationRequest()), ErrorCode.INVALID_REQUEST),
        (
            EnvelopeRequest(request_data=b"\0", request_principal=None),
            ErrorCode.UNSUPPORTED_VERSION,
        ),
        (
            EnvelopeRequest(request_data=of_alice(CREATION).request_data[:-3]),
            ErrorCode.UNSUPPORTED_VERSION,
        ),
    ],
)
def test_envelopes_that_cannot_be_read_are_refused(
    node: OneNode, envelope: EnvelopeRequest, error: ErrorCode
) -> None:
    answer = node.send_to_controller(envelope, 0, rights=broker_rights(node))
    assert (answer.error_code, answer.response_data) == (error, None)


def test_decisions_are_reported_once_with_the_client(node: OneNode) -> None:
    decisions: list[tuple[Any, ...]] = []
    node.broker.authorizer.on_decision = lambda *decision: decisions.append(decision)
    request = UnregisterBrokerRequest(broker_id=7)
    assert node.broker.apis[ApiKey.UNREGISTER_BROKER]
    rights = rights_of(node)
    for _ in range(2):
        node.send_request(request, 0, rights=rights)
    (decision,) = decisions
    assert decision == (
        ALICE,
        HOST,
        AclOperation.ALTER,
        (ResourceType.CLUSTER, "kafka-cluster"),
        False,
    )
