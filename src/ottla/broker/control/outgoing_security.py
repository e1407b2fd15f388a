"""How this node proves who it is when it connects to other brokers and to controllers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from ottla.broker.control.listener_tls import open_tls
from ottla.broker.control.outgoing_outcomes import Login, OutgoingOutcomes
from ottla.broker.control.sasl_servers import jaas_entry
from ottla.channels.channel_security import PLAINTEXT, ChannelSecurity
from ottla.configs import InvalidConfigError, NodeConfig
from ottla.configs.listener_security import ListenerSecurity, SaslSettings, TokenRetrieval
from ottla.configs.value import Password
from ottla.controller.quorum_seams import Seams
from ottla.security.jaas import JaasEntry
from ottla.security.sasl.mechanism import ClientMechanism, Mechanism
from ottla.security.sasl.oauthbearer import OAuthBearerClient
from ottla.security.sasl.plain import PlainClient
from ottla.security.sasl.scram import ScramClient
from ottla.security.sasl.scram_credential import SCRAM_BY_NAME, random_text


class OutgoingChannels(NamedTuple):
    """How a node connects to other brokers and to controllers."""

    to_brokers: ChannelSecurity
    to_controllers: ChannelSecurity


def outgoing_channels(config: NodeConfig, seams: Seams) -> OutgoingChannels:
    """Raises InvalidConfigError or StoreError."""
    listeners = config.listeners
    return OutgoingChannels(
        to_brokers=outgoing_security(
            listeners.inter_broker_listener_name, config.inter_broker_security, seams
        ),
        to_controllers=outgoing_security(
            listeners.controller_names[0], config.controller_security, seams
        ),
    )


def outgoing_security(listener: str, security: ListenerSecurity, seams: Seams) -> ChannelSecurity:
    """For connections to this listener on other nodes. Raises InvalidConfigError or StoreError."""
    if security.protocol == "PLAINTEXT":
        return PLAINTEXT
    mechanism, login = None, Login(listener)
    # A node that stands alone connects to no other, and has no mechanism for it.
    if security.sasl is not None and security.sasl.client_mechanism is not None:
        mechanism, login = _client_mechanism(
            listener, security.sasl, Mechanism(security.sasl.client_mechanism), seams
        )
    tls = None if security.tls is None else open_tls(listener, security.tls, is_server=False)
    return ChannelSecurity(tls, mechanism, OutgoingOutcomes(login, seams.clock).report)


def _client_mechanism(
    listener: str, sasl: SaslSettings, mechanism: Mechanism, seams: Seams
) -> tuple[Callable[[], ClientMechanism], Login]:
    if mechanism is Mechanism.OAUTHBEARER:
        token = _login_token(listener, sasl, seams)
        return lambda: OAuthBearerClient(token), Login(listener, mechanism)
    entry = jaas_entry(mechanism, sasl.jaas, listener=listener)
    name, password = _credentials(entry, listener, mechanism)
    login = Login(listener, mechanism, name)
    if mechanism is Mechanism.PLAIN:
        return lambda: PlainClient(name, password), login
    scram, nonce = SCRAM_BY_NAME[mechanism], partial(random_text, seams.dice.below)
    return lambda: ScramClient(scram, name, password, nonce=nonce()), login


def _login_token(listener: str, sasl: SaslSettings, seams: Seams) -> Callable[[], Password]:
    retrieval = None if sasl.oauth is None else sasl.oauth.retrieval
    assert retrieval is not None, "the settings have the URL of the tokens"
    # Imported only by a node that uses tokens.
    from ottla.broker.control.login_token import ClientCredentials, LoginToken
    from ottla.broker.control.oauth_documents import is_file_url

    credentials = None
    if not is_file_url(retrieval.token_endpoint_url):
        credentials = ClientCredentials(*_client_credentials(listener, sasl, retrieval))
    token = LoginToken(retrieval, credentials, seams)
    token.start()
    return token.current


def _client_credentials(
    listener: str, sasl: SaslSettings, retrieval: TokenRetrieval
) -> tuple[str, Password, str | None]:
    """Client id, secret and scope. The configs win over the options of the JAAS entry."""
    options: Mapping[str, str] = {}
    if Mechanism.OAUTHBEARER in sasl.jaas:
        options = jaas_entry(Mechanism.OAUTHBEARER, sasl.jaas, listener=listener).options
    client_id = retrieval.client_id or options.get("clientId")
    secret = retrieval.client_secret or Password(options.get("clientSecret", ""))
    if not client_id or not secret.value:
        raise InvalidConfigError(
            f"this node needs credentials to obtain OAUTHBEARER tokens for {listener}; set "
            "sasl.oauthbearer.client.credentials.client.id and .client.secret"
        )
    return client_id, secret, retrieval.scope or options.get("scope")


def _credentials(entry: JaasEntry, listener: str, mechanism: Mechanism) -> tuple[str, Password]:
    name, password = entry.options.get("username"), entry.options.get("password")
    if not name or not password:
        raise InvalidConfigError(
            f"listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config needs username "
            "and password, with which this node connects to other nodes"
        )
    return name, Password(password)
