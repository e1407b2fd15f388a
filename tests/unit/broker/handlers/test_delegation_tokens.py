"""Delegation tokens, as clients of a node create, use and see them."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.security.principal import Principal
from ottla.wire.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ottla.wire.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from ottla.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.wire.messages.renew_delegation_token import RenewDelegationTokenRequest
from tests.support.nodes.one_node import OneNode
from tests.support.security.acls import ALICE, BOB, acl, rights_of
from tests.support.security.secured_node import secure

CAROL = Principal("User", "carol")


@pytest.fixture
def secured_node(node: OneNode) -> OneNode:
    secure(node)
    return node


def create(
    node: OneNode, principal: Principal, *renewers: Principal
) -> CreateDelegationTokenResponse:
    request = CreateDelegationTokenRequest(
        renewers=[
            CreatableRenewers(principal_type=each.type, principal_name=each.name)
            for each in renewers
        ]
    )
    response: CreateDelegationTokenResponse = node.send_request(
        request, 3, rights=rights_of(principal)
    )
    assert response.error_code == ErrorCode.NONE
    return response


def describe(
    node: OneNode, rights: Rights, owners: list[Principal] | None = None, *, version: int = 3
) -> DescribeDelegationTokenResponse:
    named = None
    if owners is not None:
        named = [
            DescribeDelegationTokenOwner(principal_type=each.type, principal_name=each.name)
            for each in owners
        ]
    request = DescribeDelegationTokenRequest(owners=named)
    response: DescribeDelegationTokenResponse = node.send_request(request, version, rights=rights)
    return response


def ids(response: DescribeDelegationTokenResponse) -> list[str]:
    assert response.error_code == ErrorCode.NONE
    return [each.token_id for each in response.tokens]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_token_is_described_as_it_was_created(secured_node: OneNode, version: int) -> None:
    created = create(secured_node, ALICE, BOB)
    (token,) = describe(secured_node, rights_of(ALICE), version=version).tokens
    assert (token.token_id, token.hmac) == (created.token_id, created.hmac)
    assert (token.principal_type, token.principal_name) == ("User", "alice")
    assert token.token_requester_principal_name == ("alice" if version == 3 else "")
    assert token.issue_timestamp == created.issue_timestamp_ms
    assert token.expiry_timestamp == created.expiry_timestamp_ms
    assert token.max_timestamp == created.max_timestamp_ms
    (renewer,) = token.renewers
    assert (renewer.principal_type, renewer.principal_name) == ("User", "bob")


def test_tokens_are_visible_to_owners_renewers_and_those_with_a_right(
    secured_node: OneNode,
) -> None:
    first = create(secured_node, ALICE, BOB).token_id
    second = create(secured_node, ALICE).token_id
    third = create(secured_node, CAROL).token_id
    assert ids(describe(secured_node, rights_of(ALICE))) == [first, second]
    assert ids(describe(secured_node, rights_of(BOB))) == [first]
    assert ids(describe(secured_node, rights_of(Principal("User", "dave")))) == []
    own = str(CAROL)
    one = acl(AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, second, principal=own)
    assert ids(describe(secured_node, rights_of(CAROL, one))) == [second, third]
    every = acl(AclOperation.DESCRIBE_TOKENS, ResourceType.USER, str(ALICE), principal=own)
    assert ids(describe(secured_node, rights_of(CAROL, every))) == [first, second, third]


def test_owners_narrow_the_tokens(secured_node: OneNode) -> None:
    first = create(secured_node, ALICE, BOB).token_id
    create(secured_node, ALICE)
    rights = rights_of(ALICE)
    assert ids(describe(secured_node, rights, [BOB])) == [first]
    assert ids(describe(secured_node, rights, [CAROL])) == []
    assert ids(describe(secured_node, rights, [])) == []


def test_a_token_is_renewed_and_expired(secured_node: OneNode) -> None:
    created = create(secured_node, ALICE)
    renewal = RenewDelegationTokenRequest(hmac=created.hmac, renew_period_ms=5_000)
    renewed = secured_node.send_request(renewal, 2, rights=rights_of(ALICE))
    assert (renewed.error_code, renewed.expiry_timestamp_ms) == (
        ErrorCode.NONE,
        created.issue_timestamp_ms + 5_000,
    )
    expiry = ExpireDelegationTokenRequest(hmac=created.hmac, expiry_time_period_ms=-1)
    refused = secured_node.send_request(expiry, 2, rights=rights_of(BOB))
    assert refused.error_code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    assert (
        secured_node.send_request(expiry, 2, rights=rights_of(ALICE)).error_code == ErrorCode.NONE
    )
    assert ids(describe(secured_node, rights_of(ALICE))) == []


@pytest.mark.parametrize(
    "rights", [UNRESTRICTED, rights_of(Principal("User", "alice", is_from_token=True))]
)
def test_anonymous_clients_and_those_with_a_token_see_none(
    secured_node: OneNode, rights: Rights
) -> None:
    create(secured_node, ALICE)
    response = describe(secured_node, rights)
    assert response.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert response.tokens == []


def test_without_a_secret_key_there_are_no_tokens(node: OneNode) -> None:
    response = describe(node, rights_of(ALICE))
    assert response.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


def test_a_node_whose_metadata_has_failed_changes_no_tokens(secured_node: OneNode) -> None:
    async def fail() -> None:
        secured_node.controller.quorum.fail(OSError("the disk is gone"))

    secured_node.run(fail())
    for request in (
        CreateDelegationTokenRequest(),
        RenewDelegationTokenRequest(),
        ExpireDelegationTokenRequest(),
    ):
        response = secured_node.send_request(request, 2, rights=rights_of(ALICE))
        assert response.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert response.expiry_timestamp_ms == -1
