"""Maps APIs to their request handlers.

A handler is a function in its own module under `handlers`, decorated with its API key and the
rights that it checks. It declares the parts of the node it needs as keyword-only parameters, which
are bound when it is loaded:

    @handles(ApiKey.LIST_OFFSETS, rights=(Right(AclOperation.DESCRIBE, ResourceType.TOPIC),))
    def list_offsets(context: RequestContext, request: ListOffsetsRequest, *, clock: Clock)
        -> ListOffsetsResponse: ...

A handler without declared rights does not load; one that checks nothing declares `NO_RIGHTS`. The
rights of a request (`RequestContext.rights`) accept only checks that the API declares.

A handler returns a response, returns a `Pending`, or is a coroutine. Its module is named after the
API and imported at the first request, so that a node can serve before all modules are imported.
ApiVersions uses the same table, so an API without a handler is not advertised.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import cached_property, partial
from importlib import import_module
from inspect import Parameter, signature
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from ottla.broker.network.client_session import ClientSession
from ottla.broker.network.pending import Pending
from ottla.broker.network.request_metrics import ApiMetrics, RequestMetrics
from ottla.broker.quotas.client_quotas import SenderQuotas
from ottla.model import ErrorCode
from ottla.runtime.clock import Clock
from ottla.security.acls.rights import UNRESTRICTED, Right, Rights
from ottla.wire.apis import ApiKey, request_class
from ottla.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from ottla.wire.schema import Message

Answer: TypeAlias = Message | Pending | Awaitable[Message] | None
Handler: TypeAlias = Callable[..., Answer]
AnyHandler = TypeVar("AnyHandler", bound=Handler)


class ClientConnectionEnd(Protocol):
    """The connection that a request came over."""

    @property
    def session(self) -> ClientSession: ...

    def close(self) -> None:
        """Closes it after the responses already written are sent."""

    def when_closed(self, callback: Callable[[], None]) -> None:
        """Calls `callback` once, when the connection has closed."""

    def ignore_close(self, callback: Callable[[], None]) -> None:
        """Takes a callback of `when_closed` back."""


class RequestContext(NamedTuple):
    """The sender of a request with its rights, and the request's version."""

    api_version: int
    client_id: str
    client_host: str
    listener: str
    connection: ClientConnectionEnd | None = None
    rights: Rights = UNRESTRICTED
    quotas: SenderQuotas | None = None


class _Registered(NamedTuple):
    handler: Handler
    rights: tuple[Right, ...]
    is_within_transaction: bool


_handlers: dict[ApiKey, _Registered] = {}


def handles(
    key: ApiKey, *, rights: tuple[Right, ...], is_within_transaction: bool = False
) -> Callable[[AnyHandler], AnyHandler]:
    """Registers the handler of an API with the rights that it checks. A request within a
    transaction is usually followed by another one at once; with `is_within_transaction` the node
    polls for it instead of sleeping."""

    def register(handler: AnyHandler) -> AnyHandler:
        assert key not in _handlers, f"two handlers for {key.name}"
        _handlers[key] = _Registered(handler, rights, is_within_transaction)
        return handler

    return register


def parts_of(handler: Handler) -> list[str]:
    """The names of the node's parts that a handler needs: its keyword-only parameters."""
    parameters = signature(handler).parameters.values()
    return [each.name for each in parameters if each.kind is Parameter.KEYWORD_ONLY]


def bind(handler: Handler, node: Any, *, is_within_transaction: bool = False) -> Handler:
    """Binds the node's parts to a handler's keyword-only parameters."""
    bound = partial(handler, **{name: getattr(node, name) for name in parts_of(handler)})
    if not is_within_transaction:
        return bound
    busy_poll = node.busy_poll

    def stay_awake(context: RequestContext, request: Message) -> Answer:
        busy_poll.end()
        answer = bound(context, request)
        busy_poll.begin()
        return answer

    return stay_awake


class HandledApi:
    """An API that a node serves. Its handler is imported from `package` unless `handler` is given
    with its `rights`. Unstable versions are served only with `has_unstable`."""

    def __init__(
        self,
        key: ApiKey,
        node: Any,
        *,
        package: str = "",
        handler: Handler | None = None,
        rights: tuple[Right, ...] | None = None,
        has_unstable: bool = False,
    ) -> None:
        if handler is not None and rights is None:
            raise TypeError(f"the handler of {key.name} declares no rights")
        self.key = key
        self._node = node
        self._package = package
        self._has_unstable = has_unstable
        self._given = handler
        self._given_rights = rights
        self._wrap: Callable[[Handler], Handler] | None = None

    def wrapped(self, wrap: Callable[[Handler], Handler]) -> HandledApi:
        """The same API, with a handler around its own."""
        api = HandledApi(
            self.key, self._node, package=self._package, has_unstable=self._has_unstable
        )
        api._wrap = wrap
        return api

    @cached_property
    def handler(self) -> Handler:
        handler = self._own_handler()
        return handler if self._wrap is None else self._wrap(handler)

    def _own_handler(self) -> Handler:
        if self._given is not None:
            return bind(self._given, self._node)
        registered = self._import()
        return bind(
            registered.handler,
            self._node,
            is_within_transaction=registered.is_within_transaction,
        )

    @cached_property
    def rights(self) -> tuple[Right, ...]:
        """The rights that the handler checks."""
        return self._import().rights if self._given_rights is None else self._given_rights

    def _import(self) -> _Registered:
        import_module(f"{self._package}.{self.key.name.lower()}")
        return _handlers[self.key]

    @cached_property
    def metrics(self) -> ApiMetrics:
        metrics: RequestMetrics = self._node.request_metrics
        return metrics.of(self.key)

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
        """The entry in ApiVersions. Produce is advertised from version 0, which older clients
        require."""
        lowest = 0 if self.key is ApiKey.PRODUCE else self.versions[0]
        return ApiVersion(api_key=self.key, min_version=lowest, max_version=self.versions[-1])


def unsupported_version(api: HandledApi) -> ApiVersionsResponse:
    """The response to an unsupported version of ApiVersions: the supported ones."""
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[api.advertised])


def handled_apis(
    package: ModuleType, node: Any, *, has_unstable: bool = False
) -> dict[int, HandledApi]:
    """All APIs with a handler module in a package, by API key."""
    keys = sorted(ApiKey[module.name.upper()] for module in iter_modules(package.__path__))
    return {
        int(key): HandledApi(key, node, package=package.__name__, has_unstable=has_unstable)
        for key in keys
    }


async def load_all(apis: Iterable[HandledApi], clock: Clock) -> None:
    """Imports the remaining handlers. Yields after each, so that requests do not wait long."""
    for api in apis:
        _ = api.handler, api.versions
        await clock.sleep(0)
