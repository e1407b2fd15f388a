"""DescribeUserScramCredentials, version 0: the mechanisms and iterations of users, without keys.

Answered from the node's own metadata. Per user: RESOURCE_NOT_FOUND, and DUPLICATE_RESOURCE for a
user that the request names twice. For the request CLUSTER_AUTHORIZATION_FAILED.
"""

from __future__ import annotations

from collections import Counter

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


@handles(
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
    rights=(Right(AclOperation.DESCRIBE, ResourceType.CLUSTER),),
)
def describe_user_scram_credentials(
    context: RequestContext, request: DescribeUserScramCredentialsRequest, *, cluster: ClusterView
) -> DescribeUserScramCredentialsResponse:
    try:
        context.rights.require(AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)
    except KafkaError as error:
        return DescribeUserScramCredentialsResponse(
            error_code=error.code, error_message=error.message
        )
    stored: dict[str, list[CredentialInfo]] = {}
    for (user, mechanism), credential in sorted(cluster.image.scram_credentials.items()):
        info = CredentialInfo(mechanism=mechanism, iterations=credential.iterations)
        stored.setdefault(user, []).append(info)
    requested = Counter(each.name for each in request.users or ())
    return DescribeUserScramCredentialsResponse(
        error_message=None,
        results=[
            _described(user, stored, is_named_twice=requested[user] > 1)
            for user in requested or stored
        ],
    )


def _described(
    user: str, stored: dict[str, list[CredentialInfo]], *, is_named_twice: bool
) -> DescribeUserScramCredentialsResult:
    result = DescribeUserScramCredentialsResult(user=user, error_message=None)
    if is_named_twice:
        result.error_code = ErrorCode.DUPLICATE_RESOURCE
        result.error_message = "a request can describe a user only once"
    elif user not in stored:
        result.error_code = ErrorCode.RESOURCE_NOT_FOUND
        result.error_message = f"user {user} has no SCRAM credentials"
    else:
        result.credential_infos = stored[user]
    return result
