"""Delegation tokens are created, renewed, expired and removed by the controller."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.controller.operation import Operation
from ottla.controller.operations.create_delegation_token import create_delegation_token
from ottla.controller.operations.delegation_tokens import expired_tokens, remove_expired_tokens
from ottla.controller.operations.expire_delegation_token import expire_delegation_token
from ottla.controller.operations.renew_delegation_token import renew_delegation_token
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Rights
from ottla.security.principal import ANONYMOUS, Principal
from ottla.security.tokens import hmac_of
from ottla.wire.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from ottla.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.wire.messages.renew_delegation_token import RenewDelegationTokenRequest
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.security import DelegationTokenRecord
from tests.support.controller.cluster_images import NOW_MS, applied, context, features, image_of
from tests.support.security.acls import ALICE, BOB, SECRET_KEY, acl, rights_of, secured_config

DAY_MS = 86_400_000
CAROL = Principal("User", "carol")
REQUESTS: list[tuple[Operation[Any, Any], Message]] = [
    (create_delegation_token, CreateDelegationTokenRequest()),
    (renew_delegation_token, RenewDelegationTokenRequest(hmac=b"it")),
    (expire_delegation_token, ExpireDelegationTokenRequest(hmac=b"it")),
]


def cluster(*tokens: DelegationTokenRecord, metadata_version: int = 30) -> MetadataImage:
    return image_of(features(metadata_version=metadata_version), *tokens)


def token(name: str = "token", **fields: Any) -> DelegationTokenRecord:
    """Of alice, requested by carol; bob may renew it."""
    given = {
        "owner": str(ALICE),
        "requester": str(CAROL),
        "renewers": [str(BOB)],
        "issue_timestamp": NOW_MS - DAY_MS,
        "max_timestamp": NOW_MS + 2 * DAY_MS,
        "expiration_timestamp": NOW_MS + 1_000,
    }
    return DelegationTokenRecord(token_id=name, **{**given, **fields})


def run(
    image: MetadataImage,
    operation: Operation[Any, Any],
    request: Message,
    principal: Principal = ALICE,
    *,
    rights: Rights | None = None,
    **configs: Any,
) -> tuple[MetadataImage, Any]:
    """The image afterwards, and the response."""
    scope = context(secured_config(**configs), rights=rights or rights_of(principal))
    outcome = operation(image, request, scope)
    return applied(image, outcome.records), outcome.response


def renew(period_ms: int, name: str = "token") -> RenewDelegationTokenRequest:
    return RenewDelegationTokenRequest(hmac=hmac_of(name, SECRET_KEY), renew_period_ms=period_ms)


def expire(period_ms: int, name: str = "token") -> ExpireDelegationTokenRequest:
    mac = hmac_of(name, SECRET_KEY)
    return ExpireDelegationTokenRequest(hmac=mac, expiry_time_period_ms=period_ms)


def test_a_token_is_created_for_its_requester() -> None:
    request = CreateDelegationTokenRequest(
        renewers=[CreatableRenewers(principal_type="User", principal_name="bob")]
    )
    image, response = run(cluster(), create_delegation_token, request)
    assert response.error_code == ErrorCode.NONE
    (stored,) = image.delegation_tokens.values()
    assert (stored.owner, stored.requester, stored.renewers) == (str(ALICE), str(ALICE), [str(BOB)])
    assert stored.issue_timestamp == response.issue_timestamp_ms == NOW_MS
    assert stored.max_timestamp == response.max_timestamp_ms == NOW_MS + 7 * DAY_MS
    assert stored.expiration_timestamp == response.expiry_timestamp_ms == NOW_MS + DAY_MS
    assert stored.token_id == response.token_id
    assert response.hmac == hmac_of(stored.token_id, SECRET_KEY)
    assert (response.principal_type, response.principal_name) == ("User", "alice")
    assert response.token_requester_principal_name == "alice"


@pytest.mark.parametrize(
    ("requested_ms", "max_ms", "expiry_ms"),
    [
        (-1, 7 * DAY_MS, DAY_MS),
        (0, 7 * DAY_MS, DAY_MS),
        (1_000, 1_000, 1_000),
        (8 * DAY_MS, 7 * DAY_MS, DAY_MS),
    ],
)
def test_the_lifetime_is_the_shorter_one(requested_ms: int, max_ms: int, expiry_ms: int) -> None:
    request = CreateDelegationTokenRequest(max_lifetime_ms=requested_ms)
    _, response = run(cluster(), create_delegation_token, request)
    assert response.max_timestamp_ms == NOW_MS + max_ms
    assert response.expiry_timestamp_ms == NOW_MS + expiry_ms


def test_a_token_for_another_owner_needs_a_right() -> None:
    request = CreateDelegationTokenRequest(
        owner_principal_type="User", owner_principal_name="alice"
    )
    image, response = run(cluster(), create_delegation_token, request, CAROL)
    assert response.error_code == ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    assert (response.principal_name, response.token_requester_principal_name) == ("alice", "carol")
    assert (response.issue_timestamp_ms, response.token_id, response.hmac) == (-1, "", b"")
    assert image == cluster()

    right = acl(AclOperation.CREATE_TOKENS, ResourceType.USER, str(ALICE), principal=str(CAROL))
    rights = rights_of(CAROL, right)
    image, response = run(cluster(), create_delegation_token, request, rights=rights)
    assert response.error_code == ErrorCode.NONE
    (stored,) = image.delegation_tokens.values()
    assert (stored.owner, stored.requester) == (str(ALICE), str(CAROL))


def test_renewers_are_users() -> None:
    request = CreateDelegationTokenRequest(
        renewers=[CreatableRenewers(principal_type="Group", principal_name="staff")]
    )
    image, response = run(cluster(), create_delegation_token, request)
    assert (image, response.error_code) == (cluster(), ErrorCode.INVALID_PRINCIPAL_TYPE)


@pytest.mark.parametrize("principal", [ALICE, BOB])
@pytest.mark.parametrize(
    ("requested_ms", "expiry_ms"),
    [(0, DAY_MS), (-5, DAY_MS), (5_000, 5_000), (9 * DAY_MS, DAY_MS)],
)
def test_owner_and_renewers_renew_a_token(
    principal: Principal, requested_ms: int, expiry_ms: int
) -> None:
    image, response = run(cluster(token()), renew_delegation_token, renew(requested_ms), principal)
    assert (response.error_code, response.expiry_timestamp_ms) == (0, NOW_MS + expiry_ms)
    assert image == cluster(token(expiration_timestamp=NOW_MS + expiry_ms))


def test_a_token_is_not_renewed_beyond_its_maximum() -> None:
    before = cluster(token(max_timestamp=NOW_MS + 7))
    image, response = run(before, renew_delegation_token, renew(0))
    assert response.expiry_timestamp_ms == NOW_MS + 7
    assert image.delegation_tokens["token"].expiration_timestamp == NOW_MS + 7


@pytest.mark.parametrize("request_", [renew(1), expire(1), expire(-1)])
@pytest.mark.parametrize("principal", [CAROL, Principal("Group", "alice")])
def test_others_cannot_change_a_token(request_: Message, principal: Principal) -> None:
    before = cluster(token())
    operation = operation_of(request_)
    image, response = run(before, operation, request_, principal)
    assert (image, response.error_code) == (before, ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
    assert response.expiry_timestamp_ms == -1


def operation_of(request: Message) -> Operation[Any, Any]:
    is_renewal = isinstance(request, RenewDelegationTokenRequest)
    return renew_delegation_token if is_renewal else expire_delegation_token


@pytest.mark.parametrize("request_", [renew(1, "other"), expire(1, "other"), expire(-1, "other")])
def test_an_unknown_token_is_not_found(request_: Message) -> None:
    before = cluster(token())
    image, response = run(before, operation_of(request_), request_)
    assert (image, response.error_code) == (before, ErrorCode.DELEGATION_TOKEN_NOT_FOUND)


@pytest.mark.parametrize("field", ["max_timestamp", "expiration_timestamp"])
def test_an_expired_token_can_only_be_removed(field: str) -> None:
    expired = token()
    setattr(expired, field, NOW_MS - 1)
    before = cluster(expired)
    for request in (renew(1), expire(1)):
        image, response = run(before, operation_of(request), request)
        assert (image, response.error_code) == (before, ErrorCode.DELEGATION_TOKEN_EXPIRED)
    image, response = run(before, expire_delegation_token, expire(-1))
    assert (image, response.expiry_timestamp_ms) == (cluster(), NOW_MS)


@pytest.mark.parametrize(("period_ms", "expiry_ms"), [(0, 0), (5, 5), (9 * DAY_MS, 2 * DAY_MS)])
def test_the_expiry_of_a_token_is_set(period_ms: int, expiry_ms: int) -> None:
    image, response = run(cluster(token()), expire_delegation_token, expire(period_ms))
    assert (response.error_code, response.expiry_timestamp_ms) == (0, NOW_MS + expiry_ms)
    assert image == cluster(token(expiration_timestamp=NOW_MS + expiry_ms))


@pytest.mark.parametrize(("operation", "request_"), REQUESTS)
@pytest.mark.parametrize("principal", [ANONYMOUS, Principal("User", "alice", is_from_token=True)])
def test_anonymous_clients_and_those_with_a_token_are_refused(
    operation: Operation[Any, Any], request_: Message, principal: Principal
) -> None:
    image, response = run(cluster(), operation, request_, principal)
    assert image == cluster()
    assert response.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


@pytest.mark.parametrize(("operation", "request_"), REQUESTS)
def test_without_a_secret_key_or_in_an_old_cluster_there_are_no_tokens(
    operation: Operation[Any, Any], request_: Message
) -> None:
    _, response = run(cluster(), operation, request_, delegation_token_secret_key=None)
    assert response.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    _, response = run(cluster(metadata_version=13), operation, request_)
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION


def test_expired_tokens_are_removed() -> None:
    kept = token("kept", expiration_timestamp=NOW_MS)
    before = cluster(
        token("a", expiration_timestamp=NOW_MS - 1), kept, token("b", max_timestamp=NOW_MS - 1)
    )
    assert expired_tokens(before, NOW_MS) == ["a", "b"]
    request = ExpireDelegationTokenRequest()
    image, _ = run(before, remove_expired_tokens, request, ANONYMOUS)
    assert image == cluster(kept)
    assert expired_tokens(image, NOW_MS) == []
