"""Opens the TLS of a listener. Its modules are imported only by a node that uses TLS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.configs.listener_security import TlsSettings

if TYPE_CHECKING:
    from ottla.runtime.tls.endpoint import TlsEndpoint


def open_tls(listener: str, settings: TlsSettings, *, is_server: bool) -> TlsEndpoint:
    """Raises StoreError, which names the listener."""
    from ottla.runtime.tls.endpoint import TlsEndpoint
    from ottla.runtime.tls.stores import StoreError

    try:
        return TlsEndpoint(settings, is_server=is_server)
    except StoreError as error:
        raise StoreError(f"listener {listener}: {error}") from None
