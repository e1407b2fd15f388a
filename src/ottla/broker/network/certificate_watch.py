"""Replaces the certificates of a running node: when their files change, and when dynamic configs
name other ones. Open connections keep theirs. Logs certificates that have expired."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.certificate_reload import reload_certificates
from ottla.broker.network.listeners import ListenerAccesses
from ottla.channels import ChannelSecurity
from ottla.configs.listener_security import ListenerSecurity
from ottla.runtime.clock import Clock
from ottla.security.certificate_validity import expiry_of

if TYPE_CHECKING:
    from ottla.runtime.tls.endpoint import TlsEndpoint

_log = logging.getLogger(__name__)

_INTERVAL_SECONDS: Final = 2.0


class CertificateWatch:
    """Owned by the node's loop."""

    def __init__(
        self,
        cluster: ClusterView,
        clock: Clock,
        listeners: ListenerAccesses,
        *,
        to_brokers: ChannelSecurity,
        to_controllers: ChannelSecurity,
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._listeners = listeners
        self._to_brokers = to_brokers
        self._to_controllers = to_controllers
        # Those that were reported as expired.
        self._expired: set[bytes] = set()
        cluster.listen(self._follow)

    async def watch(self) -> None:
        """Looks at the files every few seconds. Returns at once if the node does not use TLS. Start
        it before the node joins its cluster: a certificate may be the reason why it cannot."""
        outgoing = (self._to_brokers.tls, self._to_controllers.tls)
        endpoints = [
            *self._listeners.tls_endpoints.values(),
            *(each for each in outgoing if each is not None),
        ]
        while endpoints:
            for endpoint in endpoints:
                self._report_if_expired(endpoint)
            await self._clock.sleep(_INTERVAL_SECONDS)
            reload_certificates(endpoints)

    def _report_if_expired(self, endpoint: TlsEndpoint) -> None:
        certificate = endpoint.certificate
        if certificate is None or certificate in self._expired:
            return
        expiry = expiry_of(certificate)
        if expiry.timestamp() * 1_000 <= self._clock.now_ms():
            self._expired.add(certificate)
            _log.error(
                "the certificate of the key store %s expired at %s, so other nodes and clients "
                "refuse it: replace it; a changed file is read without a restart",
                endpoint.keystore_name,
                expiry.isoformat(sep=" "),
            )

    def _follow(self) -> None:
        config = self._cluster.config
        _replace(self._to_brokers, config.inter_broker_security)
        _replace(self._to_controllers, config.controller_security)


def _replace(channels: ChannelSecurity, security: ListenerSecurity) -> None:
    if channels.tls is None or security.tls is None:
        return
    try:
        channels.tls.replace(security.tls)
    except OSError as error:
        _log.error("cannot use the new certificates; the old ones stay in use: %s", error)
