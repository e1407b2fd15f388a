"""DescribeClientQuotas, versions 0 and 1: the quotas of the entities that match a filter.

Answered from the node's own metadata. For the request: CLUSTER_AUTHORIZATION_FAILED,
INVALID_REQUEST for an invalid filter, UNSUPPORTED_VERSION for an unknown type of entity.

A request with the tagged field `USAGE_TAG`, which only Ottla's commands send, gets a response with
what clients with a quota use on this node now, in the same tag (quotas/usage.py).
"""

from __future__ import annotations

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.producing.owner_limits import OwnerLimits
from ottla.broker.quotas.client_quotas import ClientQuotas
from ottla.model import KafkaError
from ottla.quotas.entity_filter import Component, EntityFilter
from ottla.quotas.usage import USAGE_TAG, encode_usage
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)


@handles(
    ApiKey.DESCRIBE_CLIENT_QUOTAS,
    rights=(Right(AclOperation.DESCRIBE_CONFIGS, ResourceType.CLUSTER),),
)
def describe_client_quotas(
    context: RequestContext,
    request: DescribeClientQuotasRequest,
    *,
    cluster: ClusterView,
    client_quotas: ClientQuotas,
    owner_limits: OwnerLimits,
) -> DescribeClientQuotasResponse:
    try:
        context.rights.require(AclOperation.DESCRIBE_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME)
        entities = EntityFilter(
            [
                Component(each.entity_type, each.match_type, each.match)
                for each in request.components
            ],
            is_strict=request.strict,
        )
    except KafkaError as error:
        return DescribeClientQuotasResponse(
            error_code=error.code, error_message=error.message, entries=None
        )
    response = DescribeClientQuotasResponse(
        error_message=None,
        entries=[
            EntryData(
                entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
                values=[ValueData(key=key, value=value) for key, value in quotas.items()],
            )
            for entity, quotas in sorted(cluster.image.client_quotas.items(), key=repr)
            if entities.matches(entity)
        ],
    )
    if request.unknown_tags and USAGE_TAG in request.unknown_tags:
        response.unknown_tags = {
            USAGE_TAG: encode_usage([*client_quotas.usage(), *owner_limits.usage()])
        }
    return response
