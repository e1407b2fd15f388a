"""How a node makes itself known to the controller, and takes its leave.

unknown ──register──▶ fenced ──caught up──▶ serving ──wants to shut down──▶ may stop
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.configs.listeners import Listener
from ottla.controller.controller import Controller
from ottla.controller.operations.heartbeat import heartbeat
from ottla.controller.operations.register_broker import register_broker
from ottla.controller.operations.register_controller import register_controller
from ottla.metadata.features import SUPPORTED_FEATURES
from ottla.model import Uuid
from ottla.wire.messages import broker_registration, controller_registration
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest
from ottla.wire.messages.controller_registration import ControllerRegistrationRequest

_SECURITY_PROTOCOLS = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}
_UNREGISTERED = -1


class Registration:
    """One incarnation of a node. Belongs to the node's loop."""

    def __init__(self, controller: Controller, node_id: int, incarnation_id: Uuid) -> None:
        self.broker_epoch = _UNREGISTERED
        self._controller = controller
        self._node_id = node_id
        self._incarnation_id = incarnation_id

    async def register(
        self,
        advertised: Iterable[Listener],
        *,
        rack: str | None,
        directory_ids: list[Uuid],
        previous_broker_epoch: int,
    ) -> None:
        """Makes the node known as a controller and, still fenced, as a broker."""
        await self._controller.submit(
            register_controller,
            ControllerRegistrationRequest(
                controller_id=self._node_id,
                incarnation_id=self._incarnation_id,
                features=[
                    controller_registration.Feature(
                        name=name, min_supported_version=low, max_supported_version=high
                    )
                    for name, (low, high) in SUPPORTED_FEATURES.items()
                ],
            ),
        )
        registered = await self._controller.submit(
            register_broker,
            BrokerRegistrationRequest(
                broker_id=self._node_id,
                cluster_id=self._controller.cluster_id,
                incarnation_id=self._incarnation_id,
                listeners=[
                    broker_registration.Listener(
                        name=name,
                        host=host,
                        port=port,
                        security_protocol=_SECURITY_PROTOCOLS[protocol],
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
            ),
        )
        assert registered.error_code == 0, "the controller knows its own node"
        self.broker_epoch = registered.broker_epoch

    async def begin_to_serve(self) -> None:
        await self._heartbeat(want_shut_down=False)

    async def take_leave(self) -> None:
        """Gives up every leadership, so that nobody is sent here any more."""
        if self.broker_epoch != _UNREGISTERED:
            await self._heartbeat(want_shut_down=True)

    async def _heartbeat(self, *, want_shut_down: bool) -> None:
        await self._controller.submit(
            heartbeat,
            BrokerHeartbeatRequest(
                broker_id=self._node_id,
                broker_epoch=self.broker_epoch,
                current_metadata_offset=self._controller.committed_offset,
                want_fence=False,
                want_shut_down=want_shut_down,
            ),
        )
