"""Builds the SASL settings of a listener from its configs.

The JAAS texts are not parsed here; the node does that when it starts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ottla.configs.definitions import BROKER_CONFIGS
from ottla.configs.listener_security import OAuthSettings, SaslSettings
from ottla.configs.listener_values import ListenerValues
from ottla.configs.oauth_settings import token_retrieval, token_validation
from ottla.configs.sasl_mechanisms import (
    OAUTHBEARER,
    PLAIN,
    SASL_MECHANISMS,
    SCRAM_SHA_256,
    SCRAM_SHA_512,
)
from ottla.configs.value import Password

_KERBEROS: Final = "GSSAPI"
# For these, the JAAS entry has the user name and the password with which a node connects.
_MECHANISMS_WITH_PASSWORD: Final = (PLAIN, SCRAM_SHA_256, SCRAM_SHA_512)


def sasl_settings(
    listener: ListenerValues, *, is_bound: bool, client_mechanism_config: str | None
) -> SaslSettings:
    """`is_bound` says whether this node accepts connections on the listener.

    `client_mechanism_config` is the config with the mechanism with which this node connects to
    other nodes through the listener, or None if it never does.
    Raises InvalidConfigError if the listener cannot work.
    """
    enabled = _enabled_mechanisms(listener) if is_bound else ()
    client_mechanism = None
    if client_mechanism_config is not None:
        client_mechanism = _client_mechanism(listener, client_mechanism_config)
        if is_bound and client_mechanism not in enabled:
            raise listener.error(
                f"{client_mechanism_config} is {client_mechanism}, which is not in "
                f"sasl.enabled.mechanisms ({', '.join(enabled)}); add it there or set "
                f"{client_mechanism_config} to one of these"
            )
    jaas = _jaas_texts(listener)
    if PLAIN in enabled:
        _require_jaas(listener, PLAIN, jaas, purpose="the users and their passwords")
    if client_mechanism in _MECHANISMS_WITH_PASSWORD:
        purpose = "the user name and the password with which this node connects to others"
        _require_jaas(listener, client_mechanism, jaas, purpose=purpose)
    return SaslSettings(
        enabled_mechanisms=enabled,
        client_mechanism=client_mechanism,
        jaas=jaas,
        max_reauth_ms={
            mechanism: listener.of_mechanism(mechanism).connections_max_reauth_ms
            for mechanism in enabled
        },
        server_max_receive_bytes=listener.sasl_server_max_receive_size,
        failed_authentication_delay_ms=listener.connection_failed_authentication_delay_ms,
        oauth=_oauth(listener, enabled=enabled, client_mechanism=client_mechanism),
    )


def _enabled_mechanisms(listener: ListenerValues) -> tuple[str, ...]:
    enabled = listener.sasl_enabled_mechanisms
    choice = ", ".join(SASL_MECHANISMS)
    if not enabled:
        raise listener.error(
            f"sasl.enabled.mechanisms is empty, so no client could connect; set it to {choice}"
        )
    for mechanism in enabled:
        if mechanism == _KERBEROS:
            raise listener.error(
                "sasl.enabled.mechanisms has GSSAPI, which is Kafka's default, and Ottla does not "
                f"support Kerberos; set it to one or more of {choice}"
            )
        if mechanism not in SASL_MECHANISMS:
            raise listener.error(f"sasl.enabled.mechanisms has {mechanism}; it must be of {choice}")
    return enabled


def _client_mechanism(listener: ListenerValues, config: str) -> str:
    mechanism = listener[config]
    assert isinstance(mechanism, str)
    if mechanism not in SASL_MECHANISMS:
        is_default = mechanism == BROKER_CONFIGS[config].default
        origin = ", which is Kafka's default" if is_default else ""
        raise listener.error(
            f"{config} is {mechanism}{origin}; set it to one of {', '.join(SASL_MECHANISMS)}"
        )
    return mechanism


def _jaas_texts(listener: ListenerValues) -> dict[str, Password]:
    """As in Kafka, only texts under the names of the listener and the mechanism count."""
    texts = {
        mechanism: listener.of_mechanism(mechanism).own_text("sasl.jaas.config")
        for mechanism in SASL_MECHANISMS
    }
    return {
        mechanism: Password(text.strip())
        for mechanism, text in texts.items()
        if text is not None and text.strip()
    }


def _require_jaas(
    listener: ListenerValues, mechanism: str, jaas: Iterable[str], *, purpose: str
) -> None:
    if mechanism not in jaas:
        prefix = listener.of_mechanism(mechanism).prefixes[0]
        raise listener.error(f"{prefix}sasl.jaas.config is missing; it must contain {purpose}")


def _oauth(
    listener: ListenerValues, *, enabled: tuple[str, ...], client_mechanism: str | None
) -> OAuthSettings | None:
    values = listener.of_mechanism(OAUTHBEARER)
    validation = token_validation(values) if OAUTHBEARER in enabled else None
    retrieval = token_retrieval(values) if client_mechanism == OAUTHBEARER else None
    if validation is None and retrieval is None:
        return None
    return OAuthSettings(validation, retrieval)
