"""How an API finds its handler.

A handler is a function in a module of its own under `handlers`, marked with the API it answers:

    @handles(ApiKey.LIST_OFFSETS)
    def list_offsets(broker: Broker, context: RequestContext, request: ListOffsetsRequest)
        -> ListOffsetsResponse: ...

It answers at once with a response, later with a `Pending`, or is a coroutine. ApiVersions answers
from the same table, so what is not handled is not advertised.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from ottla.broker.pending import Pending
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


class HandledApi(NamedTuple):
    """An API that this node answers."""

    key: ApiKey
    handler: Handler
    request_class: type[Message]
    versions: range


_handlers: dict[ApiKey, Handler] = {}


def handles(key: ApiKey) -> Callable[[AnyHandler], AnyHandler]:
    """Marks the handler of an API."""

    def register(handler: AnyHandler) -> AnyHandler:
        assert key not in _handlers, f"two handlers for {key.name}"
        _handlers[key] = handler
        return handler

    return register


def handled_apis() -> dict[int, HandledApi]:
    """Every API that has a handler, by its key."""
    package = import_module("ottla.broker.handlers")
    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    return {
        int(key): HandledApi(key, handler, request_class(key), _versions(key))
        for key, handler in sorted(_handlers.items())
    }


def _versions(key: ApiKey) -> range:
    served = request_class(key).versions
    return range(served.lowest, served.highest + 1)
