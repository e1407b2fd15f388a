"""A client that finds the coordinator of a group or transactional id and sends it requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ottla.channels.errors import ChannelError
from ottla.model import ErrorCode, TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.cluster_client import ClusterClient, LogPosition
from ottla.simulation.world.host import Host
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.wire.schema import Message

_FIND_VERSION: Final = 4
_FETCH_VERSION: Final = 9
_TIMEOUT_MS: Final = 5_000
_GROUP_KEY: Final = 0
TRANSACTION_KEY: Final = 1
_MOVED: Final = frozenset(
    {
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    }
)


class CoordinatorClient:
    """The coordinator of one group or of one transactional id."""

    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        group: str,
        *,
        name: str,
        key_type: int = _GROUP_KEY,
    ) -> None:
        self.group = group
        # Whether the last request was sent, so that the coordinator may have processed it.
        self.has_sent = False
        self._key_type = key_type
        self._client = ClusterClient(host, bootstrap, name=name)
        self._address: Address | None = None

    async def send_request(
        self, request: Message, version: int, *, timeout_ms: int = _TIMEOUT_MS
    ) -> Any | None:
        """The response, or None if there is none; then the coordinator is looked up again."""
        self.has_sent = False
        if self._address is None:
            await self._find()
        if self._address is None:
            return None
        self.has_sent = True
        try:
            return await self._client.send_to_address(
                self._address, request, version, timeout_ms=timeout_ms
            )
        except ChannelError:
            self._address = None
            return None

    def handle_error(self, error: int) -> ErrorCode:
        """Looks the coordinator up again if the error says that it moved or is not available."""
        if error in _MOVED:
            self._address = None
        return ErrorCode(error)

    async def back_off(self) -> None:
        await self._client.back_off()

    async def committed(self, partition: TopicPartition) -> LogPosition | None:
        """The group's committed offset, 0 if there is none yet; None if there is no response."""
        topic = OffsetFetchRequestTopics(
            name=partition.topic, partition_indexes=[partition.partition]
        )
        requested = OffsetFetchRequestGroup(group_id=self.group, topics=[topic])
        response = await self.send_request(
            OffsetFetchRequest(groups=[requested], require_stable=True), _FETCH_VERSION
        )
        if response is None:
            return None
        answer = response.groups[0]
        if self.handle_error(answer.error_code) is not ErrorCode.NONE:
            return None
        found = answer.topics[0].partitions[0]
        if self.handle_error(found.error_code):
            return None
        return LogPosition(max(found.committed_offset, 0), found.committed_leader_epoch)

    async def _find(self) -> None:
        request = FindCoordinatorRequest(key_type=self._key_type, coordinator_keys=[self.group])
        try:
            response = await self._client.send_to_any(request, _FIND_VERSION)
        except ChannelError:
            return
        found = response.coordinators[0]
        if found.error_code == ErrorCode.NONE:
            self._address = Address(found.host, found.port)
