"""The requests that a controller handles: from brokers, replicas of the quorum and administrators.

The entry point is the same for requests over the network and from the broker in the same process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any, Final, Protocol

from ottla.controller.api_rights import CLUSTER_OPERATIONS, RIGHTS
from ottla.controller.broker_liveness import BrokerLiveness
from ottla.controller.controller import Controller
from ottla.controller.mutation_quotas import UNLIMITED
from ottla.controller.operation import Operation
from ottla.controller.quorum_description import describe_quorum
from ottla.security.acls.acl import CLUSTER_NAME, ResourceType
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest
from ottla.wire.messages.describe_quorum import DescribeQuorumRequest
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from ottla.wire.schema import Message

# The module under `operations` and the function in it: see `operation_of`.
OPERATIONS: Final[dict[int, tuple[str, str]]] = {
    ApiKey.CREATE_TOPICS: ("create_topics", "create_topics"),
    ApiKey.DELETE_TOPICS: ("delete_topics", "delete_topics"),
    ApiKey.CREATE_PARTITIONS: ("create_partitions", "create_partitions"),
    ApiKey.ALTER_CONFIGS: ("alter_configs", "legacy_alter_configs"),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: ("alter_configs", "incremental_alter_configs"),
    ApiKey.UPDATE_FEATURES: ("update_features", "update_features"),
    ApiKey.ALLOCATE_PRODUCER_IDS: ("allocate_producer_ids", "allocate_producer_ids"),
    ApiKey.CONTROLLER_REGISTRATION: ("register_controller", "register_controller"),
    ApiKey.CREATE_ACLS: ("create_acls", "create_acls"),
    ApiKey.DELETE_ACLS: ("delete_acls", "delete_acls"),
    ApiKey.ALTER_CLIENT_QUOTAS: ("alter_client_quotas", "alter_client_quotas"),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: (
        "alter_user_scram_credentials",
        "alter_user_scram_credentials",
    ),
    ApiKey.CREATE_DELEGATION_TOKEN: ("create_delegation_token", "create_delegation_token"),
    ApiKey.RENEW_DELEGATION_TOKEN: ("renew_delegation_token", "renew_delegation_token"),
    ApiKey.EXPIRE_DELEGATION_TOKEN: ("expire_delegation_token", "expire_delegation_token"),
    ApiKey.ALTER_PARTITION: ("alter_partition", "alter_partition"),
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: ("assign_replicas_to_dirs", "assign_replicas_to_dirs"),
    ApiKey.ELECT_LEADERS: ("elect_leaders", "elect_leaders"),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (
        "alter_partition_reassignments",
        "alter_partition_reassignments",
    ),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (
        "list_partition_reassignments",
        "list_partition_reassignments",
    ),
}
# Handled by the quorum's replica, whether or not it leads.
QUORUM_APIS: Final = frozenset(
    {
        ApiKey.VOTE,
        ApiKey.BEGIN_QUORUM_EPOCH,
        ApiKey.END_QUORUM_EPOCH,
        ApiKey.FETCH,
        ApiKey.FETCH_SNAPSHOT,
        ApiKey.ADD_RAFT_VOTER,
        ApiKey.REMOVE_RAFT_VOTER,
        ApiKey.UPDATE_RAFT_VOTER,
    }
)
BROKER_APIS: Final = frozenset(
    {
        ApiKey.BROKER_REGISTRATION,
        ApiKey.BROKER_HEARTBEAT,
        ApiKey.UNREGISTER_BROKER,
        ApiKey.DESCRIBE_QUORUM,
    }
)


@cache
def operation_of(key: int) -> Operation[Any, Any]:
    """Imported on first use, so that a node serves before all operations are loaded."""
    module, name = OPERATIONS[key]
    operation: Operation[Any, Any] = getattr(
        import_module(f"ottla.controller.operations.{module}"), name
    )
    return operation


class Watched(Protocol):
    """A connection with a callback for when it closes."""

    def when_closed(self, callback: Callable[[], None]) -> None: ...


class ControllerService:
    """The `QuorumFollower` of the quorum. Owned by the node's loop."""

    def __init__(self, controller: Controller, liveness: BrokerLiveness) -> None:
        self.controller = controller
        self.liveness = liveness
        self._watched: set[Watched] = set()

    # ---- callbacks of the quorum

    def activate(self, epoch: int) -> None:
        self.controller.activate(epoch)
        self.liveness.activate()

    def deactivate(self) -> None:
        self.liveness.deactivate()
        self.controller.deactivate()

    def committed(self, end_offset: int) -> None:
        self.controller.committed(end_offset)

    # ---- requests

    async def serve(
        self,
        request: Message,
        *,
        connection: Watched | None = None,
        listener_name: str | None = None,
        rights: Rights = UNRESTRICTED,
        version: int | None = None,
        client_id: str = "",
    ) -> Message:
        """Returns the response. `listener_name` is the listener that the request came through,
        None for requests of this node. `version` is that of a client's request. Raises
        `KafkaError` for the request as a whole, mostly NOT_CONTROLLER or
        CLUSTER_AUTHORIZATION_FAILED."""
        key = request.api_key
        assert key is not None, f"{type(request).__name__} is not a request"
        rights = rights.declaring(RIGHTS[key])
        operation = CLUSTER_OPERATIONS.get(key)
        if operation is not None:
            rights.require(operation, ResourceType.CLUSTER, CLUSTER_NAME)
        if key in QUORUM_APIS:
            return await self.controller.quorum.handle(request, listener_name=listener_name)
        match request:
            case BrokerHeartbeatRequest():
                return await self._heartbeat(request, connection)
            case BrokerRegistrationRequest():
                return await self.liveness.register(request)
            case UnregisterBrokerRequest():
                return await self.liveness.unregister(request)
            case DescribeQuorumRequest():
                return describe_quorum(self.controller.quorum, request)
        quota = self.controller.mutation_quotas.of_request(key, version, rights, client_id)
        response: Any = await self.controller.submit(operation_of(key), request, rights, quota)
        if quota is not UNLIMITED:
            response.throttle_time_ms = quota.throttle_ms()
        answer: Message = response
        return answer

    async def _heartbeat(
        self, request: BrokerHeartbeatRequest, connection: Watched | None
    ) -> BrokerHeartbeatResponse:
        """A closed connection is a sign that the broker has died."""
        if connection is not None and connection not in self._watched:
            self._watched.add(connection)
            connection.when_closed(partial(self._closed, connection))
        response = await self.liveness.heartbeat(request, connection)
        if connection is not None and connection not in self._watched:
            # It closed before the heartbeat was recorded.
            self.liveness.disconnected(connection)
        return response

    def _closed(self, connection: Watched) -> None:
        self._watched.discard(connection)
        self.liveness.disconnected(connection)
