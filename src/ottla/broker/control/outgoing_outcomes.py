"""Logs the nodes that refuse this node's credentials or certificate, or whose certificate it
refuses, and what to do.

An error is logged when it first occurs, and every minute while the same one goes on: a node tries
again every second. The texts contain no secret.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

from ottla.channels.authentication import AuthenticationFailedError
from ottla.runtime.clock import Clock
from ottla.runtime.network import Address
from ottla.runtime.tls.errors import TlsHandshakeError
from ottla.security.sasl.mechanism import Mechanism

_log = logging.getLogger(__name__)

REPEAT_SECONDS: Final = 60.0


class Login(NamedTuple):
    """With which a node connects to a listener. `user` is None for tokens."""

    listener: str
    mechanism: Mechanism | None = None
    user: str | None = None


class _Logged(NamedTuple):
    error: str
    at: float


class OutgoingOutcomes:
    """Of the connections to one listener of other nodes. Owned by the node's loop."""

    def __init__(self, login: Login, clock: Clock) -> None:
        self._login = login
        self._clock = clock
        # The last error of each address that was logged.
        self._logged: dict[Address, _Logged] = {}

    def report(self, address: Address, error: OSError | None) -> None:
        """`error` is None for a connection that both sides have accepted."""
        logged = self._logged.get(address)
        if error is None:
            if logged is not None:
                del self._logged[address]
                _log.info("%s accepts this node now", address)
            return
        now, text = self._clock.monotonic(), str(error)
        if logged is None or logged.error != text or now - logged.at >= REPEAT_SECONDS:
            self._logged[address] = _Logged(text, now)
            _log.error("%s; this node tries again every second", self._text(address, error))

    def _text(self, address: Address, error: OSError) -> str:
        login = self._login
        if isinstance(error, TlsHandshakeError):
            return _tls_text(address, error, login.listener)
        who = "" if login.user is None else f" as {login.user}"
        reason = error.reason if isinstance(error, AuthenticationFailedError) else error
        return (
            f"{address}, listener {login.listener}, refused this node's {login.mechanism} "
            f"credentials{who}: {reason}. {_remedy(login)}"
        )


def _tls_text(address: Address, error: TlsHandshakeError, listener: str) -> str:
    if error.is_untrusted:
        return (
            f"this node refused the certificate of {address}, listener {listener}: {error}. Give "
            "that node a valid certificate for its address, or this node a trust store with the "
            "authority that issued it (ssl.truststore.location); nodes read changed files without "
            "a restart"
        )
    return (
        f"no TLS connection to {address}, listener {listener}: {error}. If that node refused this "
        "node's certificate, replace it (ssl.keystore.location), or give that node a trust store "
        "with the authority that issued it; nodes read changed files without a restart"
    )


def _remedy(login: Login) -> str:
    prefix = f"listener.name.{login.listener.lower()}."
    if login.user is None:
        return f"Check this node's token ({prefix}oauthbearer.sasl.oauthbearer.token.endpoint.url)"
    setting = f"{prefix}{(login.mechanism or '').lower()}.sasl.jaas.config"
    correct = f"Correct {setting} and restart this node"
    if login.mechanism is Mechanism.PLAIN:
        return f"{correct}, or add the user to the same setting of that node"
    command = f"ottla users set-password {login.user} --mechanism {login.mechanism}"
    return f"{correct}, or set the user's password with `{command}`"
