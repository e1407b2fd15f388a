"""How this node proves who it is when it connects to other brokers and to controllers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ottla.broker.control.sasl_servers import jaas_entry
from ottla.client.channel_security import ChannelSecurity
from ottla.configs import InvalidConfigError
from ottla.configs.listener_security import ListenerSecurity, SaslSettings
from ottla.configs.value import Password
from ottla.runtime.dice import Dice
from ottla.security.jaas import JaasEntry
from ottla.security.sasl.mechanism import ClientMechanism, Mechanism
from ottla.security.sasl.plain import PlainClient
from ottla.security.sasl.scram import ScramClient
from ottla.security.sasl.scram_credential import SCRAM_BY_NAME, random_text

if TYPE_CHECKING:
    from ottla.runtime.tls.endpoint import TlsEndpoint


def outgoing_security(listener: str, security: ListenerSecurity, dice: Dice) -> ChannelSecurity:
    """For connections to this listener on other nodes. Raises InvalidConfigError or StoreError."""
    mechanism = None
    if security.sasl is not None:
        mechanism = _client_mechanism(listener, security.sasl, dice)
    return ChannelSecurity(_tls(security), mechanism)


def _tls(security: ListenerSecurity) -> TlsEndpoint | None:
    if security.tls is None:
        return None
    # Imported only by a node that uses TLS.
    from ottla.runtime.tls.endpoint import TlsEndpoint

    return TlsEndpoint(security.tls, is_server=False)


def _client_mechanism(
    listener: str, sasl: SaslSettings, dice: Dice
) -> Callable[[], ClientMechanism]:
    assert sasl.client_mechanism is not None, "the listener is one that nodes connect to"
    mechanism = Mechanism(sasl.client_mechanism)
    entry = jaas_entry(mechanism, sasl.jaas, listener=listener)
    if mechanism is Mechanism.OAUTHBEARER:
        raise InvalidConfigError(
            f"nodes cannot use OAUTHBEARER on {listener} among themselves yet; choose another "
            "mechanism with sasl.mechanism.inter.broker.protocol or a listener of their own"
        )
    name, password = _credentials(entry, listener, mechanism)
    if mechanism is Mechanism.PLAIN:
        return lambda: PlainClient(name, password)
    scram, nonce = SCRAM_BY_NAME[mechanism], partial(random_text, dice.below)
    return lambda: ScramClient(scram, name, password, nonce=nonce())


def _credentials(entry: JaasEntry, listener: str, mechanism: Mechanism) -> tuple[str, Password]:
    name, password = entry.options.get("username"), entry.options.get("password")
    if not name or not password:
        raise InvalidConfigError(
            f"listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config needs username "
            "and password, with which this node connects to other nodes"
        )
    return name, Password(password)
