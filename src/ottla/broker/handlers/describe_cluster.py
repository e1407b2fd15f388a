"""DescribeCluster, versions 0 to 2: the brokers and their endpoints (KIP-700).

The endpoints are those of the client's listener. Version 2 includes fenced brokers on request.
Errors: UNSUPPORTED_ENDPOINT_TYPE, and MISMATCHED_ENDPOINT_TYPE for controllers, which only a
controller listener describes (KIP-919).
"""

from __future__ import annotations

from enum import IntEnum

from ottla.broker.administration.authorized_operations import NOT_REQUESTED, cluster_operations
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.listener_view import ListenerView
from ottla.model import ErrorCode
from ottla.runtime.dice import Dice
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)


class EndpointType(IntEnum):
    BROKER = 1
    CONTROLLER = 2


@handles(ApiKey.DESCRIBE_CLUSTER, rights=(Right(AclOperation.DESCRIBE, ResourceType.CLUSTER),))
def describe_cluster(
    context: RequestContext, request: DescribeClusterRequest, *, cluster: ClusterView, dice: Dice
) -> DescribeClusterResponse:
    if request.endpoint_type != EndpointType.BROKER:
        return _refuse(request.endpoint_type)
    view = ListenerView(cluster.image, context.listener)
    alive = view.brokers
    shown = list(view.all_brokers.values()) if request.include_fenced_brokers else alive
    is_requested = request.include_cluster_authorized_operations
    return DescribeClusterResponse(
        endpoint_type=EndpointType.BROKER,
        cluster_id=cluster.cluster_id,
        controller_id=dice.choice(alive).broker.id if alive else -1,
        brokers=[
            DescribeClusterBroker(
                broker_id=each.id,
                host=endpoint.host,
                port=endpoint.port,
                rack=each.rack,
                is_fenced=each.fenced,
            )
            for each, endpoint in shown
        ],
        cluster_authorized_operations=cluster_operations(context.rights)
        if is_requested
        else NOT_REQUESTED,
    )


def _refuse(endpoint_type: int) -> DescribeClusterResponse:
    if endpoint_type == EndpointType.CONTROLLER:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="this is a broker listener; send the request to a controller listener "
            "to get the controllers",
        )
    return DescribeClusterResponse(
        error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
        error_message=f"Unsupported endpoint type {endpoint_type}",
    )
