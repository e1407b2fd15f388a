"""Records which logins a node accepts and refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ottla.broker.network.handling import Answer, Handler, RequestContext
from ottla.security.sasl.mechanism import Mechanism
from ottla.security.sasl.session import OTHER_MECHANISM, SaslSession
from ottla.simulation.access.known_security import KnownSecurity
from ottla.simulation.history.security_events import LoginAnswered
from ottla.simulation.world.node import SimulatedNode

_NUL: Final = b"\0"


class _Login(NamedTuple):
    """The exchange that a client has begun."""

    name: str
    proof: str
    # The version of the credentials when it began.
    first: int


class LoginObserver:
    """Of one node across all of its processes."""

    def __init__(self, simulated: SimulatedNode, known: KnownSecurity) -> None:
        self._name = simulated.name
        self._record = simulated.record
        self._known = known
        # By the identity of the SASL session; an abandoned one stays.
        self._begun: dict[int, _Login] = {}

    def observing(self, make_handler: Callable[[], Handler]) -> Handler:
        def authenticate(context: RequestContext, request: Any) -> Answer:
            assert context.connection is not None
            sasl = context.connection.session.sasl
            assert sasl is not None
            was_complete, mechanism = sasl.is_complete, sasl.requested_mechanism
            if mechanism is not None:
                self._note(id(sasl), mechanism, bytes(request.auth_bytes))
            answer = make_handler()(context, request)
            if not was_complete and (sasl.is_complete or _has_wrong_credentials(sasl)):
                self._answered(id(sasl), context.client_host, mechanism, sasl.is_complete)
            return answer

        return authenticate

    def _note(self, session: int, mechanism: str, message: bytes) -> None:
        if mechanism == Mechanism.PLAIN:
            _, name, proof = message.split(_NUL)
        elif message.startswith(b"n,"):
            attributes = dict(part.split(b"=", 1) for part in message.split(b",") if b"=" in part)
            name, proof = attributes[b"n"], attributes[b"r"]
        else:
            return
        version = self._known.credential_version
        self._begun[session] = _Login(name.decode(), proof.decode(), version)

    def _answered(self, session: int, host: str, mechanism: str | None, is_accepted: bool) -> None:
        login = self._begun.pop(session, None)
        if login is not None and mechanism is not None:
            last = self._known.credential_version
            self._record(
                LoginAnswered(
                    self._name,
                    host,
                    mechanism,
                    login.name,
                    login.proof,
                    is_accepted,
                    login.first,
                    last,
                )
            )


def _has_wrong_credentials(sasl: SaslSession) -> bool:
    """Whether a login failed, and not for its mechanism: a client may have got a token since it
    began, and a node refuses another mechanism on the same connection (KIP-368)."""
    failure = sasl.failure
    return failure is not None and not failure.message.startswith(OTHER_MECHANISM)
