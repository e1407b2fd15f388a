"""What a controller answers: requests of brokers, of the quorum's replicas and of administrators.

One entry for all of them, whether they came over the network or from the broker in the same
process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol

from ottla.controller.broker_liveness import BrokerLiveness
from ottla.controller.controller import Controller
from ottla.controller.operation import Operation
from ottla.controller.operations.allocate_producer_ids import allocate_producer_ids
from ottla.controller.operations.alter_configs import (
    incremental_alter_configs,
    legacy_alter_configs,
)
from ottla.controller.operations.alter_partition import alter_partition
from ottla.controller.operations.alter_partition_reassignments import (
    alter_partition_reassignments,
)
from ottla.controller.operations.assign_replicas_to_dirs import assign_replicas_to_dirs
from ottla.controller.operations.create_partitions import create_partitions
from ottla.controller.operations.create_topics import create_topics
from ottla.controller.operations.delete_topics import delete_topics
from ottla.controller.operations.elect_leaders import elect_leaders
from ottla.controller.operations.list_partition_reassignments import (
    list_partition_reassignments,
)
from ottla.controller.operations.register_controller import register_controller
from ottla.controller.operations.update_features import update_features
from ottla.controller.quorum_description import describe_quorum
from ottla.wire.apis import ApiKey
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest
from ottla.wire.messages.describe_quorum import DescribeQuorumRequest
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from ottla.wire.schema import Message

OPERATIONS: Final[dict[int, Operation[Any, Any]]] = {
    ApiKey.CREATE_TOPICS: create_topics,
    ApiKey.DELETE_TOPICS: delete_topics,
    ApiKey.CREATE_PARTITIONS: create_partitions,
    ApiKey.ALTER_CONFIGS: legacy_alter_configs,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: incremental_alter_configs,
    ApiKey.UPDATE_FEATURES: update_features,
    ApiKey.ALLOCATE_PRODUCER_IDS: allocate_producer_ids,
    ApiKey.CONTROLLER_REGISTRATION: register_controller,
    ApiKey.ALTER_PARTITION: alter_partition,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: assign_replicas_to_dirs,
    ApiKey.ELECT_LEADERS: elect_leaders,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: alter_partition_reassignments,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: list_partition_reassignments,
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
        response: Message = await self.controller.submit(OPERATIONS[key], request)
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
