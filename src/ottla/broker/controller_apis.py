"""What a controller's listener serves: the quorum's replicas, brokers, and tools that ask it.

An administrator's request that a broker forwards comes in an envelope (KIP-590). A request that the
controller cannot answer now, because it is not the active one, gets the error in the place that its
response has for it; if it has none, the connection ends and the client looks for the right node.
"""

from __future__ import annotations

from typing import Any, Final

from ottla.broker.broker import Broker
from ottla.broker.handlers.api_versions import describe_apis
from ottla.broker.handling import HandledApi, RequestContext
from ottla.controller.service import BROKER_APIS, OPERATIONS, QUORUM_APIS
from ottla.model import ErrorCode, KafkaError
from ottla.wire.apis import ApiKey, request_class, response_class
from ottla.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from ottla.wire.messages.envelope import EnvelopeRequest, EnvelopeResponse
from ottla.wire.requests import decode_request, encode_response
from ottla.wire.schema import Message

_CONTROLLER_ENDPOINTS: Final = 2
_FORWARDED: Final = frozenset(
    (*OPERATIONS, *BROKER_APIS, ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER)
)


def controller_apis() -> dict[int, HandledApi]:
    """By key, with the handler of each."""
    handlers: dict[int, Any] = dict.fromkeys((*OPERATIONS, *QUORUM_APIS, *BROKER_APIS), serve)
    handlers[ApiKey.API_VERSIONS] = api_versions
    handlers[ApiKey.DESCRIBE_CLUSTER] = describe_cluster
    handlers[ApiKey.ENVELOPE] = envelope
    apis = {}
    for key in sorted(handlers):
        served = request_class(key).versions
        versions = range(served.lowest, served.highest + 1)
        apis[int(key)] = HandledApi(ApiKey(key), handlers[key], request_class(key), versions)
    return apis


async def serve(broker: Broker, context: RequestContext, request: Message) -> Message:
    connection = context.connection
    if isinstance(request, BrokerHeartbeatRequest) and connection is not None:
        broker.service.watch(connection)
    try:
        return await broker.service.serve(request, connection=connection)
    except KafkaError as error:
        return _refusal(request, error)


async def envelope(
    broker: Broker, context: RequestContext, request: EnvelopeRequest
) -> EnvelopeResponse:
    head, forwarded = decode_request(request.request_data)
    if head.api_key not in _FORWARDED:
        return EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST)
    try:
        response = await broker.service.serve(forwarded, connection=context.connection)
    except KafkaError as error:
        return EnvelopeResponse(error_code=error.code)
    parts: list[Any] = encode_response(
        response, head.api_version, correlation_id=head.correlation_id
    )
    return EnvelopeResponse(response_data=b"".join(parts)[4:])


def api_versions(
    broker: Broker, context: RequestContext, request: ApiVersionsRequest
) -> ApiVersionsResponse:
    return describe_apis(broker, context, request, broker.controller_apis)


def describe_cluster(
    broker: Broker,
    context: RequestContext,
    request: DescribeClusterRequest,
) -> DescribeClusterResponse:
    """The controllers, as one of them is asked (KIP-919)."""
    if request.endpoint_type != _CONTROLLER_ENDPOINTS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="this is a controller's endpoint; ask a broker's for the brokers",
        )
    quorum = broker.service.controller.quorum
    leader = quorum.leader_and_epoch.leader_id
    found = [(voter.key.id, voter.endpoint(context.listener)) for voter in quorum.voters.voters]
    return DescribeClusterResponse(
        endpoint_type=_CONTROLLER_ENDPOINTS,
        cluster_id=broker.cluster_id,
        controller_id=-1 if leader is None else leader,
        brokers=[
            DescribeClusterBroker(broker_id=node_id, host=endpoint.host, port=endpoint.port)
            for node_id, endpoint in found
            if endpoint is not None
        ],
    )


def _refusal(request: Message, error: KafkaError) -> Message:
    assert request.api_key is not None
    cls = response_class(request.api_key)
    if "error_code" not in cls.field_options:
        raise ConnectionAbortedError(f"{type(request).__name__} cannot be answered: {error}")
    fields: dict[str, Any] = {"error_code": error.code}
    if "error_message" in cls.field_options:
        fields["error_message"] = error.message
    return cls(**fields)
