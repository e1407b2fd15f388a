"""What a controller answers: requests of brokers, of the quorum's replicas and of administrators.

One entry for all of them, whether they came over the network or from the broker in the same
process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any, Final, Protocol

from ottla.controller.broker_liveness import BrokerLiveness
from ottla.controller.controller import Controller
from ottla.controller.operation import Operation
from ottla.controller.quorum_description import describe_quorum
from ottla.wire.apis import ApiKey
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest
from ottla.wire.messages.describe_quorum import DescribeQuorumRequest
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from ottla.wire.schema import Message

# By their module under `operations` and their name there: see `operation_of`.
OPERATIONS: Final[dict[int, tuple[str, str]]] = {
    ApiKey.CREATE_TOPICS: ("create_topics", "create_topics"),
    ApiKey.DELETE_TOPICS: ("delete_topics", "delete_topics"),
    ApiKey.CREATE_PARTITIONS: ("create_partitions", "create_partitions"),
    ApiKey.ALTER_CONFIGS: ("alter_configs", "legacy_alter_configs"),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: ("alter_configs", "incremental_alter_configs"),
    ApiKey.UPDATE_FEATURES: ("update_features", "update_features"),
    ApiKey.ALLOCATE_PRODUCER_IDS: ("allocate_producer_ids", "allocate_producer_ids"),
    ApiKey.CONTROLLER_REGISTRATION: ("register_controller", "register_controller"),
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
# What goes to the quorum's replica, whoever leads.
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
    """Loaded when it is first asked for: a node serves before all of them are."""
    module, name = OPERATIONS[key]
    operation: Operation[Any, Any] = getattr(
        import_module(f"ottla.controller.operations.{module}"), name
    )
    return operation


class Watched(Protocol):
    """A connection, which says when it ends."""

    def when_closed(self, told: Callable[[], None]) -> None: ...


class ControllerService:
    """A `Follower` of the quorum's. Owned by the node's loop."""

    def __init__(self, controller: Controller, liveness: BrokerLiveness) -> None:
        self.controller = controller
        self.liveness = liveness
        self._watched: set[Watched] = set()

    # ---- what the quorum tells

    def activate(self, epoch: int) -> None:
        self.controller.activate(epoch)
        self.liveness.activate()

    def deactivate(self) -> None:
        self.liveness.deactivate()
        self.controller.deactivate()

    def committed(self, end_offset: int) -> None:
        self.controller.committed(end_offset)

    # ---- what others ask

    async def serve(self, request: Message, *, connection: Watched | None = None) -> Message:
        """The response. `KafkaError` is for the request as a whole: NOT_CONTROLLER above all."""
        key = request.api_key
        assert key is not None, f"{type(request).__name__} is no request"
        if key in QUORUM_APIS:
            return await self.controller.quorum.handle(request)
        match request:
            case BrokerHeartbeatRequest():
                return await self._heartbeat(request, connection)
            case BrokerRegistrationRequest():
                return await self.liveness.register(request)
            case UnregisterBrokerRequest():
                return await self.liveness.unregister(request)
            case DescribeQuorumRequest():
                return describe_quorum(self.controller.quorum, request)
        response: Message = await self.controller.submit(operation_of(key), request)
        return response

    async def _heartbeat(
        self, request: BrokerHeartbeatRequest, connection: Watched | None
    ) -> BrokerHeartbeatResponse:
        """Takes the end of the connection for a sign of the broker's end."""
        if connection is not None and connection not in self._watched:
            self._watched.add(connection)
            connection.when_closed(partial(self._closed, connection))
        response = await self.liveness.heartbeat(request, connection)
        if connection is not None and connection not in self._watched:
            # It ended before the heartbeat counted.
            self.liveness.disconnected(connection)
        return response

    def _closed(self, connection: Watched) -> None:
        self._watched.discard(connection)
        self.liveness.disconnected(connection)
