"""Logs warnings while the quorum has no leader: the controllers it tried, and each one's error.

Without them a node that waits for its quorum at startup would log nothing, and neither would a
running node whose quorum lost its majority.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ottla.controller.quorum import MetadataQuorum
from ottla.raft.voters import Voter
from ottla.runtime.clock import Clock
from ottla.runtime.network import Address

_log = logging.getLogger(__name__)

REPORT_SECONDS: Final = 5.0


class QuorumWatch:
    """`outcomes` maps the address of a controller to the error of the last request to it, empty if
    it succeeded. An address that was not tried has no entry."""

    def __init__(
        self,
        quorum: MetadataQuorum,
        outcomes: Mapping[Address, str],
        clock: Clock,
        *,
        node_id: int,
        listener_name: str,
        bootstrap_servers: Sequence[Address],
    ) -> None:
        self._quorum = quorum
        self._outcomes = outcomes
        self._clock = clock
        self._node_id = node_id
        self._listener_name = listener_name
        self._bootstrap_servers = bootstrap_servers

    async def report(self, is_registered: Callable[[], bool]) -> None:
        """Runs until it is cancelled or the quorum fails. Logs a problem only at its second check
        in a row, because elections and registrations take a moment."""
        was_missing = True
        while self._quorum.failure is None:
            await self._clock.sleep(REPORT_SECONDS)
            missing = self._missing(is_registered=is_registered())
            if missing is not None and was_missing:
                _log.warning("%s", missing)
            was_missing = missing is not None

    def _missing(self, *, is_registered: bool) -> str | None:
        leader_id, epoch = self._quorum.leader_and_epoch
        if leader_id is None:
            return f"no controller leads the quorum (epoch {epoch}): {self._controllers_text()}"
        if is_registered:
            return None
        leader = self._quorum.voters.get(leader_id)
        where = f"controller {leader_id}" if leader is None else self._voter_text(leader)
        return f"waiting to be registered by the active controller: {where}"

    def _controllers_text(self) -> str:
        voters = self._quorum.voters
        found = [self._voter_text(each) for each in voters.voters if each.key.id != self._node_id]
        if not voters.voters:
            found = [
                f"bootstrap server {self._outcome_text(each)}" for each in self._bootstrap_servers
            ]
        if self._node_id in voters.ids:
            found.insert(0, f"controller {self._node_id} is this node")
        needed = (
            f" ({voters.majority} of {len(voters.voters)} have to run)" if voters.voters else ""
        )
        return "; ".join(found) + needed

    def _voter_text(self, voter: Voter) -> str:
        endpoint = voter.endpoint(self._listener_name)
        if endpoint is None:
            return f"controller {voter.key.id} has no listener {self._listener_name}"
        address = Address(endpoint.host, endpoint.port)
        return f"controller {voter.key.id} at {self._outcome_text(address)}"

    def _outcome_text(self, address: Address) -> str:
        where = str(address)
        outcome = self._outcomes.get(address)
        if outcome is None:
            return f"{where}: not tried yet"
        for doing in ("connect", "log in"):
            outcome = outcome.removeprefix(f"cannot {doing} to {where}: ")
        return f"{where}: {outcome or 'answers'}"
