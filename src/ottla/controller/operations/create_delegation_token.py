"""CreateDelegationToken, versions 1 to 3: for the sender, or for another owner (KIP-373).

Errors: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, DELEGATION_TOKEN_AUTH_DISABLED, UNSUPPORTED_VERSION,
DELEGATION_TOKEN_AUTHORIZATION_FAILED for another owner, and INVALID_PRINCIPAL_TYPE for renewers
that are not users.
"""

from __future__ import annotations

from ottla.configs.value import Password
from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.delegation_tokens import NO_TIMESTAMP, check_tokens, later
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, KafkaError, uuid_to_text
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.delegation_token import token_hmac
from ottla.security.principal import USER, Principal
from ottla.wire.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ottla.wire.stored.cluster_metadata.security import DelegationTokenRecord


def create_delegation_token(
    image: MetadataImage, request: CreateDelegationTokenRequest, context: Context
) -> OperationOutcome[CreateDelegationTokenResponse]:
    requester = context.rights.principal
    owner = _owner(request, requester)
    response = CreateDelegationTokenResponse(
        principal_type=owner.type,
        principal_name=owner.name,
        token_requester_principal_type=requester.type,
        token_requester_principal_name=requester.name,
        issue_timestamp_ms=NO_TIMESTAMP,
        expiry_timestamp_ms=NO_TIMESTAMP,
        max_timestamp_ms=NO_TIMESTAMP,
    )
    try:
        secret_key = check_tokens(image, context)
        _check_owner(owner, context)
        _check_renewers(request)
    except KafkaError as error:
        response.error_code = error.code
        return OperationOutcome([], response)
    token = _token(request, owner, context)
    _complete(response, token, secret_key)
    return OperationOutcome([token], response)


def _owner(request: CreateDelegationTokenRequest, requester: Principal) -> Principal:
    if not request.owner_principal_name:
        return requester
    return Principal(request.owner_principal_type or "", request.owner_principal_name)


def _check_owner(owner: Principal, context: Context) -> None:
    if owner != context.rights.principal:
        context.rights.require(AclOperation.CREATE_TOKENS, ResourceType.USER, str(owner))


def _check_renewers(request: CreateDelegationTokenRequest) -> None:
    if any(renewer.principal_type != USER for renewer in request.renewers):
        raise KafkaError(ErrorCode.INVALID_PRINCIPAL_TYPE, f"renewers must be of type {USER}")


def _token(
    request: CreateDelegationTokenRequest, owner: Principal, context: Context
) -> DelegationTokenRecord:
    lifetime_ms = context.node.delegation_token_max_lifetime_ms
    if request.max_lifetime_ms > 0:
        lifetime_ms = min(lifetime_ms, request.max_lifetime_ms)
    max_ms = later(context.now_ms, lifetime_ms)
    expiry_ms = later(context.now_ms, context.node.delegation_token_expiry_time_ms)
    return DelegationTokenRecord(
        owner=str(owner),
        requester=str(context.rights.principal),
        renewers=[f"{each.principal_type}:{each.principal_name}" for each in request.renewers],
        issue_timestamp=context.now_ms,
        max_timestamp=max_ms,
        expiration_timestamp=min(max_ms, expiry_ms),
        token_id=uuid_to_text(context.dice.uuid()),
    )


def _complete(
    response: CreateDelegationTokenResponse, token: DelegationTokenRecord, secret_key: Password
) -> None:
    response.issue_timestamp_ms = token.issue_timestamp
    response.expiry_timestamp_ms = token.expiration_timestamp
    response.max_timestamp_ms = token.max_timestamp
    response.token_id = token.token_id
    response.hmac = token_hmac(secret_key, token.token_id)
