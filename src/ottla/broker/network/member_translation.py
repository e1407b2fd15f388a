"""Translates the bytes of group members for a tenant: of its requests before they are handled, of
the responses before they are sent. With many members it takes several turns of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Final

from ottla.broker.network.handling import Answer, Handler, RequestContext
from ottla.broker.network.pending import Pending
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks
from ottla.tenancy.member_bytes import MemberBytes
from ottla.wire.apis import ApiKey
from ottla.wire.errors import ProtocolError
from ottla.wire.schema import Message

# The APIs whose messages have bytes of members.
MEMBER_APIS: Final = frozenset({ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.DESCRIBE_GROUPS})
# Translated at once: the largest group of which no request delays others by a millisecond.
_AT_ONCE_MAX: Final = 20
_STEP_SECONDS: Final = 0.001


class MemberTranslation:
    """In place of the handler of an API, on the listeners of tenants."""

    def __init__(self, handler: Handler, clock: Clock, tasks: Tasks) -> None:
        self._handler = handler
        self._clock = clock
        self._tasks = tasks

    def handle(self, context: RequestContext, request: Message) -> Answer:
        prefix = context.rights.prefix
        found = MemberBytes(request, context.api_version, lambda name: prefix + name)
        if len(found) > _AT_ONCE_MAX:
            return self._handle_large(context, request, found)
        _translate(found)
        return self._outward(context, self._handler(context, request))

    async def _handle_large(
        self, context: RequestContext, request: Message, found: MemberBytes
    ) -> Message:
        try:
            await self._translate_in_steps(found)
        except ProtocolError as error:
            # A name that is too long with the prefix. Closes only this connection.
            raise ConnectionAbortedError(str(error)) from None
        answer = self._outward(context, self._handler(context, request))
        if isinstance(answer, Pending):
            return await _resolved(answer)
        assert answer is not None, "requests of members are answered"
        return answer if isinstance(answer, Message) else await answer

    def _outward(self, context: RequestContext, answer: Answer) -> Answer:
        """The answer with the bytes that the tenant's client knows. A response may be shared with
        other requests: it is copied."""
        if isinstance(answer, Pending):
            translated = Pending(on_abandoned=answer.abandon)
            answer.when_resolved(lambda: self._resolve(context, answer, translated))
            return translated
        assert isinstance(answer, Message), "handlers of groups answer at once or later"
        return self._translated(context, answer)

    def _resolve(self, context: RequestContext, answer: Pending, translated: Pending) -> None:
        assert answer.response is not None
        response = self._translated(context, answer.response)
        if isinstance(response, Message):
            translated.resolve(response)
            return
        large = response

        async def resolve() -> None:
            translated.resolve(await large)

        if not self._tasks.is_closed:
            self._tasks.start("translate the members of a group", resolve())

    def _translated(
        self, context: RequestContext, response: Message
    ) -> Message | Awaitable[Message]:
        version, prefix = context.api_version, context.rights.prefix
        response = type(response).decode(response.encode(version), version)
        # Bytes of other protocols may look like a subscription, and contain anything.
        found = MemberBytes(response, version, lambda name: name.removeprefix(prefix))
        if len(found) > _AT_ONCE_MAX:
            return self._translated_in_steps(response, found)
        _translate(found)
        return response

    async def _translated_in_steps(self, response: Message, found: MemberBytes) -> Message:
        await self._translate_in_steps(found)
        return response

    async def _translate_in_steps(self, found: MemberBytes) -> None:
        ends_at = self._clock.monotonic() + _STEP_SECONDS
        for _ in found.steps():
            if self._clock.monotonic() >= ends_at:
                await self._clock.sleep(0)
                ends_at = self._clock.monotonic() + _STEP_SECONDS
        found.apply()


def _translate(found: MemberBytes) -> None:
    for _ in found.steps():
        pass
    found.apply()


async def _resolved(answer: Pending) -> Message:
    done = asyncio.Event()
    answer.when_resolved(done.set)
    if answer.response is None:
        await done.wait()
    assert answer.response is not None
    return answer.response
