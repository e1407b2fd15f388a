"""Requests to the other replicas of the metadata quorum.

Fetch has its own connection, because it waits for records and would delay Vote and
BeginQuorumEpoch. `on_lost` is called when a connection is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ottla.channels import ChannelError, ChannelSecurity, Peer, versions
from ottla.channels.peer import ReconnectBackoff
from ottla.model import ErrorCode
from ottla.raft import Destination
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.network import Address, Network
from ottla.runtime.tasks import Tasks
from ottla.wire.apis import ApiKey
from ottla.wire.schema import Message

_VERSIONS: Final = {
    ApiKey.API_VERSIONS: versions.API_VERSIONS,
    ApiKey.VOTE: versions.VOTE,
    ApiKey.BEGIN_QUORUM_EPOCH: versions.BEGIN_QUORUM_EPOCH,
    ApiKey.END_QUORUM_EPOCH: versions.END_QUORUM_EPOCH,
    ApiKey.FETCH: versions.FETCH,
    ApiKey.FETCH_SNAPSHOT: versions.FETCH_SNAPSHOT,
    ApiKey.UPDATE_RAFT_VOTER: versions.UPDATE_RAFT_VOTER,
}


class _Line(NamedTuple):
    destination: Destination
    is_for_fetches: bool


def _refusal(error_code: int) -> str:
    """What the response as a whole says; empty without an error."""
    if error_code == ErrorCode.NONE:
        return ""
    name = ErrorCode(error_code).name
    if error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        return f"refuses this node ({name}): add this node's principal to super.users on all nodes"
    return f"answers with {name}"


class QuorumPeers:
    """Owned by the node's loop. `close` closes its connections."""

    def __init__(
        self,
        network: Network,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
        security: ChannelSecurity,
        *,
        node_id: int,
        timeout_ms: int,
        on_lost: Callable[[int], None],
    ) -> None:
        """`on_lost` is called with a node's id when a connection to it is lost."""
        self._network = network
        self._clock = clock
        self._dice = dice
        self._tasks = tasks
        self._security = security
        self._client_id = f"ottla-{node_id}-quorum"
        self._timeout_ms = timeout_ms
        self._on_lost = on_lost
        self._peers: dict[_Line, Peer] = {}
        # The error of the last request to each address; empty if it succeeded.
        self.outcomes: dict[Address, str] = {}

    async def send(self, destination: Destination, request: Message) -> Message:
        key = ApiKey(request.api_key or 0)
        line = _Line(destination, key is ApiKey.FETCH)
        peer = self._peers.get(line)
        if peer is None:
            peer = self._peers[line] = self._open(destination)
        address = Address(destination.host, destination.port)
        try:
            response: Message = await peer.send(
                request, _VERSIONS[key], timeout_ms=self._timeout_ms
            )
        except ChannelError as error:
            self.outcomes[address] = str(error)
            raise
        self.outcomes[address] = _refusal(getattr(response, "error_code", ErrorCode.NONE))
        return response

    def close(self) -> None:
        for peer in self._peers.values():
            peer.close()

    def _open(self, destination: Destination) -> Peer:
        address = Address(destination.host, destination.port)
        timeout_ms = self._timeout_ms
        return Peer(
            self._network,
            self._clock,
            self._dice,
            self._tasks,
            lambda: address,
            client_id=self._client_id,
            backoff=ReconnectBackoff(first_ms=20, max_ms=500, connect_timeout_ms=timeout_ms),
            on_lost=lambda: self._on_lost(destination.node_id),
            security=self._security,
        )
