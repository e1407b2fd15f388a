"""The contexts of the requests of one connection, kept by API and version."""

from __future__ import annotations

from ottla.broker.control.user_limits import LimitedUsers
from ottla.broker.network.client_session import ClientSession
from ottla.broker.network.fair_turns import FairTurns
from ottla.broker.network.handling import ClientConnectionEnd, HandledApi, RequestContext
from ottla.broker.network.tenant_door import TenantDoor
from ottla.broker.quotas.client_quotas import ClientQuotas
from ottla.security.acls.rights import Rights
from ottla.security.principal import ANONYMOUS


class SenderContexts:
    """Belongs to one connection. A client rarely changes its client id."""

    __slots__ = (
        "_connection",
        "_door",
        "_listener",
        "_quotas",
        "_session",
        "_turns",
        "_user",
        "_users",
        "known",
        "share",
    )

    def __init__(
        self,
        connection: ClientConnectionEnd,
        session: ClientSession,
        listener: str,
        quotas: ClientQuotas,
        turns: FairTurns,
        door: TenantDoor | None,
        users: LimitedUsers,
    ) -> None:
        self._connection = connection
        self._session = session
        self._listener = listener
        self._quotas = quotas
        self._turns = turns
        self._door = door
        self._users = users
        # The user for which this connection is counted.
        self._user: str | None = None
        # By API key and version in one number; connection.py looks them up.
        self.known: dict[int, RequestContext] = {}
        # The client's share of the event loop's time.
        self.share = turns.unidentified

    def make(self, api: HandledApi, version: int, client_id: str) -> RequestContext:
        """The context of requests with this API, version and client id."""
        rights = self._session.rights
        if self._session.is_identified:
            if self._user != rights.principal.name:
                self._count(rights)
            if self._door is not None:
                rights = self._door.confine(rights, self._connection.close)
        rights = rights.declaring(api.rights)
        host, user = self._session.host, rights.principal.name
        is_known = rights.principal != ANONYMOUS
        self.share = self._turns.identify(user if is_known else (host, client_id))
        quotas = self._quotas.sender(user, client_id)
        context = RequestContext(
            version, client_id, host, self._listener, self._connection, rights, quotas
        )
        self.known[api.key << 16 | version] = context
        return context

    def end(self) -> None:
        """The connection has closed."""
        if self._door is not None:
            self._door.end()
        if self._user is not None:
            self._users.close(self._user)
            self._user = None

    def _count(self, rights: Rights) -> None:
        """Counts the connection for its user, which may be another one than before. Raises
        ConnectionAbortedError."""
        if self._user is not None:
            self._users.close(self._user)
            self._user = None
        self._user = self._users.open(self._listener, rights)
