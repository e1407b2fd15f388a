"""Every API refuses clients without rights as Kafka does, and serves those with the least rights.

Compared with the rules of Kafka's own handlers in tests/fixtures/authorization/operations.json.
"""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from ottla.controller.api_rights import UNDELETE_RIGHTS
from ottla.security.acls.rights import NO_RIGHTS, Right
from ottla.wire.apis import ApiKey
from tests.support.authorization.admin_apis import (
    ADMIN_APIS,
    BROKER_ADMIN_APIS,
    CONTROLLER_ADMIN_APIS,
)
from tests.support.authorization.authorized_api import AUTHORIZATION_ERRORS, AuthorizedApi
from tests.support.authorization.authorized_node import (
    allow,
    allowing,
    effects,
    error_codes,
    rights_of,
    start_authorized_node,
)
from tests.support.authorization.data_apis import DATA_APIS
from tests.support.authorization.group_apis import GROUP_APIS
from tests.support.authorization.node_apis import NODE_APIS
from tests.support.authorization.share_apis import SHARE_APIS
from tests.support.authorization.transaction_apis import TRANSACTION_APIS
from tests.support.kafka.authorization_fixtures import KafkaRule, authorizations
from tests.support.nodes.one_node import OneNode, StartNode

BROKER: Final = "broker"
CONTROLLER: Final = "controller"
BROKER_APIS: Final = (
    *DATA_APIS,
    *GROUP_APIS,
    *TRANSACTION_APIS,
    *SHARE_APIS,
    *ADMIN_APIS,
    *BROKER_ADMIN_APIS,
)
CONTROLLER_APIS: Final = (*NODE_APIS, *ADMIN_APIS, *CONTROLLER_ADMIN_APIS)
CASES: Final = [
    *((BROKER, api) for api in BROKER_APIS),
    *((CONTROLLER, api) for api in CONTROLLER_APIS),
]
# Their responses leave something out, or nothing at all: see test_silent_filters.py.
NEVER_REFUSED: Final = {
    BROKER: {
        ApiKey.API_VERSIONS,
        ApiKey.DESCRIBE_CLUSTER,
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        ApiKey.LIST_GROUPS,
        ApiKey.LIST_TRANSACTIONS,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.SASL_HANDSHAKE,
    },
    CONTROLLER: {
        ApiKey.API_VERSIONS,
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.SASL_HANDSHAKE,
    },
}
# Kafka's rules without a request here, as (API, operation, resource type), with the reason.
NOT_TRIED: Final = {
    # Only in version 6 of InitProducerId, which is not stable.
    (ApiKey.INIT_PRODUCER_ID, "TWO_PHASE_COMMIT", "TRANSACTIONAL_ID"),
}


def ask(node: OneNode, listener: str, api: AuthorizedApi) -> Any:
    request = api.request(node)
    versions = node.broker.apis if listener == BROKER else node.broker.controller_apis
    version = versions[api.key].versions[-1] if api.version is None else api.version
    send = node.send_request if listener == BROKER else node.send_to_controller
    return send(request, version, rights=rights_of(node))


@pytest.mark.parametrize(("listener", "api"), CASES, ids=lambda each: getattr(each, "id", each))
def test_requests_without_a_right_are_refused_without_effect(
    start_node: StartNode, listener: str, api: AuthorizedApi
) -> None:
    node = start_authorized_node(start_node)
    api.prepare(node)
    for needed in api.needed:
        before = effects(node)
        codes = error_codes(ask(node, listener, api))
        for place in needed.places:
            assert codes.get(place) == {needed.error}, codes
        others = {code for place, found in codes.items() for code in found if place}
        assert others <= {0, needed.error}, codes
        if not needed.has_effect:
            assert effects(node) == before
            allow(node, *allowing(needed.right))


@pytest.mark.parametrize(("listener", "api"), CASES, ids=lambda each: getattr(each, "id", each))
def test_requests_with_the_least_rights_are_served(
    start_node: StartNode, listener: str, api: AuthorizedApi
) -> None:
    node = start_authorized_node(start_node)
    api.prepare(node)
    allow(node, *allowing(*(needed.right for needed in api.needed)))
    require_served(api, ask(node, listener, api))


