"""Periodic tasks of the active controller.

They move leadership back to the preferred replicas, and elect leaders for leaderless partitions
that allow unclean leader election.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from ottla.controller.controller import Controller
from ottla.controller.operations.elect_leaders import elect_leaders
from ottla.controller.periodic_elections import preferred_elections, unclean_elections
from ottla.model import KafkaError
from ottla.runtime.clock import Clock
from ottla.wire.messages.elect_leaders import ElectLeadersRequest

_log = logging.getLogger(__name__)


class ControllerChores:
    """Two tasks that check the image periodically, and act only while the controller is active."""

    def __init__(self, controller: Controller, clock: Clock) -> None:
        self._controller = controller
        self._clock = clock

    async def elect_preferred(self) -> None:
        while True:
            await self._clock.sleep(self._controller.node.leader_imbalance_check_interval_seconds)
            if self._controller.node.auto_leader_rebalance_enable:
                await self._elect(lambda: preferred_elections(self._controller.proposed_image))

    async def elect_unclean(self) -> None:
        while True:
            await self._clock.sleep(
                self._controller.node.unclean_leader_election_interval_ms / 1_000
            )
            await self._elect(
                lambda: unclean_elections(self._controller.proposed_image, self._controller.node)
            )

    async def _elect(self, wanted: Callable[[], ElectLeadersRequest | None]) -> None:
        try:
            while self._controller.is_active and (request := wanted()) is not None:
                await self._controller.submit(elect_leaders, request)
        except KafkaError as error:
            _log.info("cannot elect leaders: %s", error)
