"""Changes of the metadata that clients request, or that their requests need."""

from __future__ import annotations

from typing import Any

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.replicas.local_replicas import LocalReplicas
from ottla.security.acls.rights import Rights
from ottla.wire.schema import Message


class MetadataChanges:
    """Forwards requests that change the metadata to the active controller."""

    def __init__(self, controller: ActiveController, replicas: LocalReplicas) -> None:
        self._controller = controller
        self._replicas = replicas

    async def request(
        self,
        request: Message,
        version: int,
        rights: Rights,
        *,
        client_id: str = "",
        is_repeatable: bool = False,
    ) -> Any:
        """The controller's response, when this node has applied the change. Raises `KafkaError` as
        `ActiveController.forward`, which explains `rights` and `is_repeatable`."""
        response = await self._controller.forward(
            request, version, rights=rights, client_id=client_id, is_repeatable=is_repeatable
        )
        await self._replicas.wait_applied()
        return response
