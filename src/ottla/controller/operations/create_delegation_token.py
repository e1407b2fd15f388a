"""CreateDelegationToken, versions 1 to 3: for the sender, or for another owner (KIP-373).

Errors: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, DELEGATION_TOKEN_AUTH_DISABLED, UNSUPPORTED_VERSION,
DELEGATION_TOKEN_AUTHORIZATION_FAILED for another owner, and INVALID_PRINCIPAL_TYPE for renewers
that are not users.
"""

from __future__ import annotations

from ottla.configs.value import Password
from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.delegation_tokens import (
    NO_TIMESTAMP,
    check_tokens,
    token_lifetimes,
)
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, KafkaError, uuid_to_text
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.principal import USER, Principal
from ottla.security.tokens import DelegationToken, hmac_of, new_token
from ottla.wire.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)


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
        renewers = _renewers(request)
    except KafkaError as error:
        response.error_code = error.code
        return OperationOutcome([], response)
    token = new_token(
        uuid_to_text(context.dice.uuid()),
        owner=owner,
        requester=requester,
        renewers=renewers,
        max_lifetime_ms=request.max_lifetime_ms,
        lifetimes=token_lifetimes(context.node),
        now_ms=context.now_ms,
    )
    _complete(response, token, secret_key)
    return OperationOutcome([token.to_record()], response)


def _owner(request: CreateDelegationTokenRequest, requester: Principal) -> Principal:
    if not request.owner_principal_name:
        return requester
    return Principal(request.owner_principal_type or "", request.owner_principal_name)


def _check_owner(owner: Principal, context: Context) -> None:
    if owner != context.rights.principal:
        context.rights.require(AclOperation.CREATE_TOKENS, ResourceType.USER, str(owner))


def _renewers(request: CreateDelegationTokenRequest) -> list[Principal]:
    if any(renewer.principal_type != USER for renewer in request.renewers):
        raise KafkaError(ErrorCode.INVALID_PRINCIPAL_TYPE, f"renewers must be of type {USER}")
    return [Principal(each.principal_type, each.principal_name) for each in request.renewers]


def _complete(
    response: CreateDelegationTokenResponse, token: DelegationToken, secret_key: Password
) -> None:
    response.issue_timestamp_ms = token.issued_at_ms
    response.expiry_timestamp_ms = token.expires_at_ms
    response.max_timestamp_ms = token.max_at_ms
    response.token_id = token.id
    response.hmac = hmac_of(token.id, secret_key)
