"""Replaces the certificates of a running node: when their files change, and when dynamic configs
name other ones. Open connections keep theirs."""

from __future__ import annotations

import logging
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.listeners import ListenerAccesses
from ottla.client import ChannelSecurity
from ottla.configs.listener_security import ListenerSecurity
from ottla.runtime.clock import Clock

_log = logging.getLogger(__name__)

_INTERVAL_SECONDS: Final = 5.0


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
        cluster.listen(self._follow)

    async def watch(self) -> None:
        """Looks at the files every few seconds. Returns at once if the node does not use TLS."""
        outgoing = [
            each.tls for each in (self._to_brokers, self._to_controllers) if each.tls is not None
        ]
        while outgoing or self._listeners.has_tls:
            await self._clock.sleep(_INTERVAL_SECONDS)
            self._listeners.reload_if_changed()
            for endpoint in outgoing:
                endpoint.reload_if_changed()

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
