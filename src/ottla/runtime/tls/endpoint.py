"""TLS of one listener: makes its connections, and replaces its certificates while it runs."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from typing import Final

from ottla.configs.listener_security import Store, TlsSettings
from ottla.runtime.network import Address, Connection, ConnectionHandler, Network
from ottla.runtime.tls.connection import TlsConnection
from ottla.runtime.tls.contexts import client_context, server_context
from ottla.runtime.tls.session import TlsSession
from ottla.runtime.tls.stores import name_of, own_certificate

_HANDSHAKE_SECONDS_MAX: Final = 10.0


class TlsEndpoint:
    """Created with the settings of a listener; raises StoreError if they cannot be used.

    New connections use the latest settings and files, open ones keep theirs. Owned by the loop.
    """

    def __init__(
        self,
        settings: TlsSettings,
        *,
        is_server: bool,
        handshake_seconds_max: float = _HANDSHAKE_SECONDS_MAX,
    ) -> None:
        self._settings = settings
        self._is_server = is_server
        self._handshake_seconds_max = handshake_seconds_max
        # Before the files are read, so that a later change is noticed.
        self._stamps = _stamps(settings)
        self._context = self._make_context(settings)
        # The certificate that this side presents (DER).
        self.certificate = _certificate(settings)

    @property
    def keystore_name(self) -> str:
        """For messages."""
        keystore = self._settings.keystore
        return "" if keystore is None else name_of(keystore)

    def secure(self, make_handler: Callable[[], ConnectionHandler]) -> Callable[[], TlsConnection]:
        """The connections of a listener with TLS, instead of those without."""
        return lambda: self._connection(make_handler(), None)

    async def connect(
        self, network: Network, address: Address, handler: ConnectionHandler
    ) -> Connection:
        """Like `Network.connect`; returns after the handshake. Raises TlsHandshakeError too."""
        secured = self._connection(handler, address.host)
        await network.connect(address, secured)
        try:
            await secured.wait_established()
        except BaseException:
            secured.abort()
            raise
        return secured

    def replace(self, settings: TlsSettings) -> None:
        """Uses other settings from the next connection on. Raises StoreError and keeps the ones it
        has."""
        if settings != self._settings:
            stamps = _stamps(settings)
            self._context = self._make_context(settings)
            self.certificate = _certificate(settings)
            self._settings, self._stamps = settings, stamps

    def reload_if_changed(self) -> frozenset[str]:
        """Reads the files again if one of them has changed, and returns those that have. Raises
        StoreError if they cannot be used, and keeps the old contents."""
        stamps = _stamps(self._settings)
        changed = frozenset(path for path, _ in stamps.items() ^ self._stamps.items())
        if changed:
            self._stamps = stamps
            self._context = self._make_context(self._settings)
            self.certificate = _certificate(self._settings)
        return changed

    def _connection(self, handler: ConnectionHandler, server_name: str | None) -> TlsConnection:
        session = TlsSession(self._context, is_server=self._is_server, server_name=server_name)
        return TlsConnection(handler, session, handshake_seconds_max=self._handshake_seconds_max)

    def _make_context(self, settings: TlsSettings) -> ssl.SSLContext:
        return server_context(settings) if self._is_server else client_context(settings)


def _certificate(settings: TlsSettings) -> bytes | None:
    return None if settings.keystore is None else own_certificate(settings.keystore)


def _stamps(settings: TlsSettings) -> dict[str, tuple[int, int, int]]:
    """Identifies the contents of the files. A file that was replaced has another inode."""
    stores: tuple[Store | None, ...] = (settings.keystore, settings.truststore)
    paths = [store.location for store in stores if store is not None and store.location is not None]
    if settings.crl_location is not None:
        paths.append(settings.crl_location)
    found = {}
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            continue
        found[path] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return found