@pytest.mark.parametrize(
    ("listener", "api"),
    [(listener, api) for listener, api in CASES if any(each.others for each in api.needed)],
    ids=lambda each: getattr(each, "id", each),
)
def test_other_rights_serve_as_well(
    start_node: StartNode, listener: str, api: AuthorizedApi
) -> None:
    other = [needed.others[0] if needed.others else needed.right for needed in api.needed]
    node = start_authorized_node(start_node)
    api.prepare(node)
    allow(node, *allowing(*dict.fromkeys(other)))
    require_served(api, ask(node, listener, api))


def require_served(api: AuthorizedApi, response: Any) -> None:
    codes = set().union(*error_codes(response).values())
    if api.served is None:
        assert not codes & AUTHORIZATION_ERRORS, codes
    else:
        assert codes <= api.served, codes


# ---- the tables are complete


@pytest.mark.parametrize(
    ("listener", "apis"), [(BROKER, BROKER_APIS), (CONTROLLER, CONTROLLER_APIS)]
)
def test_every_api_that_a_node_serves_is_tried(
    node: OneNode, listener: str, apis: tuple[AuthorizedApi, ...]
) -> None:
    served = node.broker.apis if listener == BROKER else node.broker.controller_apis
    tried = {api.key for api in apis}
    assert not tried & NEVER_REFUSED[listener]
    assert set(map(ApiKey, served)) <= tried | NEVER_REFUSED[listener]


# On the deleted topic that CreateTopics restores: an addition to Kafka's protocol.
OWN_RIGHTS: Final[dict[int, set[Right]]] = {ApiKey.CREATE_TOPICS: set(UNDELETE_RIGHTS)}


def test_apis_declare_the_rights_that_kafka_checks(node: OneNode) -> None:
    for key, api in node.broker.apis.items():
        rules = [each for each in authorizations()[key].rules if is_broker_rule(key, each)]
        rights = {right for rule in rules for right in rights_in(rule)}
        assert set(api.rights) == rights | OWN_RIGHTS.get(key, set()), api.key
    for key, api in node.broker.controller_apis.items():
        rules = [each for each in authorizations()[key].rules if is_controller_rule(key, each)]
        rights = {right for rule in rules for right in rights_in(rule)}
        assert set(api.rights) == rights | OWN_RIGHTS.get(key, set()), api.key


def test_the_requests_need_what_kafka_says() -> None:
    tried: dict[ApiKey, set[tuple[Right, str]]] = {}
    for _, api in CASES:
        for needed in api.needed:
            for operation, resource_type, _name in (needed.right, *needed.others):
                right = Right(operation, resource_type)
                tried.setdefault(api.key, set()).add((right, needed.error.name))
    for key, found in tried.items():
        said = {
            (right, rule.error)
            for rule in authorizations()[key].rules
            if rule.error is not None
            for right in rights_in(rule)
            if (key, right.operation.name, right.resource_type.name) not in NOT_TRIED
        }
        assert found == said, key


def is_broker_rule(key: int, rule: KafkaRule) -> bool:
    return "controller listener" not in rule.when or key not in _SPLIT


def is_controller_rule(key: int, rule: KafkaRule) -> bool:
    return "broker listener" not in rule.when


# These check something else on controller listeners.
_SPLIT: Final = {ApiKey.FETCH, ApiKey.DESCRIBE_CLUSTER, ApiKey.INCREMENTAL_ALTER_CONFIGS}


def rights_in(rule: KafkaRule) -> list[Right]:
    from ottla.security.acls.acl import AclOperation, ResourceType

    return [
        Right(AclOperation[snake(each.operation)], ResourceType[snake(each.resource_type)])
        for each in rule.actions
        if not each.operation.startswith("each ")
    ]


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()


def test_a_handler_without_declared_rights_does_not_load() -> None:
    from ottla.broker.network.handling import HandledApi, handles

    with pytest.raises(TypeError, match="rights"):
        handles(ApiKey.METADATA)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="declares no rights"):
        HandledApi(ApiKey.METADATA, None, handler=lambda _context, _request: None)
    assert HandledApi(
        ApiKey.METADATA, None, handler=lambda _context, _request: None, rights=NO_RIGHTS
    )
