"""Detects whether a controller whose connection was lost is dead, and reacts to it.

A closed connection may mean that the process died; a closed port proves it, so the port is probed.
During the probe Metadata names no leader on that node. If the node is dead, its broker is fenced
and, if it led the quorum, an election starts without waiting for the fetch timeout.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ottla.broker.control.suspects import Suspects
from ottla.channels.probe import is_gone
from ottla.controller.broker_liveness import BrokerLiveness
from ottla.controller.quorum import MetadataQuorum
from ottla.runtime.clock import Clock
from ottla.runtime.network import Address, Network
from ottla.runtime.tasks import Tasks

# A killed process closes its connections and ports one after the other.
_PROBE_SECONDS: Final = 1.0
# Within this time a candidate either wins the election or gives up and can vote for others.
_ELECTION_STEP_SECONDS: Final = 0.1


class LostNodes:
    """Owned by the node's loop. Its tasks end with the node's."""

    def __init__(
        self,
        quorum: MetadataQuorum,
        suspects: Suspects,
        liveness: BrokerLiveness,
        network: Network,
        clock: Clock,
        tasks: Tasks,
        *,
        node_id: int,
        listener_name: str,
    ) -> None:
        self._quorum = quorum
        self._suspects = suspects
        self._liveness = liveness
        self._network = network
        self._clock = clock
        self._tasks = tasks
        self._node_id = node_id
        self._listener_name = listener_name

    def add(self, node_id: int) -> None:
        """Suspects and probes a quorum replica whose connection was lost."""
        self._suspects.add(node_id)
        if not self._tasks.is_closed:
            self._tasks.start("probe", self._probe(node_id))

    def controller_address(self, node_id: int) -> Address | None:
        voter = self._quorum.voters.get(node_id)
        endpoint = None if voter is None else voter.endpoint(self._listener_name)
        return None if endpoint is None else Address(endpoint.host, endpoint.port)

    async def _probe(self, node_id: int) -> None:
        quorum = self._quorum
        address = self.controller_address(node_id)
        if address is None or not await is_gone(
            self._network,
            self._clock,
            address,
            seconds=_PROBE_SECONDS,
            on_met=partial(self._suspects.clear, node_id),
        ):
            self._suspects.clear(node_id)
            return
        self._suspects.add(node_id)
        self._liveness.node_lost(node_id)
        if node_id == quorum.leader_and_epoch.leader_id:
            await self._clock.sleep(self._turn_to_stand(node_id) * _ELECTION_STEP_SECONDS)
            if node_id == quorum.leader_and_epoch.leader_id:
                quorum.leader_lost()

    def _turn_to_stand(self, lost_id: int) -> int:
        """This node's position among the remaining voters. All of them notice the leader's death at
        once; if all became candidates at once, the vote would be split."""
        ids = [voter.key.id for voter in self._quorum.voters.voters if voter.key.id != lost_id]
        return ids.index(self._node_id) if self._node_id in ids else 0
