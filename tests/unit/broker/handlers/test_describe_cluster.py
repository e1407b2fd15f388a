from __future__ import annotations

from ottla.broker.administration.authorized_operations import CLUSTER_OPERATIONS, NOT_REQUESTED
from ottla.broker.handlers.describe_cluster import EndpointType
from ottla.model import ErrorCode
from ottla.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from tests.support.nodes.one_node import HOST, NODE_ID, PORT, OneNode


def test_the_cluster_is_this_node(node: OneNode) -> None:
    for version in range(3):
        response: DescribeClusterResponse = node.send_request(DescribeClusterRequest(), version)

        assert (response.error_code, response.cluster_id) == (
            ErrorCode.NONE,
            node.controller.cluster_id,
        )
        assert response.controller_id == NODE_ID
        (broker,) = response.brokers
        assert (broker.broker_id, broker.host, broker.port) == (NODE_ID, HOST, PORT)
        assert response.cluster_authorized_operations == NOT_REQUESTED


def test_authorized_operations_are_returned_on_request(node: OneNode) -> None:
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)

    assert node.send_request(request, 0).cluster_authorized_operations == CLUSTER_OPERATIONS


def test_fenced_brokers_are_shown_on_request(node: OneNode) -> None:
    brokers = node.image.brokers
    brokers[7] = brokers[NODE_ID]._replace(id=7, fenced=True)

    without_fenced = node.send_request(DescribeClusterRequest(), 2)
    with_fenced = node.send_request(DescribeClusterRequest(include_fenced_brokers=True), 2)

    assert [broker.broker_id for broker in without_fenced.brokers] == [NODE_ID]
    assert {broker.broker_id: broker.is_fenced for broker in with_fenced.brokers} == {
        NODE_ID: False,
        7: True,
    }


def test_controllers_are_described_by_controllers(node: OneNode) -> None:
    request = DescribeClusterRequest(endpoint_type=EndpointType.CONTROLLER)

    assert node.send_request(request, 1).error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE
    request.endpoint_type = 9
    assert node.send_request(request, 1).error_code == ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
