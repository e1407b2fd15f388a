"""DescribeDelegationToken, versions 1 to 3: the delegation tokens that the client may see.

These are its own, those it may renew, and those that ACLs allow it to describe; others are left
out. Answered from the node's own metadata. Errors: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
DELEGATION_TOKEN_AUTH_DISABLED.
"""

from __future__ import annotations

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.configs.value import Password
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Rights
from ottla.security.delegation_token import (
    check_requester,
    is_owner_or_renewer,
    require_enabled,
    token_hmac,
)
from ottla.security.principal import Principal, parse_principal
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from ottla.wire.stored.cluster_metadata.security import DelegationTokenRecord


@handles(ApiKey.DESCRIBE_DELEGATION_TOKEN)
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
    return DescribeDelegationTokenResponse(
        tokens=[
            _described(token, secret_key)
            for token in cluster.image.delegation_tokens.values()
            if (owners is None or any(is_owner_or_renewer(token, each) for each in owners))
            and _may_see(context.rights, token)
        ]
    )


def _may_see(rights: Rights, token: DelegationTokenRecord) -> bool:
    return (
        is_owner_or_renewer(token, rights.principal)
        or rights.allows(AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id)
        or rights.allows(AclOperation.DESCRIBE_TOKENS, ResourceType.USER, token.owner)
    )


def _described(token: DelegationTokenRecord, secret_key: Password) -> DescribedDelegationToken:
    owner, requester = parse_principal(token.owner), parse_principal(token.requester)
    renewers = [parse_principal(each) for each in token.renewers]
    return DescribedDelegationToken(
        principal_type=owner.type,
        principal_name=owner.name,
        token_requester_principal_type=requester.type,
        token_requester_principal_name=requester.name,
        issue_timestamp=token.issue_timestamp,
        expiry_timestamp=token.expiration_timestamp,
        max_timestamp=token.max_timestamp,
        token_id=token.token_id,
        hmac=token_hmac(secret_key, token.token_id),
        renewers=[
            DescribedDelegationTokenRenewer(principal_type=each.type, principal_name=each.name)
            for each in renewers
        ],
    )
