"""How an API finds its handler.

A handler is a function in a module of its own under `handlers`, marked with the API it answers:

    @handles(ApiKey.LIST_OFFSETS)
    def list_offsets(broker: Broker, context: RequestContext, request: ListOffsetsRequest)
        -> ListOffsetsResponse: ...

It answers at once with a response, later with a `Pending`, or is a coroutine. The module is named
after the API, and is loaded when the API is first asked for: a node serves before all of them are.
ApiVersions answers from the same table, so what is not handled is not advertised.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeVar

import ottla.broker.handlers
from ottla.broker.network.pending import Pending
from ottla.runtime.clock import Clock
from ottla.wire.apis import ApiKey, request_class
from ottla.wire.schema import Message

Answer: TypeAlias = Message | Pending | Awaitable[Message] | None
Handler: TypeAlias = Callable[..., Answer]
AnyHandler = TypeVar("AnyHandler", bound=Handler)


class AskingConnection(Protocol):
    """The connection that a request came over."""

    def when_closed(self, told: Callable[[], None]) -> None:
        """Has `told` called once, when the connection has ended."""


class RequestContext(NamedTuple):
    """Who asks, and in which version."""

    api_version: int
    client_id: str
    client_host: str
    listener: str
    connection: AskingConnection | None = None


class HandledApi:
    """An API that this node answers, with a handler of `handlers` unless it is given one, and in
    versions that are not stable only if it is told to."""

    def __init__(
        self, key: ApiKey, handler: Handler | None = None, *, has_unstable: bool = False
    ) -> None:
        self.key = key
        self._has_unstable = has_unstable
        if handler is not None:
            self.handler = handler

    @cached_property
    def handler(self) -> Handler:
        import_module(f"{_PACKAGE.__name__}.{self.key.name.lower()}")
        return _handlers[self.key]

    @cached_property
    def request_class(self) -> type[Message]:
        return request_class(self.key)

    @cached_property
    def versions(self) -> range:
        declared = self.request_class
        served = declared.versions if self._has_unstable else declared.stable
        return range(served.lowest, served.highest + 1)


_PACKAGE: Final = ottla.broker.handlers
_handlers: dict[ApiKey, Handler] = {}


def handles(key: ApiKey) -> Callable[[AnyHandler], AnyHandler]:
    """Marks the handler of an API."""

    def register(handler: AnyHandler) -> AnyHandler:
        assert key not in _handlers, f"two handlers for {key.name}"
        _handlers[key] = handler
        return handler

    return register


def handled_apis(*, has_unstable: bool = False) -> dict[int, HandledApi]:
    """Every API that has a handler, by its key."""
    keys = sorted(ApiKey[module.name.upper()] for module in iter_modules(_PACKAGE.__path__))
    return {int(key): HandledApi(key, has_unstable=has_unstable) for key in keys}


async def load_all(apis: Iterable[HandledApi], clock: Clock) -> None:
    """Loads what nobody has asked for yet, one by one, so that nobody waits for all of them."""
    for api in apis:
        _ = api.handler, api.versions
        await clock.sleep(0)
