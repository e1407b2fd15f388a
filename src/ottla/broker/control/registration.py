"""Registers a node with the controller, sends its heartbeats and does its controlled shutdown.

unregistered ──register──▶ fenced ──caught up──▶ serving ──controlled shutdown──▶ may stop
                             ▲                      │
                             └──session timeout, or connection lost

Heartbeats are sent at an interval. One is sent at once when
- the connection to the controller was lost: the controller treats a broker that does not reconnect
  quickly as dead,
- the registration of this node changed in the metadata,
- another broker is in controlled shutdown, which waits until all brokers have applied it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any, Final

from ottla.broker.control.active_controller import ActiveController, ForwardingLane
from ottla.channels import ChannelError
from ottla.configs.listeners import ConfiguredListener
from ottla.controller.committed_metadata import CommittedMetadata
from ottla.metadata import BrokerRegistration, Endpoint, MetadataDelta
from ottla.metadata.broker import feature_structs, listener_structs
from ottla.metadata.features import SUPPORTED_FEATURES
from ottla.model import ErrorCode, KafkaError, Uuid
from ottla.runtime.clock import Clock
from ottla.runtime.wakeup import Wakeup
from ottla.wire.messages import broker_registration, controller_registration
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest
from ottla.wire.messages.controller_registration import ControllerRegistrationRequest
from ottla.wire.schema import Message

_log = logging.getLogger(__name__)

_SECURITY_PROTOCOLS: Final = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}
_UNREGISTERED: Final = -1
# The interval between heartbeats during controlled shutdown.
_LEAVE_STEP_SECONDS: Final = 0.01
_LEAVE_SECONDS: Final = 10.0
# Without an active controller no leadership can move, so waiting longer does not help.
_LEAVE_UNANSWERED_SECONDS: Final = 2.0


class Registration:
    """The registration of one incarnation of a node. Owned by the node's loop."""

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
        # When the active controller answered the last heartbeat, in monotonic seconds.
        self.heartbeat_answered_at = clock.monotonic()
        self._is_leaving = False
        self._controller = controller
        self._metadata = metadata
        self._clock = clock
        self._node_id = node_id
        self._incarnation_id = incarnation_id
        self._interval = heartbeat_interval_ms / 1_000
        self._session_timeout_ms = session_timeout_ms
        self._offline_directories = offline_directories
        self._heartbeat_due = Wakeup(clock)
        # Consecutive heartbeats without a response.
        self._unanswered = 0
        metadata.listen(self._metadata_changed)

    # ---- registration

    async def register_controller(self, listeners: Iterable[ConfiguredListener]) -> None:
        """Registers the node as a controller (ControllerRegistration)."""
        request = ControllerRegistrationRequest(
            controller_id=self._node_id,
            incarnation_id=self._incarnation_id,
            listeners=listener_structs(controller_registration.Listener, _endpoints(listeners)),
            features=feature_structs(controller_registration.Feature, SUPPORTED_FEATURES),
        )
        await self._send_request(request)

    async def register(
        self,
        advertised: Iterable[ConfiguredListener],
        *,
        cluster_id: str,
        rack: str | None,
        directory_ids: list[Uuid],
        previous_broker_epoch: int,
    ) -> None:
        """Registers the node as a broker, initially fenced. Retries until a controller responds.

        Raises KafkaError if the controller rejects it with an error that is not retriable.
        """
        request = BrokerRegistrationRequest(
            broker_id=self._node_id,
            cluster_id=cluster_id,
            incarnation_id=self._incarnation_id,
            listeners=listener_structs(broker_registration.Listener, _endpoints(advertised)),
            features=feature_structs(broker_registration.Feature, SUPPORTED_FEATURES),
            rack=rack,
            log_dirs=directory_ids,
            previous_broker_epoch=previous_broker_epoch,
        )
        for attempts in count(1):
            response = await self._send_request(request)
            error = ErrorCode(response.error_code)
            if error is ErrorCode.NONE:
                self.broker_epoch = response.broker_epoch
                return
            if error is not ErrorCode.DUPLICATE_BROKER_REGISTRATION:
                raise KafkaError(
                    error, f"the controller refused to register this broker: {error.name}"
                )
            # The session of the previous incarnation may not have expired yet.
            await self._controller.wait_moved(attempts=attempts)

    @property
    def is_known(self) -> bool:
        """Whether this node's own metadata shows that it is registered."""
        return self._registered() is not None

    async def wait_known(self) -> None:
        """Returns once `is_known`. Raises KafkaError if this node's metadata has failed."""
        while not self.is_known:
            self._controller.require_metadata()
            await self._heartbeat_due.wait(self._interval)

    async def _send_request(self, request: Message) -> Any:
        """Sends `request` until the active controller responds; the response may contain an error.
        Raises `KafkaError` if this process's controller or metadata has failed."""
        for attempts in count(1):
            try:
                response = await self._controller.send(request)
            except ChannelError as error:
                _log.debug("no controller answers: %s", error)
            except KafkaError as error:
                if error.code is not ErrorCode.NOT_CONTROLLER:
                    raise
            else:
                if response.error_code != ErrorCode.NOT_CONTROLLER:
                    return response
            await self._controller.wait_moved(attempts=attempts)
        raise AssertionError("attempts never end")

    def _registered(self) -> BrokerRegistration | None:
        """This incarnation's registration in this node's own metadata, or None."""
        broker = self._metadata.image.brokers.get(self._node_id)
        return broker if broker is not None and broker.epoch == self.broker_epoch else None

    # ---- heartbeats and controlled shutdown

    async def begin_to_serve(self) -> None:
        """Returns when the controller has unfenced the node and the node's own metadata shows it.
        Raises KafkaError if the controller rejects the heartbeat."""
        while not self._is_serving():
            response = await self._heartbeat(want_shut_down=False)
            if response is None:
                continue
            if response.error_code != ErrorCode.NONE:
                error = ErrorCode(response.error_code)
                raise KafkaError(
                    error, f"the controller refused this broker's heartbeat: {error.name}"
                )
            if not self._is_serving():
                await self._heartbeat_due.wait(self._interval)

    def _is_serving(self) -> bool:
        registered = self._registered()
        return registered is not None and not registered.fenced

    async def keep_alive(self) -> None:
        """Sends heartbeats until the controlled shutdown starts, or this is cancelled."""
        while True:
            await self._heartbeat_due.wait(self._interval)
            if self._is_leaving:
                # A heartbeat without `want_shut_down` would unfence the broker again.
                return
            response = await self._heartbeat(want_shut_down=False)
            if response is not None and response.error_code != ErrorCode.NONE:
                _log.error(
                    "heartbeat refused: node %d %s (%s)",
                    self._node_id,
                    "was unregistered; restart it to register it again"
                    if self._metadata.image.brokers.get(self._node_id) is None
                    else "is registered by another process with the same node id",
                    ErrorCode(response.error_code).name,
                )

    def send_heartbeat_now(self) -> None:
        """Sends the next heartbeat at once, in case the controller considers this node dead."""
        self._heartbeat_due.wake()

    def _metadata_changed(self, delta: MetadataDelta) -> None:
        for broker_id in delta.brokers_changed:
            broker = self._metadata.image.brokers.get(broker_id)
            is_leaving = broker is not None and broker.in_controlled_shutdown and not broker.fenced
            if broker_id == self._node_id or is_leaving:
                self.send_heartbeat_now()

    async def controlled_shutdown(self) -> None:
        """Controlled shutdown: waits until the controller has moved all leadership away."""
        if self.broker_epoch == _UNREGISTERED:
            return
        self._is_leaving = True
        deadline = self._clock.monotonic() + _LEAVE_SECONDS
        unanswered_deadline = self._clock.monotonic() + _LEAVE_UNANSWERED_SECONDS
        while self._clock.monotonic() < min(deadline, unanswered_deadline):
            response = await self._heartbeat(want_shut_down=True, timeout_ms=1_000)
            if response is not None:
                if response.should_shut_down or response.error_code:
                    return
                unanswered_deadline = self._clock.monotonic() + _LEAVE_UNANSWERED_SECONDS
            await self._clock.sleep(_LEAVE_STEP_SECONDS)

    async def _heartbeat(
        self, *, want_shut_down: bool, timeout_ms: int | None = None
    ) -> BrokerHeartbeatResponse | None:
        """The response, or None if no active controller responded; the next heartbeat then does not
        wait for the interval. Raises KafkaError if this node's metadata has failed."""
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
                request, lane=ForwardingLane.HEARTBEATS, timeout_ms=timeout_ms
            )
        except ChannelError as error:
            _log.debug("no response to a heartbeat: %s", error)
        except KafkaError as error:
            if self._controller.has_failed:
                raise
            _log.debug("heartbeat refused: %s", error)
        else:
            if response.error_code != ErrorCode.NOT_CONTROLLER:
                self._unanswered = 0
                self.heartbeat_answered_at = self._clock.monotonic()
                return response
        self._unanswered += 1
        await self._controller.wait_moved(attempts=self._unanswered)
        self.send_heartbeat_now()
        return None


def _endpoints(listeners: Iterable[ConfiguredListener]) -> Iterator[Endpoint]:
    for name, host, port, protocol in listeners:
        yield Endpoint(name, host, port, _SECURITY_PROTOCOLS[protocol])
