"""AlterClientQuotas, versions 0 and 1: sets and removes quotas of clients and addresses.

Errors per entity are those of the controller's operation.
"""

from __future__ import annotations

from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    AlterClientQuotasResponseEntryData,
)


@handles(
    ApiKey.ALTER_CLIENT_QUOTAS,
    rights=(Right(AclOperation.ALTER_CONFIGS, ResourceType.CLUSTER),),
)
async def alter_client_quotas(
    context: RequestContext, request: AlterClientQuotasRequest, *, changes: MetadataChanges
) -> AlterClientQuotasResponse:
    try:
        response: AlterClientQuotasResponse = await changes.request(
            request, context.api_version, context.rights, client_id=context.client_id
        )
    except KafkaError as error:
        return AlterClientQuotasResponse(
            entries=[
                AlterClientQuotasResponseEntryData(
                    entity=entry.entity, error_code=error.code, error_message=error.message
                )
                for entry in request.entries
            ]
        )
    return response
