"""Which brokers are alive according to the active controller, and fencing of those that are not.

Handles registrations and heartbeats. Overdue brokers are fenced one at a time: fencing one elects
new leaders, and the next overdue broker may be among them.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Final

from ottla.controller.broker_sessions import BrokerSessions
from ottla.controller.controller import Controller, not_controller
from ottla.controller.operations.fence_broker import fence_broker
from ottla.controller.operations.heartbeat import heartbeat
from ottla.controller.operations.register_broker import register_broker
from ottla.controller.operations.unregister_broker import unregister_broker
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.clock import Clock, Timer
from ottla.runtime.tasks import Tasks
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from ottla.wire.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)

_log = logging.getLogger(__name__)

_FENCING_RETRY_SECONDS: Final = 0.1


class BrokerLiveness:
    """Lives as long as the node; has broker sessions only while the controller is active."""

    def __init__(
        self, controller: Controller, clock: Clock, tasks: Tasks, *, session_timeout_ms: int
    ) -> None:
        self._controller = controller
        self._clock = clock
        self._tasks = tasks
        self._session_timeout_ms = session_timeout_ms
        self._sessions: BrokerSessions | None = None
        # The broker epochs of nodes whose ports no longer accept connections.
        self._lost: dict[int, int] = {}
        self._timer: Timer | None = None
        self._fencing: asyncio.Task[object] | None = None

    # ---- callbacks of the quorum

    def activate(self) -> None:
        self._sessions = BrokerSessions(
            self._controller.proposed_image.brokers.values(),
            session_timeout_ms=self._session_timeout_ms,
            now_ms=self._now_ms(),
        )
        brokers = self._controller.proposed_image.brokers
        for node_id, epoch in sorted(self._lost.items()):
            # A broker that has registered since then is another incarnation, and alive.
            if node_id in brokers and brokers[node_id].epoch == epoch:
                self._suspect(node_id)
        self._set_timer()

    def deactivate(self) -> None:
        self._sessions = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def node_lost(self, node_id: int) -> None:
        """Nothing listens at the node's address any more. This is remembered for when this
        controller becomes active: the lost node is often why it does."""
        broker = self._controller.quorum.metadata.image.brokers.get(node_id)
        if broker is not None:
            self._lost[node_id] = broker.epoch
        self._suspect(node_id)
        self._set_timer()

    def _suspect(self, node_id: int) -> None:
        if self._sessions is not None:
            self._sessions.suspect(node_id, until_ms=self._now_ms())

    def disconnected(self, connection: object) -> None:
        """A connection on which heartbeats arrived has closed."""
        if self._sessions is not None:
            self._sessions.disconnected(connection, now_ms=self._now_ms())
            self._set_timer()

    # ---- requests of brokers

    async def register(self, request: BrokerRegistrationRequest) -> BrokerRegistrationResponse:
        sessions = self._require_sessions()
        is_alive = sessions.has_session(request.broker_id, now_ms=self._now_ms())
        response = await self._controller.submit(
            partial(register_broker, has_session=is_alive), request
        )
        if response.error_code == ErrorCode.NONE:
            sessions.end(request.broker_id)
        return response

    async def heartbeat(
        self, request: BrokerHeartbeatRequest, connection: object | None
    ) -> BrokerHeartbeatResponse:
        sessions, broker_id = self._require_sessions(), request.broker_id
        others_know = sessions.others_know(broker_id)
        response = await self._controller.submit(
            partial(heartbeat, others_know=others_know), request
        )
        if response.error_code != ErrorCode.NONE:
            return response
        self._lost.pop(broker_id, None)
        sessions.heartbeat(
            broker_id,
            now_ms=self._now_ms(),
            metadata_offset=request.current_metadata_offset,
            is_fenced=response.is_fenced,
            connection=connection,
        )
        if request.want_shut_down and not response.should_shut_down:
            last = self._controller.quorum.log.log_end_offset - 1
            sessions.begin_controlled_shutdown(broker_id, offset=last)
        self._set_timer()
        return response

    async def unregister(self, request: UnregisterBrokerRequest) -> UnregisterBrokerResponse:
        response = await self._controller.submit(unregister_broker, request)
        if self._sessions is not None and response.error_code == ErrorCode.NONE:
            self._sessions.end(request.broker_id)
        return response

    # ---- fencing

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline_ms = self._sessions.next_deadline_ms if self._sessions is not None else None
        if deadline_ms is not None and self._fencing is None:
            seconds = max(deadline_ms - self._now_ms(), 0) / 1_000
            self._timer = self._clock.call_later(seconds, self._begin_fencing)

    def _begin_fencing(self) -> None:
        self._timer = None
        if self._fencing is None:
            self._fencing = self._tasks.start("fence brokers", self._fence_overdue())

    async def _fence_overdue(self) -> None:
        try:
            while (sessions := self._sessions) is not None and (
                broker_id := sessions.overdue(now_ms=self._now_ms())
            ) is not None:
                await self._fence(broker_id)
                sessions.end(broker_id)
        except KafkaError as error:
            _log.warning("cannot fence brokers: %s", error)
            await self._clock.sleep(_FENCING_RETRY_SECONDS)
        finally:
            self._fencing = None
            self._set_timer()

    async def _fence(self, broker_id: int) -> None:
        broker = self._controller.proposed_image.brokers.get(broker_id)
        if broker is not None:
            _log.warning("fencing broker %d: it has ended or sends no heartbeats", broker_id)
            request = BrokerHeartbeatRequest(broker_id=broker_id, broker_epoch=broker.epoch)
            await self._controller.submit(fence_broker, request)

    def _require_sessions(self) -> BrokerSessions:
        if self._sessions is None:
            raise not_controller()
        return self._sessions

    def _now_ms(self) -> int:
        return int(self._clock.monotonic() * 1_000)
