"""How a node makes itself known to the controller, stays known, and takes its leave.

unknown ──register──▶ fenced ──caught up──▶ serving ──wants to shut down──▶ may stop
                        ▲                      │
                        └──not heard of for a session timeout, or its connection ended

Heartbeats come at an interval, and at once when the controller is another one or the connection to
it was lost: it takes a broker that does not come back quickly for a dead one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Final

from ottla.broker.active_controller import ActiveController, Lane
from ottla.client import ChannelError
from ottla.configs.listeners import Listener
from ottla.controller.committed_metadata import CommittedMetadata
from ottla.metadata.features import SUPPORTED_FEATURES
from ottla.model import ErrorCode, KafkaError, Uuid
from ottla.runtime.clock import Clock
from ottla.wire.messages import broker_registration, controller_registration
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest
from ottla.wire.messages.controller_registration import ControllerRegistrationRequest

_log = logging.getLogger(__name__)

_SECURITY_PROTOCOLS: Final = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}
_UNREGISTERED: Final = -1
_RETRY_SECONDS: Final = 0.02
# Between heartbeats of one that wants to be served, or to stop, and waits for nothing else.
_EAGER_SECONDS: Final = 0.01
_LEAVE_SECONDS: Final = 10.0


class Registration:
    """One incarnation of a node. Belongs to the node's loop."""

    def __init__(
        self,
        controller: ActiveController,
        metadata: CommittedMetadata,
        clock: Clock,
        *,
        node_id: int,
        incarnation_id: Uuid,
        heartbeat_interval_ms: int,
        session_timeout_ms: int,
        offline_directories: Callable[[], list[Uuid]] = list,
    ) -> None:
        self.broker_epoch = _UNREGISTERED
        self._controller = controller
        self._metadata = metadata
        self._clock = clock
        self._node_id = node_id
        self._incarnation_id = incarnation_id
        self._interval = heartbeat_interval_ms / 1_000
        self._session_timeout_ms = session_timeout_ms
        self._offline_directories = offline_directories
        self._hurry = asyncio.Event()

    # ---- becoming known

    async def register_controller(self, endpoints: Iterable[Listener]) -> None:
        """Makes the node known as one of the controllers."""
        request = ControllerRegistrationRequest(
            controller_id=self._node_id,
            incarnation_id=self._incarnation_id,
            listeners=[
                controller_registration.Listener(
                    name=name,
                    host=host,
                    port=port,
                    security_protocol=_SECURITY_PROTOCOLS[protocol],
                )
                for name, host, port, protocol in endpoints
            ],
            features=[
                controller_registration.Feature(
                    name=name, min_supported_version=low, max_supported_version=high
                )
                for name, (low, high) in SUPPORTED_FEATURES.items()
            ],
        )
        while True:
            try:
                await self._controller.send(request)
            except (ChannelError, KafkaError):
                await self._clock.sleep(_RETRY_SECONDS)
            else:
                return

    async def register(
        self,
        advertised: Iterable[Listener],
        *,
        cluster_id: str,
        rack: str | None,
        directory_ids: list[Uuid],
        previous_broker_epoch: int,
    ) -> None:
        """Makes the node known as a broker, still fenced. Tries until a controller answers.

        Raises KafkaError if it is refused for good.
        """
        request = BrokerRegistrationRequest(
            broker_id=self._node_id,
            cluster_id=cluster_id,
            incarnation_id=self._incarnation_id,
            listeners=[
                broker_registration.Listener(
                    name=name, host=host, port=port, security_protocol=_SECURITY_PROTOCOLS[protocol]
                )
                for name, host, port, protocol in advertised
            ],
            features=[
                broker_registration.Feature(
                    name=name, min_supported_version=low, max_supported_version=high
                )
                for name, (low, high) in SUPPORTED_FEATURES.items()
            ],
            rack=rack,
            log_dirs=directory_ids,
            previous_broker_epoch=previous_broker_epoch,
        )
        while True:
            try:
                response = await self._controller.send(request)
            except (ChannelError, KafkaError):
                await self._clock.sleep(_RETRY_SECONDS)
                continue
            if response.error_code == ErrorCode.NONE:
                self.broker_epoch = response.broker_epoch
                return
            error = ErrorCode(response.error_code)
            if error not in (ErrorCode.NOT_CONTROLLER, ErrorCode.DUPLICATE_BROKER_REGISTRATION):
                raise KafkaError(
                    error, f"the controller does not take this node as a broker: {error.name}"
                )
            await self._clock.sleep(_RETRY_SECONDS)

    async def wait_known(self) -> None:
        """Returns when this node's own metadata shows that it is registered."""
        while True:
            broker = self._metadata.image.brokers.get(self._node_id)
            if broker is not None and broker.epoch == self.broker_epoch:
                return
            await self._clock.sleep(_EAGER_SECONDS)

    # ---- staying known

    async def begin_to_serve(self) -> None:
        """Returns when the controller has unfenced the node, and its own metadata shows it."""
        while True:
            await self._heartbeat(want_shut_down=False)
            broker = self._metadata.image.brokers.get(self._node_id)
            if broker is not None and not broker.fenced and broker.epoch == self.broker_epoch:
                return
            await self._clock.sleep(_EAGER_SECONDS)

    async def keep_alive(self) -> None:
        """Goes on until it is cancelled."""
        while True:
            await self._wait_interval()
            response = await self._heartbeat(want_shut_down=False)
            if response is not None and response.error_code != ErrorCode.NONE:
                _log.error(
                    "the controller knows another incarnation of node %d (%s)",
                    self._node_id,
                    ErrorCode(response.error_code).name,
                )

    def hurry(self) -> None:
        """Has the next heartbeat sent at once: the controller may take this node for dead."""
        self._hurry.set()

    async def take_leave(self) -> None:
        """Gives up every leadership, so that nobody is sent here any more."""
        if self.broker_epoch == _UNREGISTERED:
            return
        deadline = self._clock.monotonic() + _LEAVE_SECONDS
        while self._clock.monotonic() < deadline:
            response = await self._heartbeat(want_shut_down=True, timeout_ms=1_000)
            if response is not None and (response.should_shut_down or response.error_code):
                return
            await self._clock.sleep(_EAGER_SECONDS)

    async def _wait_interval(self) -> None:
        timer = self._clock.call_later(self._interval, self._hurry.set)
        try:
            await self._hurry.wait()
        finally:
            timer.cancel()
        self._hurry.clear()

    async def _heartbeat(
        self, *, want_shut_down: bool, timeout_ms: int | None = None
    ) -> BrokerHeartbeatResponse | None:
        """None if the controller did not answer, of which the next one hears soon."""
        request = BrokerHeartbeatRequest(
            broker_id=self._node_id,
            broker_epoch=self.broker_epoch,
            current_metadata_offset=self._metadata.end_offset - 1,
            want_fence=False,
            want_shut_down=want_shut_down,
            offline_log_dirs=self._offline_directories(),
        )
        timeout_ms = timeout_ms or self._session_timeout_ms // 2
        try:
            response: BrokerHeartbeatResponse = await self._controller.send(
                request, lane=Lane.HEARTBEATS, timeout_ms=timeout_ms
            )
        except (ChannelError, KafkaError) as error:
            _log.debug("no answer to a heartbeat: %s", error)
        else:
            if response.error_code != ErrorCode.NOT_CONTROLLER:
                return response
        await self._clock.sleep(_RETRY_SECONDS)
        self.hurry()
        return None
