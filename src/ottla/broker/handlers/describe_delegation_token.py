"""DescribeDelegationToken, versions 1 to 3: the delegation tokens that the client may see.

These are its own, those it requested or may renew, and those that ACLs allow it to describe; others
are left out. Answered from the node's own metadata. Errors: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
DELEGATION_TOKEN_AUTH_DISABLED.
"""

from __future__ import annotations

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.configs.value import Password
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.security.principal import Principal
from ottla.security.token_requests import check_requester, require_enabled
from ottla.security.tokens import DelegationToken, hmac_of
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)


@handles(
    ApiKey.DESCRIBE_DELEGATION_TOKEN,
    rights=(
        Right(AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN),
        Right(AclOperation.DESCRIBE_TOKENS, ResourceType.USER),
    ),
)
def describe_delegation_token(
    context: RequestContext, request: DescribeDelegationTokenRequest, *, cluster: ClusterView
) -> DescribeDelegationTokenResponse:
    try:
        check_requester(context.rights.principal)
        secret_key = require_enabled(cluster.config.delegation_token_secret_key)
    except KafkaError as error:
        return DescribeDelegationTokenResponse(error_code=error.code)
    owners = None
    if request.owners is not None:
        owners = [Principal(each.principal_type, each.principal_name) for each in request.owners]
    tokens = map(DelegationToken.from_record, cluster.image.delegation_tokens.values())
    return DescribeDelegationTokenResponse(
        tokens=[
            _described(token, secret_key)
            for token in tokens
            if (owners is None or any(token.is_visible_to(each) for each in owners))
            and _may_see(context.rights, token)
        ]
    )


def _may_see(rights: Rights, token: DelegationToken) -> bool:
    return (
        token.is_visible_to(rights.principal)
        or rights.allows(AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.id)
        or rights.allows(AclOperation.DESCRIBE_TOKENS, ResourceType.USER, str(token.owner))
    )


def _described(token: DelegationToken, secret_key: Password) -> DescribedDelegationToken:
    return DescribedDelegationToken(
        principal_type=token.owner.type,
        principal_name=token.owner.name,
        token_requester_principal_type=token.requester.type,
        token_requester_principal_name=token.requester.name,
        issue_timestamp=token.issued_at_ms,
        expiry_timestamp=token.expires_at_ms,
        max_timestamp=token.max_at_ms,
        token_id=token.id,
        hmac=hmac_of(token.id, secret_key),
        renewers=[
            DescribedDelegationTokenRenewer(principal_type=each.type, principal_name=each.name)
            for each in token.renewers
        ],
    )
