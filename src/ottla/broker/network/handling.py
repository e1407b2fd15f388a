"""How an API finds its handler.

A handler is a function in a module of its own under `handlers`, marked with the API it answers.
What it needs of the node it names as keyword-only parameters, which are bound when it is loaded:

    @handles(ApiKey.LIST_OFFSETS)
    def list_offsets(context: RequestContext, request: ListOffsetsRequest, *, clock: Clock)
        -> ListOffsetsResponse: ...

It answers at once with a response, later with a `Pending`, or is a coroutine. The module is named
after the API, and is loaded when the API is first asked for: a node serves before all of them are.
ApiVersions answers from the same table, so what is not handled is not advertised.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import cached_property, partial
from importlib import import_module
from inspect import Parameter, signature
from pkgutil import iter_modules
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from ottla.broker.network.pending import Pending
from ottla.runtime.clock import Clock
from ottla.wire.apis import ApiKey, request_class
from ottla.wire.messages.api_versions import ApiVersion
from ottla.wire.schema import Message

Answer: TypeAlias = Message | Pending | Awaitable[Message] | None
Handler: TypeAlias = Callable[..., Answer]
AnyHandler = TypeVar("AnyHandler", bound=Handler)


class ClientConnectionEnd(Protocol):
    """The connection that a request came over."""

    def when_closed(self, callback: Callable[[], None]) -> None:
        """Calls back once, when the connection has ended."""


class RequestContext(NamedTuple):
    """Who sent a request, and in which version."""

    api_version: int
    client_id: str
    client_host: str
    listener: str
    connection: ClientConnectionEnd | None = None


class _Registered(NamedTuple):
    handler: Handler
    is_within_transaction: bool


_handlers: dict[ApiKey, _Registered] = {}


def handles(
    key: ApiKey, *, is_within_transaction: bool = False
) -> Callable[[AnyHandler], AnyHandler]:
    """Marks the handler of an API. Requests within a transaction are mostly followed by the next
    one in a moment, for which the node stays awake."""

    def register(handler: AnyHandler) -> AnyHandler:
        assert key not in _handlers, f"two handlers for {key.name}"
        _handlers[key] = _Registered(handler, is_within_transaction)
        return handler

    return register


def parts_of(handler: Handler) -> list[str]:
    """The parts of a node that a handler needs, by their names."""
    parameters = signature(handler).parameters.values()
    return [each.name for each in parameters if each.kind is Parameter.KEYWORD_ONLY]


def bind(handler: Handler, node: Any, *, is_within_transaction: bool = False) -> Handler:
    """The handler with what it needs of a node."""
    bound = partial(handler, **{name: getattr(node, name) for name in parts_of(handler)})
    if not is_within_transaction:
        return bound
    vigil = node.vigil

    def stay_awake(context: RequestContext, request: Message) -> Answer:
        vigil.end()
        answer = bound(context, request)
        vigil.begin()
        return answer

    return stay_awake


class HandledApi:
    """An API that a node answers, with a handler of the package `handlers` unless it is given one.
    Unstable versions are served only with `has_unstable`."""

    def __init__(
        self,
        key: ApiKey,
        node: Any,
        *,
        package: str = "",
        handler: Handler | None = None,
        has_unstable: bool = False,
    ) -> None:
        self.key = key
        self._node = node
        self._package = package
        self._has_unstable = has_unstable
        self._given = handler

    @cached_property
    def handler(self) -> Handler:
        if self._given is not None:
            return bind(self._given, self._node)
        import_module(f"{self._package}.{self.key.name.lower()}")
        handler, is_within_transaction = _handlers[self.key]
        return bind(handler, self._node, is_within_transaction=is_within_transaction)

    @cached_property
    def request_class(self) -> type[Message]:
        return request_class(self.key)

    @cached_property
    def versions(self) -> range:
        declared = self.request_class
        served = declared.versions if self._has_unstable else declared.stable
        return range(served.lowest, served.highest + 1)

    @property
    def advertised(self) -> ApiVersion:
        """What ApiVersions says. Produce is shown from 0 on, as older clients look for that."""
        lowest = 0 if self.key is ApiKey.PRODUCE else self.versions[0]
        return ApiVersion(api_key=self.key, min_version=lowest, max_version=self.versions[-1])


def handled_apis(
    package: str, path: Iterable[str], node: Any, *, has_unstable: bool = False
) -> dict[int, HandledApi]:
    """Every API that has a handler in a package, by its key."""
    keys = sorted(ApiKey[module.name.upper()] for module in iter_modules(path))
    return {
        int(key): HandledApi(key, node, package=package, has_unstable=has_unstable) for key in keys
    }


async def load_all(apis: Iterable[HandledApi], clock: Clock) -> None:
    """Loads what was not requested yet, one by one, so that no request waits for all of them."""
    for api in apis:
        _ = api.handler, api.versions
        await clock.sleep(0)
