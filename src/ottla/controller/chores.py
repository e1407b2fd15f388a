"""Periodic tasks of the active controller.

They move leadership back to the preferred replicas, elect leaders for leaderless partitions that
allow unclean leader election, remove expired delegation tokens, and purge deleted topics whose time
has passed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from ottla.controller.controller import Controller
from ottla.controller.operations.delegation_tokens import (
    expired_tokens,
    remove_expired_tokens,
)
from ottla.controller.operations.deleted_topics import expired_topics, purge_expired_topics
from ottla.controller.operations.elect_leaders import elect_leaders
from ottla.controller.periodic_elections import preferred_elections, unclean_elections
from ottla.model import KafkaError
from ottla.runtime.clock import Clock
from ottla.wire.messages.delete_topics import DeleteTopicsRequest
from ottla.wire.messages.elect_leaders import ElectLeadersRequest
from ottla.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest

_log = logging.getLogger(__name__)

_PURGE_SECONDS: Final = 1.0


class ControllerChores:
    """Tasks that check the image periodically, and act only while the controller is active."""

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

    async def remove_expired_tokens(self) -> None:
        controller, clock = self._controller, self._clock
        while True:
            await clock.sleep(controller.node.delegation_token_expiry_check_interval_ms / 1_000)
            try:
                while controller.is_active and expired_tokens(
                    controller.proposed_image, clock.now_ms()
                ):
                    await controller.submit(remove_expired_tokens, ExpireDelegationTokenRequest())
            except KafkaError as error:
                _log.info("cannot remove expired delegation tokens, trying again later: %s", error)

    async def purge_deleted_topics(self) -> None:
        controller, clock = self._controller, self._clock
        while True:
            await clock.sleep(_PURGE_SECONDS)
            try:
                while controller.is_active and expired_topics(
                    controller.proposed_image, clock.now_ms()
                ):
                    await controller.submit(purge_expired_topics, DeleteTopicsRequest())
            except KafkaError as error:
                _log.info("cannot purge deleted topics, trying again later: %s", error)

    async def _elect(self, next_request: Callable[[], ElectLeadersRequest | None]) -> None:
        try:
            while self._controller.is_active and (request := next_request()) is not None:
                await self._controller.submit(elect_leaders, request)
        except KafkaError as error:
            _log.info("cannot elect leaders: %s", error)
