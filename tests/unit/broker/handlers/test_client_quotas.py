"""Quotas are checked as Kafka checks them, and only changes are written."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.wire.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData
from ottla.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.quotas.quota_changes import quota_change, set_quota

EXACT, DEFAULT, SPECIFIED = 0, 1, 2
RATE = {"producer_byte_rate": 1_000.0}
INVALID = ErrorCode.INVALID_REQUEST


def described(
    node: OneNode, *components: tuple[str, int, str | None], strict: bool = False
) -> DescribeClientQuotasResponse:
    request = DescribeClientQuotasRequest(
        components=[
            ComponentData(entity_type=kind, match_type=match_type, match=match)
            for kind, match_type, match in components
        ],
        strict=strict,
    )
    response: DescribeClientQuotasResponse = node.send_request(request, 1)
    return response


def entities(response: DescribeClientQuotasResponse) -> set[tuple[tuple[str, str | None], ...]]:
    assert response.error_code == 0, response.error_message
    return {
        tuple((part.entity_type, part.entity_name) for part in entry.entity)
        for entry in response.entries or []
    }


@pytest.mark.parametrize(
    ("entity", "values"),
    [
        ({}, RATE),
        ({"team": "blue"}, RATE),
        ({"user": ""}, RATE),
        ({"user": "alice"}, {"connection_creation_rate": 1}),
        ({"user": "alice"}, {"unheard_of": 1}),
        ({"user": "alice"}, {"producer_byte_rate": 0}),
        ({"user": "alice"}, {"producer_byte_rate": -1}),
        ({"user": "alice"}, {"producer_byte_rate": float("nan")}),
        ({"user": "alice"}, {"request_percentage": float("inf")}),
        ({"user": "alice"}, {"producer_byte_rate": 1.5}),
        ({"user": "alice"}, {"producer_byte_rate": 2.0**64}),
        ({"ip": "192.0.2.1"}, RATE),
        ({"ip": "192.0.2.1"}, {"connection_creation_rate": 1.5}),
        ({"ip": "192.0.2.1"}, {"connection_creation_rate": 2.0**32}),
        ({"ip": "not an address"}, {"connection_creation_rate": 1}),
        ({"ip": "192.0.2.1", "user": "alice"}, {"connection_creation_rate": 1}),
    ],
)
def test_an_invalid_quota_is_refused(
    start_node: StartNode, entity: dict[str, str], values: dict[str, float]
) -> None:
    node = start_node()
    (entry,) = node.send_request(quota_change(entity, values), 1).entries
    assert entry.error_code == INVALID
    assert entry.error_message
    assert node.image.client_quotas == {}


def test_an_entity_with_a_default_and_a_name_of_a_type_is_refused(start_node: StartNode) -> None:
    request = quota_change({"user": None}, RATE)
    request.entries[0].entity.append(EntityData(entity_type="user", entity_name="alice"))
    (entry,) = start_node().send_request(request, 1).entries
    assert entry.error_code == INVALID


def test_every_kind_of_entity_has_quotas(start_node: StartNode) -> None:
    node = start_node()
    kinds: list[dict[str, str | None]] = [
        {"user": "alice"},
        {"user": None},
        {"client-id": "app"},
        {"client-id": None},
        {"user": "alice", "client-id": "app"},
        {"user": None, "client-id": None},
        {"user": "alice", "client-id": None},
        {"user": None, "client-id": "app"},
    ]
    fractions = {"request_percentage": 0.5, "controller_mutation_rate": 0.1}
    for entity in kinds:
        set_quota(node, entity, {**RATE, **fractions})
    for address in ("192.0.2.1", "2001:db8::1", None):
        set_quota(node, {"ip": address}, {"connection_creation_rate": 10})
    assert len(node.image.client_quotas) == len(kinds) + 3
    assert len(entities(described(node))) == len(kinds) + 3


def test_only_changes_are_written(start_node: StartNode) -> None:
    node = start_node()
    set_quota(node, {"user": "alice"}, RATE)
    written = node.controller.quorum.log.log_end_offset
    set_quota(node, {"user": "alice"}, RATE)
    set_quota(node, {"user": "bob"}, {"producer_byte_rate": None})
    node.send_request(quota_change({"user": "bob"}, RATE, dry_run=True), 1)
    assert node.controller.quorum.log.log_end_offset == written
    set_quota(node, {"user": "alice"}, {"producer_byte_rate": None})
    assert node.image.client_quotas == {}


def test_an_entity_and_a_key_can_be_named_once(start_node: StartNode) -> None:
    node = start_node()
    once = quota_change({"user": "alice"}, RATE).entries[0]
    (entry,) = node.send_request(AlterClientQuotasRequest(entries=[once, once]), 1).entries
    assert entry.error_code == 0
    once.ops = [*once.ops, *once.ops]
    (entry,) = node.send_request(AlterClientQuotasRequest(entries=[once]), 1).entries
    assert entry.error_code == INVALID


def test_a_filter_finds_entities_by_name_default_and_type(start_node: StartNode) -> None:
    node = start_node()
    alice, default = ("user", "alice"), ("user", None)
    both = (("client-id", "app"), alice)
    for entity in ((alice,), (default,), both, (("client-id", "app"),)):
        set_quota(node, dict(entity), RATE)
    assert entities(described(node, ("user", EXACT, "alice"))) == {(alice,), both}
    assert entities(described(node, ("user", EXACT, "alice"), strict=True)) == {(alice,)}
    assert entities(described(node, ("user", DEFAULT, None))) == {(default,)}
    of_users = {(alice,), (default,), both}
    assert entities(described(node, ("user", SPECIFIED, None))) == of_users
    assert entities(described(node, strict=True)) == set()


@pytest.mark.parametrize(
    ("components", "error"),
    [
        ([("", EXACT, "alice")], INVALID),
        ([("user", EXACT, None)], INVALID),
        ([("user", DEFAULT, "alice")], INVALID),
        ([("user", SPECIFIED, "alice")], INVALID),
        ([("user", 3, None)], INVALID),
        ([("user", EXACT, "alice"), ("user", DEFAULT, None)], INVALID),
        ([("ip", EXACT, "192.0.2.1"), ("user", EXACT, "alice")], INVALID),
        ([("team", EXACT, "blue")], ErrorCode.UNSUPPORTED_VERSION),
    ],
)
def test_an_invalid_filter_is_refused(
    start_node: StartNode, components: list[tuple[str, int, str | None]], error: ErrorCode
) -> None:
    response = described(start_node(), *components)
    assert response.error_code == error
    assert response.entries is None
