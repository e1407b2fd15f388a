"""What a controller's listener answers, above all when the controller is not the active one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext
from ottla.controller.controller import OutcomeUnknownError
from ottla.controller.metadata_log import METADATA_TOPIC_ID
from ottla.controller.service import ControllerService
from ottla.metadata import SUPPORTED_FEATURES
from ottla.metadata.broker import feature_structs
from ottla.model import ErrorCode
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.controller_registration import (
    ControllerRegistrationRequest,
    Feature,
    Listener,
)
from ottla.wire.messages.create_topics import CreateTopicsRequest
from ottla.wire.messages.describe_cluster import DescribeClusterRequest
from ottla.wire.messages.describe_quorum import DescribeQuorumRequest
from ottla.wire.messages.envelope import EnvelopeRequest
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from ottla.wire.messages.vote import VoteRequest
from ottla.wire.requests import decode_response, encode_request
from ottla.wire.schema import Message
from tests.support.nodes.one_node import OneNode


def send_request(node: OneNode, request: Message) -> Any:
    assert request.api_key is not None
    context = RequestContext(request.versions.highest, "test", "127.0.0.1", "CONTROLLER")
    answer: Any = node.broker.controller_apis[request.api_key].handler(context, request)

    async def answered() -> Any:
        return answer if isinstance(answer, Message) else await answer

    return node.run(answered())


def enveloped(request: Message) -> EnvelopeRequest:
    parts = encode_request(
        request, request.versions.highest, correlation_id=7, client_id="forwarding"
    )
    return EnvelopeRequest(request_data=b"".join(parts)[4:])


def depose(node: OneNode) -> None:
    node.broker.service.deactivate()


def fail_metadata(node: OneNode) -> None:
    async def fail() -> None:
        node.controller.quorum.fail(OSError("the disk is gone"))

    node.run(fail())


def test_what_is_in_an_envelope_is_answered_in_one(node: OneNode) -> None:
    answer = send_request(node, enveloped(ListPartitionReassignmentsRequest()))
    assert answer.error_code == 0
    key = ApiKey.LIST_PARTITION_REASSIGNMENTS
    header, response = decode_response(
        answer.response_data, key, ListPartitionReassignmentsRequest.versions.highest
    )
    assert header.correlation_id == 7
    assert isinstance(response, ListPartitionReassignmentsResponse)


@pytest.mark.parametrize("request_", [MetadataRequest(), FetchRequest(), VoteRequest()])
def test_what_a_broker_answers_itself_is_not_forwarded(node: OneNode, request_: Message) -> None:
    assert send_request(node, enveloped(request_)).error_code == ErrorCode.INVALID_REQUEST


def test_envelope_to_a_deposed_controller_comes_back(node: OneNode) -> None:
    depose(node)
    answer = send_request(node, enveloped(CreateTopicsRequest()))
    assert answer.error_code == ErrorCode.NOT_CONTROLLER
    assert answer.response_data is None


def test_envelope_with_an_unknown_outcome_is_not_reported_as_unexecuted(
    node: OneNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def serve(
        _service: ControllerService, _request: Message, *, rights: Rights, **_sender: Any
    ) -> Message:
        assert rights is UNRESTRICTED
        raise OutcomeUnknownError(ErrorCode.NOT_CONTROLLER, "deposed before the commit")

    monkeypatch.setattr(ControllerService, "serve", serve)
    answer = send_request(node, enveloped(CreateTopicsRequest()))
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT


def test_deposed_controller_refuses_brokers_with_not_controller(node: OneNode) -> None:
    depose(node)
    assert send_request(node, BrokerHeartbeatRequest()).error_code == ErrorCode.NOT_CONTROLLER


def test_administrators_are_answered_by_the_active_controller_wherever_it_is(
    node: OneNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forwarded(
        _controller: ActiveController,
        request: Message,
        _version: int,
        *,
        rights: Rights,
        client_id: str,
    ) -> Message:
        assert rights is UNRESTRICTED
        assert client_id == "test"
        return UpdateFeaturesResponse(error_message=type(request).__name__)

    monkeypatch.setattr(ActiveController, "forward", forwarded)
    depose(node)
    assert send_request(node, UpdateFeaturesRequest()).error_message == "UpdateFeaturesRequest"


def test_error_ends_the_connection_where_a_response_has_no_place_for_it(node: OneNode) -> None:
    fail_metadata(node)
    assert send_request(node, UpdateFeaturesRequest()).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    with pytest.raises(ConnectionAbortedError, match="cannot be handled"):
        send_request(node, CreateTopicsRequest())


def test_leader_describes_the_quorum(node: OneNode) -> None:
    assert [each.node_id for each in send_request(node, DescribeQuorumRequest()).nodes] == [1]


def test_controllers_are_described_and_brokers_are_not(node: OneNode) -> None:
    listener = Listener(name="CONTROLLER", host="controller.example", port=9093)
    registration = ControllerRegistrationRequest(
        controller_id=1,
        listeners=[listener],
        features=feature_structs(Feature, SUPPORTED_FEATURES),
    )
    assert send_request(node, registration).error_code == 0
    response = send_request(node, DescribeClusterRequest(endpoint_type=2))
    assert response.error_code == 0
    assert (response.controller_id, response.cluster_id) == (1, node.controller.cluster_id)
    found = [(each.broker_id, each.host, each.port) for each in response.brokers]
    assert found == [(1, "controller.example", 9093)]
    refused = send_request(node, DescribeClusterRequest(endpoint_type=1))
    assert refused.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE


def test_failed_metadata_ends_the_connections_of_other_replicas(node: OneNode) -> None:
    fail_metadata(node)
    with pytest.raises(ConnectionAbortedError, match="has failed"):
        send_request(node, VoteRequest())


def test_fetch_that_waits_is_ended_with_the_metadata(node: OneNode) -> None:
    async def play() -> None:
        quorum = node.controller.quorum
        epoch = quorum.leader_and_epoch.epoch
        fetch = fetch_at_the_end(quorum.log.log_end_offset, epoch)
        waiting = asyncio.ensure_future(quorum.handle(fetch))
        await asyncio.sleep(0)  # noqa: TID251 - lets it be parked
        assert not waiting.done()
        quorum.fail(OSError("the disk is gone"))
        with pytest.raises(ConnectionAbortedError):
            await waiting

    node.run(play())


def fetch_at_the_end(offset: int, epoch: int) -> FetchRequest:
    partition = FetchPartition(
        partition=0,
        current_leader_epoch=epoch,
        fetch_offset=offset,
        last_fetched_epoch=epoch,
        high_watermark=offset,
    )
    return FetchRequest(
        max_wait_ms=500,
        topics=[
            FetchTopic(
                topic="__cluster_metadata", topic_id=METADATA_TOPIC_ID, partitions=[partition]
            )
        ],
    )
