"""Records which requests a node serves and refuses, and the ACLs that it knows meanwhile.

It wraps the handlers of each broker that the node's process creates, and the controller's entry
point. What a request needs is noted before its handler runs, because handlers change requests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any, Final

from ottla.broker.broker import Broker
from ottla.broker.network.handling import Answer, HandledApi, Handler, RequestContext
from ottla.broker.network.pending import Pending
from ottla.model import KafkaError
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.simulation.access.known_security import KnownSecurity
from ottla.simulation.access.login_observer import LoginObserver
from ottla.simulation.access.needed_rights import (
    BROKER_NEEDS,
    CONTROLLER_NEEDS,
    FORWARDED_NEEDS,
    ApiNeeds,
    named_by_id,
)
from ottla.simulation.access.security_changes import acknowledged_changes, requested_changes
from ottla.simulation.clients.refusals import is_refusal
from ottla.simulation.history.history import Event
from ottla.simulation.history.security_events import (
    RequestAnswered,
    RequestForwarded,
    SecurityChange,
    SecurityChangeAnswered,
    ServedAs,
)
from ottla.simulation.world.node import SimulatedNode
from ottla.wire.apis import ApiKey
from ottla.wire.schema import Message, Struct

NODE_PRINCIPAL: Final = "User:node"
_DIGEST_BYTES: Final = 8


class AccessObserver:
    """Observes one node across all of its processes."""

    def __init__(self, simulated: SimulatedNode, super_users: Collection[str]) -> None:
        """`super_users` are names. Requests of super users are not recorded one by one."""
        self._name = simulated.name
        self._record = simulated.record
        self._super_users = super_users
        self._known = KnownSecurity(simulated)
        self._logins = LoginObserver(simulated, self._known)
        self._recorded: set[Event] = set()
        self._clients: set[tuple[str, str]] = set()
        self._changes = 0

    def attach(self, broker: Broker) -> None:
        """Called once for each broker, before it receives a request."""
        self._known.attach(broker)
        for api in broker.apis.values():
            self._observe(api, BROKER_NEEDS)
        for api in broker.controller_apis.values():
            self._observe(api, CONTROLLER_NEEDS)
        self._observe_controller(broker)

    def record_end(self) -> None:
        """Records what the node knows in the end, whether or not it has changed."""
        self._known.record_all()

    # ---- requests on a listener

    def _observe(self, api: HandledApi, all_needs: Mapping[int, ApiNeeds]) -> None:
        if api.key is ApiKey.SASL_AUTHENTICATE:
            api.handler = self._logins.observing(_lazily(api))
            return
        if api.key in (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE):
            return
        make_handler, needs = _lazily(api), all_needs.get(api.key)
        is_forwarded = api.key in FORWARDED_NEEDS

        def handle(context: RequestContext, request: Message) -> Answer:
            rights = context.rights
            self._saw(context)
            if is_forwarded:
                self._forwarded(api, context, request)
            handler = make_handler()
            if needs is None or self._is_trusted(rights):
                return handler(context, request)
            noted = self._note(api.key, needs, rights, context.client_host, request)
            return _noting(handler(context, request), noted)

        api.handler = handle

    def _is_trusted(self, rights: Rights) -> bool:
        return rights.is_unrestricted and rights.principal.name in self._super_users

    def _saw(self, context: RequestContext) -> None:
        key = (context.client_host, context.rights.principal.name)
        if key not in self._clients:
            self._clients.add(key)
            self._record(ServedAs(self._name, key[0], str(context.rights.principal)))

    def _forwarded(self, api: HandledApi, context: RequestContext, request: Message) -> None:
        principal = str(context.rights.principal)
        self._record(
            RequestForwarded(
                self._name, context.client_host, principal, api.key.name, _digest(request)
            )
        )

    def _note(
        self, key: int, needs: ApiNeeds, rights: Rights, host: str, request: Message
    ) -> Callable[[Message | None], None]:
        """Notes what the request needs. Returns what to call with the response."""
        needed, first = needs.needs(request), self._known.acl_version
        if needed is not None:
            needed = named_by_id(needed, self._known.topic_name)
        if needed is None:
            return lambda _response: None
        # Without rights of a client it is a request of the node itself.
        principal = NODE_PRINCIPAL if rights is UNRESTRICTED else str(rights.principal)
        digest = ""
        if key in FORWARDED_NEEDS:
            digest = _digest(request)

        def answered(response: Message | None) -> None:
            """None for an error without a response."""
            is_refused = response is None or needs.is_refused(response)
            name, last = ApiKey(key).name, self._known.acl_version
            event = RequestAnswered(
                self._name, principal, host, name, needed, is_refused, first, last, digest
            )
            if event not in self._recorded:
                self._recorded.add(event)
                self._record(event)

        return answered

    # ---- the active controller

    def _observe_controller(self, broker: Broker) -> None:
        service, original = broker.service, broker.service.serve

        async def serve(
            request: Message,
            *,
            connection: Any = None,
            listener_name: str | None = None,
            rights: Rights = UNRESTRICTED,
            **sender: Any,
        ) -> Message:
            call = partial(
                original,
                request,
                connection=connection,
                listener_name=listener_name,
                rights=rights,
                **sender,
            )
            needs = FORWARDED_NEEDS.get(request.api_key or -1)
            if needs is None or not service.controller.is_active:
                return await call()
            return await self._serve(broker, request, rights, needs, call)

        service.serve = serve  # type: ignore[method-assign]  # for this instance only

    async def _serve(
        self,
        broker: Broker,
        request: Message,
        rights: Rights,
        needs: ApiNeeds,
        call: Callable[[], Awaitable[Message]],
    ) -> Message:
        assert request.api_key is not None
        noted = self._note(request.api_key, needs, rights, rights.host, request)
        self._changes += 1
        number, changes = self._changes, requested_changes(request)
        if changes:
            self._record(SecurityChange(self._name, number, changes))
        try:
            response = await call()
        except KafkaError as error:
            if is_refusal(error.code):
                noted(None)
            raise
        noted(response)
        acknowledged = acknowledged_changes(request, response)
        if changes or acknowledged:
            offset = broker.metadata.end_offset
            self._record(SecurityChangeAnswered(self._name, number, acknowledged, offset))
        return response


def _lazily(api: HandledApi) -> Callable[[], Handler]:
    """The API's own handler, which is imported with its first request."""
    loaded: list[Handler] = []

    def handler() -> Handler:
        if not loaded:
            loaded.append(vars(HandledApi)["handler"].func(api))
        return loaded[0]

    return handler


