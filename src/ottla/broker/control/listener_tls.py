"""Opens the TLS of a listener. Its modules are imported only by a node that uses TLS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ottla.configs.listener_security import TlsSettings

if TYPE_CHECKING:
    from ottla.runtime.tls.endpoint import TlsEndpoint

_HANDSHAKE_SECONDS_MAX: Final = 10.0


def open_tls(
    listener: str,
    settings: TlsSettings,
    *,
    is_server: bool,
    handshake_seconds_max: float = _HANDSHAKE_SECONDS_MAX,
) -> TlsEndpoint:
    """Raises StoreError, which names the listener."""
    from ottla.runtime.tls.endpoint import TlsEndpoint
    from ottla.runtime.tls.stores import StoreError

    try:
        return TlsEndpoint(
            settings, is_server=is_server, handshake_seconds_max=handshake_seconds_max
        )
    except StoreError as error:
        raise StoreError(f"listener {listener}: {error}") from None
