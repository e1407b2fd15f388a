"""The APIs of a controller listener, for quorum replicas, brokers and admin clients.

Another node forwards an admin request in an Envelope (KIP-590), which this controller handles
itself. An admin request sent directly to any controller is forwarded to the active one. Requests of
brokers and quorum replicas are never forwarded: this controller handles them or returns an error in
the response's top-level `error_code`. If the response has no such field, the connection is closed
and the broker looks for the active controller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.authorizer import Authorizer
from ottla.broker.control.cluster_features import ClusterFeatures
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.forwarding import error_response, forward
from ottla.broker.handlers.api_versions import describe_apis
from ottla.broker.handlers.describe_acls import describe_acls
from ottla.broker.handlers.describe_configs import describe_configs
from ottla.broker.handlers.describe_delegation_token import describe_delegation_token
from ottla.broker.handlers.describe_user_scram_credentials import describe_user_scram_credentials
from ottla.broker.handlers.incremental_alter_configs import alter_incrementally
from ottla.broker.handlers.sasl_authenticate import sasl_authenticate
from ottla.broker.handlers.sasl_handshake import sasl_handshake
from ottla.broker.network.handling import HandledApi, RequestContext
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.controller.api_rights import RIGHTS
from ottla.controller.controller import OutcomeUnknownError
from ottla.controller.quorum import MetadataQuorum
from ottla.controller.service import BROKER_APIS, OPERATIONS, QUORUM_APIS, ControllerService
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.clock import Clock
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import NO_RIGHTS, Right, Rights
from ottla.security.client_host import decode_host
from ottla.security.principal import decode_principal
from ottla.wire.apis import ApiKey
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from ottla.wire.messages.envelope import EnvelopeRequest, EnvelopeResponse
from ottla.wire.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.wire.requests import (
    RequestHead,
    decode_request,
    decode_request_head,
    encode_response,
)
from ottla.wire.schema import Message

_CONTROLLER_ENDPOINTS: Final = 2
# Longer than an election: admin clients do not retry when no controller is returned.
_LEADER_WAIT_SECONDS: Final = 2.0
ADMIN_APIS: Final = (
    ApiKey.CREATE_TOPICS,
    ApiKey.DELETE_TOPICS,
    ApiKey.CREATE_PARTITIONS,
    ApiKey.ALTER_CONFIGS,
    ApiKey.UPDATE_FEATURES,
    ApiKey.ELECT_LEADERS,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    ApiKey.LIST_PARTITION_REASSIGNMENTS,
    ApiKey.UNREGISTER_BROKER,
    ApiKey.DESCRIBE_QUORUM,
    ApiKey.ADD_RAFT_VOTER,
    ApiKey.REMOVE_RAFT_VOTER,
    ApiKey.CREATE_ACLS,
    ApiKey.DELETE_ACLS,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    ApiKey.ALTER_CLIENT_QUOTAS,
    ApiKey.CREATE_DELEGATION_TOKEN,
    ApiKey.RENEW_DELEGATION_TOKEN,
    ApiKey.EXPIRE_DELEGATION_TOKEN,
)
_FORWARDED: Final = frozenset(
    (*ADMIN_APIS, ApiKey.INCREMENTAL_ALTER_CONFIGS, ApiKey.ALLOCATE_PRODUCER_IDS)
)
_CLUSTER_ACTION: Final = Right(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER)
_RIGHTS: Final[Mapping[int, tuple[Right, ...]]] = {
    **RIGHTS,
    ApiKey.API_VERSIONS: NO_RIGHTS,
    ApiKey.SASL_HANDSHAKE: NO_RIGHTS,
    ApiKey.SASL_AUTHENTICATE: NO_RIGHTS,
    ApiKey.ENVELOPE: (_CLUSTER_ACTION,),
    ApiKey.DESCRIBE_CLUSTER: (Right(AclOperation.ALTER, ResourceType.CLUSTER),),
    ApiKey.DESCRIBE_CONFIGS: (
        Right(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC),
        Right(AclOperation.DESCRIBE_CONFIGS, ResourceType.CLUSTER),
        Right(AclOperation.DESCRIBE_CONFIGS, ResourceType.GROUP),
    ),
    # For log levels, CLUSTER_ACTION instead of the ALTER_CONFIGS that brokers check.
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (
        *RIGHTS[ApiKey.INCREMENTAL_ALTER_CONFIGS],
        _CLUSTER_ACTION,
    ),
    ApiKey.DESCRIBE_ACLS: (Right(AclOperation.DESCRIBE, ResourceType.CLUSTER),),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: (Right(AclOperation.DESCRIBE, ResourceType.CLUSTER),),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: (
        Right(AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN),
        Right(AclOperation.DESCRIBE_TOKENS, ResourceType.USER),
    ),
}


def controller_apis(node: Any) -> dict[int, HandledApi]:
    """The APIs of a controller listener with their handlers, by API key."""
    handlers: dict[int, Any] = dict.fromkeys((*OPERATIONS, *QUORUM_APIS, *BROKER_APIS), serve)
    handlers |= dict.fromkeys(ADMIN_APIS, forward_to_active)
    handlers[ApiKey.INCREMENTAL_ALTER_CONFIGS] = incremental_alter_configs
    handlers[ApiKey.API_VERSIONS] = api_versions
    handlers[ApiKey.SASL_HANDSHAKE] = sasl_handshake
    handlers[ApiKey.SASL_AUTHENTICATE] = sasl_authenticate
    handlers[ApiKey.DESCRIBE_CLUSTER] = describe_cluster
    handlers[ApiKey.DESCRIBE_CONFIGS] = describe_configs
    handlers[ApiKey.DESCRIBE_ACLS] = describe_acls
    handlers[ApiKey.DESCRIBE_DELEGATION_TOKEN] = describe_delegation_token
    handlers[ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS] = describe_user_scram_credentials
    handlers[ApiKey.ENVELOPE] = envelope
    return {
        int(key): HandledApi(ApiKey(key), node, handler=handlers[key], rights=_RIGHTS[key])
        for key in sorted(handlers)
    }


async def serve(
    context: RequestContext, request: Message, *, service: ControllerService
) -> Message:
    try:
        return await service.serve(
            request,
            connection=context.connection,
            listener_name=context.listener,
            rights=context.rights,
            version=context.api_version,
            client_id=context.client_id,
        )
    except KafkaError as error:
        return error_response(request, error)


async def forward_to_active(
    context: RequestContext,
    request: Message,
    *,
    controller: ActiveController,
) -> Message:
    response: Message = await forward(
        controller, request, context.api_version, context.rights, context.client_id
    )
    return response


async def incremental_alter_configs(
    context: RequestContext,
    request: IncrementalAlterConfigsRequest,
    *,
    cluster: ClusterView,
    changes: MetadataChanges,
) -> IncrementalAlterConfigsResponse:
    """A controller accepts configs of any node, and log levels of itself (KIP-919)."""
    return await alter_incrementally(cluster, changes, context, request, of_any_node=True)


async def envelope(
    context: RequestContext,
    request: EnvelopeRequest,
    *,
    service: ControllerService,
    authorizer: Authorizer,
) -> EnvelopeResponse:
    """Handles a request of another node's client with that client's rights. The node needs
    CLUSTER_ACTION. Without a principal the request is one of the node itself."""
    try:
        rights = _forwarded_rights(context, request, authorizer)
        head, forwarded = _forwarded_request(request)
    except KafkaError as error:
        return EnvelopeResponse(error_code=error.code)
    try:
        response = await service.serve(
            forwarded, rights=rights, version=head.api_version, client_id=head.client_id
        )
    except OutcomeUnknownError:
        # NOT_CONTROLLER would mean that the request was not executed.
        return EnvelopeResponse(error_code=ErrorCode.REQUEST_TIMED_OUT)
    except KafkaError as error:
        if error.code is not ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            return EnvelopeResponse(error_code=error.code)
        response = error_response(forwarded, error)
    parts: list[Any] = encode_response(
        response, head.api_version, correlation_id=head.correlation_id
    )
    return EnvelopeResponse(response_data=b"".join(parts)[4:])


def _forwarded_rights(
    context: RequestContext, request: EnvelopeRequest, authorizer: Authorizer
) -> Rights:
    sender = context.rights
    sender.require(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME)
    if not request.request_principal:
        return sender
    principal = decode_principal(request.request_principal)
    return authorizer.rights_of(principal, decode_host(request.client_host_address))


def _forwarded_request(request: EnvelopeRequest) -> tuple[RequestHead, Message]:
    try:
        head = decode_request_head(request.request_data)
        if head.api_key not in _FORWARDED:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"requests of API {head.api_key} are not forwarded"
            )
        return decode_request(request.request_data)
    except ProtocolError as error:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, str(error)) from None


def api_versions(
    context: RequestContext,
    request: ApiVersionsRequest,
    *,
    features: ClusterFeatures,
    controller_apis: Mapping[int, HandledApi],
) -> ApiVersionsResponse:
    return describe_apis(context, request, features, controller_apis)


async def describe_cluster(
    context: RequestContext,
    request: DescribeClusterRequest,
    *,
    cluster: ClusterView,
    controller: ActiveController,
    service: ControllerService,
    clock: Clock,
) -> DescribeClusterResponse:
    """Returns the registered controllers (KIP-919)."""
    try:
        context.rights.require(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME)
    except KafkaError as error:
        return DescribeClusterResponse(error_code=error.code, error_message=error.message)
    if request.endpoint_type != _CONTROLLER_ENDPOINTS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="this is a controller listener; send the request to a broker listener "
            "to get the brokers",
        )
    leader = await _wait_leader(service.controller.quorum, controller, clock)
    return DescribeClusterResponse(
        endpoint_type=_CONTROLLER_ENDPOINTS,
        cluster_id=cluster.cluster_id,
        controller_id=-1 if leader is None else leader,
        brokers=[
            DescribeClusterBroker(broker_id=node_id, host=endpoint.host, port=endpoint.port)
            for node_id, registered in sorted(cluster.image.controllers.items())
            for endpoint in registered.endpoints
            if endpoint.name == context.listener
        ],
    )


async def _wait_leader(
    quorum: MetadataQuorum, controller: ActiveController, clock: Clock
) -> int | None:
    """The quorum leader's id, or None if there is no leader within `_LEADER_WAIT_SECONDS`."""
    deadline = clock.monotonic() + _LEADER_WAIT_SECONDS
    while (leader := quorum.leader_and_epoch.leader_id) is None and clock.monotonic() < deadline:
        await controller.wait_moved()
    return leader
