"""Every API on a tenant's listener, with the names and ids of another tenant: neither can see or
affect the other."""

from __future__ import annotations

from typing import Any, Final

import pytest

from ottla.model import Buffer, Uuid
from ottla.tenancy.served_apis import TENANT_APIS
from ottla.wire.apis import ApiKey, response_class
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.describe_cluster import DescribeClusterRequest
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.messages.list_transactions import ListTransactionsRequest
from ottla.wire.schema import Message
from ottla.wire.schema.renaming import renamer_of
from tests.support.authorization.authorized_api import (
    GROUP,
    TOPIC,
    TRANSACTIONAL_ID,
    AuthorizedApi,
)
from tests.support.authorization.authorized_node import effects
from tests.support.authorization.group_apis import commit_offset, find
from tests.support.authorization.share_apis import SHARE_APIS
from tests.support.authorization.transaction_apis import init_producer
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.tenancy.tenant_node import ACME, BETA, TenantClient, start_tenant_node
from tests.unit.broker.authorization.test_every_api import BROKER_APIS

WITHOUT_RIGHTS: Final = (
    AuthorizedApi(ApiKey.LIST_GROUPS, lambda _node: ListGroupsRequest(), ()),
    AuthorizedApi(ApiKey.LIST_TRANSACTIONS, lambda _node: ListTransactionsRequest(), ()),
    AuthorizedApi(ApiKey.DESCRIBE_CLUSTER, lambda _node: DescribeClusterRequest(), ()),
    AuthorizedApi(ApiKey.API_VERSIONS, lambda _node: ApiVersionsRequest(), ()),
)
HOST: Final = "192.0.2.1"
APIS: Final = (*BROKER_APIS, *WITHOUT_RIGHTS)


class Collected:
    """Notes all names and topic ids of a message."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.ids: set[Uuid] = set()

    def __getattr__(self, _kind: str) -> Any:
        return self._note

    def _note(self, name: Any, _kind: object = None) -> Any:
        if isinstance(name, str):
            self.names.add(name)
        return name

    def topic_id(self, topic_id: Uuid) -> Uuid:
        self.ids.add(topic_id)
        return topic_id

    def message(self, text: str) -> str:
        return text


class Foreign(Collected):
    """Turns the names of a request into those that another tenant has in the cluster."""

    def __init__(self, node: OneNode) -> None:
        super().__init__()
        self._id = node.image.topics.by_name[f"beta.{TOPIC}"].id

    def _note(self, name: Any, _kind: object = None) -> Any:
        return f"beta.{name}" if isinstance(name, str) else name

    def topic_id(self, topic_id: Uuid) -> Uuid:
        return self._id if any(topic_id) else topic_id

    def subscription(self, data: Buffer) -> Buffer:
        return data


def populated(start_node: StartNode) -> OneNode:
    """Beta has a topic with a record, a group with an offset, and a transactional id; the operator
    has the same without a prefix."""
    node = start_tenant_node(start_node)
    for name in (TOPIC, f"beta.{TOPIC}", f"acme.{TOPIC}"):
        node.create_topic(name, partitions=2)
    for send in (TenantClient(node, BETA).send, node.send_request):
        send(find(0), 6)
        send(find(1, TRANSACTIONAL_ID), 6)
        assert send(init_producer(node), 5).error_code == 0
        send(commit_offset(node), 9)
    return node


def version_of(api: AuthorizedApi, request: Message) -> int:
    return type(request).stable.highest if api.version is None else api.version


def state_of_others(node: OneNode) -> Any:
    """Whatever is not acme's."""
    _, logs, groups = effects(node)
    return (
        {name: log for name, log in logs.items() if not name.topic.startswith(("acme.", "__"))},
        # Members without heartbeats leave: states change by themselves.
        [group[:2] for group in groups if not group[0].startswith("acme.")],
        {
            name: (topic.id, len(topic.partitions), dict(node.image.topic_configs(name)))
            for name, topic in node.image.topics.by_name.items()
            if not name.startswith("acme.")
        },
        {
            key: state
            for shard in node.broker.coordinators.shares.all
            for key, state in shard.machine.states.items()
            if not key.group_id.startswith("acme.")
        },
        dict(node.image.client_quotas),
        dict(node.image.scram_credentials),
        dict(node.image.access_control_entries),
        dict(node.image.delegation_tokens),
    )


def own_ids(node: OneNode) -> set[Uuid]:
    return {topic.id for topic in node.image.topics if topic.name.startswith("acme.")}


@pytest.mark.parametrize("foreign", [True, False], ids=["names of the other", "own names"])
@pytest.mark.parametrize("api", APIS, ids=lambda api: api.id)
def test_no_request_crosses(start_node: StartNode, api: AuthorizedApi, foreign: bool) -> None:
    node = populated(start_node)
    api.prepare(node)
    request = api.request(node)
    version = version_of(api, request)
    request = type(request).decode(request.encode(version), version)
    renamer = renamer_of(type(request), version)
    if foreign and renamer is not None:
        renamer(request, Foreign(node))
    sent = Collected()
    if renamer is not None:
        renamer(request, sent)
    before = state_of_others(node)
    own = own_ids(node)
    response = TenantClient(node, ACME).send(request, version)
    assert state_of_others(node) == before
    if api.key not in TENANT_APIS:
        assert response is None
        return
    if response is None:
        return
    seen = Collected()
    translate = renamer_of(response_class(api.key), version)
    if translate is not None:
        translate(response, seen)
    assert seen.names <= sent.names | {"", TOPIC, GROUP, TRANSACTIONAL_ID}
    assert {each for each in seen.ids if any(each)} <= sent.ids | own | own_ids(node)
    assert b"acme." not in response.encode(version)


def test_every_api_is_tried(start_node: StartNode) -> None:
    served = {ApiKey(key) for key in start_node().broker.apis}
    tried = {api.key for api in APIS}
    assert served >= TENANT_APIS
    assert {key for key in TENANT_APIS if not key.name.startswith("SASL")} <= tried


def test_the_second_wall_holds_alone(start_node: StartNode) -> None:
    """Without translation, a client on a tenant's listener is confined all the same."""
    node = populated(start_node)
    rights = node.broker.authorizer.rights_of(cluster_client(), HOST).confined("acme.")
    for api in BROKER_APIS:
        if api.key not in TENANT_APIS or api.key is ApiKey.INIT_PRODUCER_ID:
            continue
        if api in SHARE_APIS:
            # They need a new group.
            node = populated(start_node)
            rights = node.broker.authorizer.rights_of(cluster_client(), HOST).confined("acme.")
        api.prepare(node)
        request = api.request(node)
        before = state_of_others(node)
        node.send_request(request, version_of(api, request), rights=rights)
        assert state_of_others(node) == before, api.id


def cluster_client() -> Any:
    from ottla.security.principal import ANONYMOUS

    return ANONYMOUS
