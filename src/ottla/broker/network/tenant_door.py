"""What a client of a tenant sees: a cluster of its own, without the prefix of the tenant's names.

A connection to a tenant's listener has a door. Its tenant is known with the first request after
authentication; the names in each request are translated before it is handled, and those in each
response before it is encoded. Names of others are removed from responses; where that is not
possible, the connection is closed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ottla.broker.control.tenancy import Tenancy, TenantNames
from ottla.broker.network.handling import HandledApi
from ottla.broker.network.member_translation import MEMBER_APIS, MemberTranslation
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks
from ottla.security.acls.rights import Rights
from ottla.tenancy.served_apis import PUBLIC_APIS, TENANT_APIS
from ottla.wire.apis import ApiKey
from ottla.wire.messages.api_versions import ApiVersionsResponse
from ottla.wire.schema import Message
from ottla.wire.schema.renaming import NotVisibleError, renamer_of

# Their responses are made for one request, and share nothing with the state of the node.
_UNSHARED: Final = frozenset({ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.SHARE_FETCH, *MEMBER_APIS})


class TenantDoor:
    """Belongs to one connection."""

    __slots__ = ("_listener", "_names", "_tenancy")

    def __init__(self, tenancy: Tenancy, listener: str) -> None:
        self._tenancy = tenancy
        self._listener = listener
        self._names: TenantNames | None = None

    def confine(self, rights: Rights, close: Callable[[], None]) -> Rights:
        """The rights of an identified client. Raises ConnectionAbortedError if it has no tenant.
        `close` closes the connection, if the tenant is deleted."""
        names = self._names
        if names is None or names.name not in self._tenancy.tenants:
            self.end()
            names = self._tenancy.names_for(self._listener, rights.principal)
            self._tenancy.open(names.name, self, close)
            self._names = names
        return rights.confined(names.prefix)

    def enter(self, request: Message, version: int) -> None:
        """Translates the names in a request."""
        renamer = renamer_of(type(request), version)
        if renamer is not None:
            assert self._names is not None, "the client of a request is identified"
            renamer(request, self._names.inward)

    def leave(self, response: Message, version: int) -> Message:
        """The response with the names that the client knows."""
        if isinstance(response, ApiVersionsResponse):
            return ApiVersionsResponse(
                **{name: getattr(response, name) for name in response.field_options}
                | {"api_keys": [each for each in response.api_keys if each.api_key in TENANT_APIS]}
            )
        renamer = renamer_of(type(response), version)
        if renamer is None or (self._names is None and response.api_key in PUBLIC_APIS):
            return response
        assert self._names is not None, "the client of a request is identified"
        if response.api_key not in _UNSHARED:
            response = type(response).decode(response.encode(version), version)
        try:
            renamer(response, self._names.outward)
        except NotVisibleError:
            raise ConnectionAbortedError(
                f"a response to {ApiKey(response.api_key or 0).name} names what tenant "
                f"{self._names.name} must not see"
            ) from None
        return response

    def end(self) -> None:
        if self._names is not None:
            self._tenancy.close(self._names.name, self)
            self._names = None


class TenantListeners:
    """What connections to the listeners of tenants get."""

    def __init__(self, tenancy: Tenancy, clock: Clock, tasks: Tasks) -> None:
        self.tenancy = tenancy
        self._clock = clock
        self._tasks = tasks
        self._apis: dict[int, HandledApi] = {}

    def door(self, listener: str) -> TenantDoor | None:
        return TenantDoor(self.tenancy, listener) if self.tenancy.has(listener) else None

    def apis(self, listener: str, apis: dict[int, HandledApi]) -> dict[int, HandledApi]:
        """Of the APIs of brokers, those that a listener serves."""
        if not self.tenancy.has(listener):
            return apis
        if not self._apis:
            self._apis = {key: api for key, api in apis.items() if key in TENANT_APIS}
            for key in MEMBER_APIS:
                self._apis[key] = apis[key].wrapped(
                    lambda handler: MemberTranslation(handler, self._clock, self._tasks).handle
                )
        return self._apis