def _noting(answer: Answer, noted: Callable[[Message], None]) -> Answer:
    """The same answer, noted when it is ready."""
    if answer is None:
        return None
    if isinstance(answer, Message):
        noted(answer)
        return answer
    if isinstance(answer, Pending):
        return _noting_pending(answer, noted)
    return _noting_awaited(answer, noted)


def _noting_pending(answer: Pending, noted: Callable[[Message], None]) -> Message | Pending:
    whole = Pending(on_abandoned=answer.abandon)

    def resolved() -> None:
        assert answer.response is not None
        noted(answer.response)
        whole.resolve(answer.response)

    if answer.response is None:
        answer.when_resolved(resolved)
    else:
        resolved()
    return whole.answer


async def _noting_awaited(answer: Awaitable[Message], noted: Callable[[Message], None]) -> Message:
    response = await answer
    noted(response)
    return response


def _digest(request: Message) -> str:
    """Equal for requests with equal contents, received from a client or from another node."""
    content = repr(_content(request)).encode()
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def _content(value: Any) -> Any:
    if isinstance(value, Struct):
        return [_content(getattr(value, name)) for name in value.field_options]
    if isinstance(value, list):
        return [_content(each) for each in value]
    return bytes(value) if isinstance(value, memoryview | bytearray) else value
