"""The access to each listener of a node, by its current settings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ottla.broker.control.authentication import Authentication
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.listener_tls import open_tls
from ottla.broker.control.sasl_servers import SaslServers
from ottla.broker.network.certificate_reload import reload_certificates
from ottla.broker.network.listener_access import ListenerAccess
from ottla.configs import InvalidConfigError
from ottla.configs.listener_security import PLAINTEXT_SECURITY, ListenerSecurity
from ottla.runtime.network import ConnectionHandler
from ottla.security.acls.rights import Rights
from ottla.security.principal import Principal
from ottla.security.sasl.oauthbearer import TokenVerifier

if TYPE_CHECKING:
    from ottla.runtime.tls.endpoint import TlsEndpoint

_log = logging.getLogger(__name__)


class ListenerAccesses:
    """Follows dynamic configs: new connections get the latest settings. If those cannot be used,
    an error is logged and the previous ones stay. Owned by the node's loop."""

    def __init__(
        self,
        cluster: ClusterView,
        sasl_servers: SaslServers,
        rights_of: Callable[[Principal, str], Rights],
        verifier_of: Callable[[str], TokenVerifier | None],
        on_authentication: Callable[[Authentication], None],
    ) -> None:
        """`verifier_of` has the verifier of a listener's OAUTHBEARER tokens; `on_authentication` is
        called with the outcome of each authentication."""
        self._cluster = cluster
        self._sasl_servers = sasl_servers
        self._rights_of = rights_of
        self._verifier_of = verifier_of
        self._on_authentication = on_authentication
        self._accesses: dict[str, ListenerAccess] = {}
        self._endpoints: dict[str, TlsEndpoint] = {}
        cluster.listen(self._follow)

    def open(self, listener: str) -> None:
        """Raises InvalidConfigError or StoreError if its settings cannot be used."""
        security = self._security_of(listener)
        self._accesses[listener] = self._make(listener, security)
        if security.tls is not None:
            self._endpoints[listener] = open_tls(
                listener,
                security.tls,
                is_server=True,
                handshake_seconds_max=self._seconds_max,
            )

    def secure(
        self, listener: str, make_handler: Callable[[], ConnectionHandler]
    ) -> Callable[[], ConnectionHandler]:
        """With TLS, if the listener uses it."""
        endpoint = self._endpoints.get(listener)
        return make_handler if endpoint is None else endpoint.secure(make_handler)

    def of(self, listener: str) -> ListenerAccess:
        found = self._accesses.get(listener)
        if found is None:
            # Only a node in a test is connected to without listening.
            self.open(listener)
            found = self._accesses[listener]
        return found

    @property
    def tls_endpoints(self) -> Mapping[str, TlsEndpoint]:
        """Of the listeners with TLS, by listener."""
        return self._endpoints

    def _follow(self) -> None:
        for listener, access in list(self._accesses.items()):
            security = self._security_of(listener)
            if security == access.security:
                # As in Kafka, setting the path of a store again makes the node read the file again.
                if listener in self._endpoints:
                    reload_certificates([self._endpoints[listener]])
                continue
            try:
                changed = self._make(listener, security)
                if security.tls is not None:
                    self._endpoints[listener].replace(security.tls)
            except (OSError, InvalidConfigError) as error:
                _log.error("the new settings of listener %s are not used: %s", listener, error)
                continue
            self._accesses[listener] = changed

    def _make(self, listener: str, security: ListenerSecurity) -> ListenerAccess:
        mechanisms = {}
        if security.sasl is not None:
            mechanisms = self._sasl_servers.mechanisms(
                security.sasl,
                listener=listener,
                is_controller=listener in self._cluster.config.listeners.controller_names,
                verifier=self._verifier_of(listener),
            )
        try:
            return ListenerAccess(
                security,
                mechanisms,
                self._rights_of,
                self._on_authentication,
                listener=listener,
                seconds_max=self._seconds_max,
            )
        except ValueError as error:
            raise InvalidConfigError(f"ssl.principal.mapping.rules: {error}") from None

    @property
    def _seconds_max(self) -> float:
        """How long authentication may take, the handshake of TLS included."""
        return self._cluster.config.pre_auth_timeout_ms / 1_000

    def _security_of(self, listener: str) -> ListenerSecurity:
        return self._cluster.config.listener_security.get(listener, PLAINTEXT_SECURITY)
