"""AlterUserScramCredentials, version 0: sets and deletes SCRAM credentials.

Errors per user are those of the controller's operation.
"""

from __future__ import annotations

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext, handles
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)


@handles(
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS, rights=(Right(AclOperation.ALTER, ResourceType.CLUSTER),)
)
async def alter_user_scram_credentials(
    context: RequestContext,
    request: AlterUserScramCredentialsRequest,
    *,
    controller: ActiveController,
) -> AlterUserScramCredentialsResponse:
    try:
        response: AlterUserScramCredentialsResponse = await controller.forward(
            request, context.api_version, rights=context.rights
        )
    except KafkaError as error:
        users = [each.name for each in request.deletions]
        users += [each.name for each in request.upsertions]
        return AlterUserScramCredentialsResponse(
            results=[
                AlterUserScramCredentialsResult(
                    user=user, error_code=error.code, error_message=error.message
                )
                for user in dict.fromkeys(users)
            ]
        )
    return response
