"""What the active controller does from time to time."""

from __future__ import annotations

from ottla.controller.chores import ControllerChores
from ottla.controller.operation import Context, OperationOutcome
from ottla.metadata import MetadataImage
from ottla.security.tokens import DelegationToken
from ottla.wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from tests.support.nodes.one_node import OneNode
from tests.support.security.acls import ALICE
from tests.support.storage.held_background import settle

HOUR_SECONDS = 3_600


def token(name: str, *, expires_at_ms: int) -> DelegationToken:
    return DelegationToken(name, ALICE, ALICE, (), 0, expires_at_ms, expires_at_ms)


def test_expired_delegation_tokens_are_removed_every_hour(node: OneNode) -> None:
    now_ms = node.clock.now_ms()
    tokens = [
        token("short", expires_at_ms=now_ms + 1),
        token("long", expires_at_ms=now_ms + 2 * HOUR_SECONDS * 1_000),
    ]

    def store(
        _image: MetadataImage, _request: ExpireDelegationTokenRequest, _context: Context
    ) -> OperationOutcome[ExpireDelegationTokenResponse]:
        records = [each.to_record() for each in tokens]
        return OperationOutcome([*records], ExpireDelegationTokenResponse())

    async def story() -> None:
        await node.controller.submit(store, ExpireDelegationTokenRequest())
        chores = ControllerChores(node.controller, node.clock)
        node.broker.tasks.start("removing", chores.remove_expired_tokens())
        await settle()
        node.clock.advance(HOUR_SECONDS - 1)
        await settle()
        assert node.image.delegation_tokens.keys() == {"short", "long"}
        node.clock.advance(1)
        await settle()
        assert node.image.delegation_tokens.keys() == {"long"}

    node.run(story())
